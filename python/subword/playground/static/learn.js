export function setUpLearn(app) { return { enter() {} }; }
