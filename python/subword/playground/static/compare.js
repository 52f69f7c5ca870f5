export function setUpCompare(app) { return { enter() {} }; }
