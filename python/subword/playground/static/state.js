// What a view shows, kept in the address, so that a view can be shared and reloaded.

const VIEWS = ["tokens", "compare", "learn", "unicode"];
const MAX_SHARED = 4000;
const listeners = [];

/** Texts and choices by short names; the defaults are not written into the address. */
export const state = { view: "tokens" };
const defaults = {};

export function declare(values) {
  Object.assign(defaults, values);
  for (const [name, value] of Object.entries(values)) state[name] ??= value;
}

export function onState(listener) {
  listeners.push(listener);
}

export function set(changes) {
  Object.assign(state, changes);
  write();
}

export function readAddress() {
  const [view, query = ""] = location.hash.slice(1).split("?");
  state.view = VIEWS.includes(view) ? view : "tokens";
  const given = new URLSearchParams(query);
  for (const name of Object.keys(defaults)) {
    const value = given.get(name);
    if (value !== null) state[name] = value;
  }
  for (const listener of listeners) listener();
}

/** Give the address of what is shown, and whether a text was too long to be in it. */
export function address() {
  const query = new URLSearchParams();
  let cut = false;
  for (const [name, initial] of Object.entries(defaults)) {
    const value = String(state[name]);
    if (value === String(initial)) continue;
    if (value.length > MAX_SHARED) cut = true;
    else query.set(name, value.toWellFormed ? value.toWellFormed() : value);
  }
  const rest = query.toString();
  return { hash: `#${state.view}${rest ? `?${rest}` : ""}`, cut };
}

let timer = 0;

function write() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const { hash } = address();
    if (hash !== location.hash) history.replaceState(null, "", hash);
  }, 250);
}

export function go(view) {
  state.view = view;
  history.pushState(null, "", address().hash);
  for (const listener of listeners) listener();
}
