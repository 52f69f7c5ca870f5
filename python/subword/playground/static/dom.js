// Making elements. Text only ever becomes text: nothing here or elsewhere parses HTML.

export const byId = (id) => document.getElementById(id);

/** Make an element; strings among the children become text. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** Fill a select, and keep what was chosen where that is still there. */
export function fillSelect(select, options, chosen = select.value) {
  fill(select, ...options.map(([value, label]) => make("option", { value }, label)));
  if (options.some(([value]) => String(value) === String(chosen))) select.value = chosen;
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages that do not come over https, or from this machine, have no clipboard.
    const area = make("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** Show for a moment that a button has done its work. */
export function flash(button, message) {
  if (button.dataset.busy) return;
  const before = button.textContent;
  const width = button.offsetWidth;
  button.dataset.busy = "1";
  button.style.minWidth = `${width}px`;
  button.textContent = message;
  setTimeout(() => {
    button.textContent = before;
    delete button.dataset.busy;
  }, 1200);
}
