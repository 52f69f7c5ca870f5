// The area that a text is typed or pasted into. Browsers take seconds to lay out a long text that
// can be edited, so a long one is held beside the area, which shows its beginning.

import { make } from "./dom.js";
import { number, onLanguage, t } from "./i18n.js";

const LONG = 100_000;
const SHOWN = 2_000;

// Letters of the scripts that are written from right to left.
const FIRST_LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Which way a text runs: as its first letter does. An area finds out too slowly by itself. */
export function direction(text) {
  const first = FIRST_LETTER.exec(text.slice(0, 1000));
  return first && RIGHT_TO_LEFT.test(first[0]) ? "rtl" : "ltr";
}

export class Source {
  #area;
  #note;
  #said;
  #text = "";
  #onText;

  constructor(area, onText) {
    this.#area = area;
    this.#onText = onText;
    this.#said = make("span");
    const clear = make("button", { type: "button", onclick: () => this.#take("") });
    this.#note = make("p", { class: "note long", hidden: true, role: "status" }, this.#said, clear);
    area.after(this.#note);
    area.addEventListener("input", () => {
      if (area.value.length > LONG) this.#take(area.value);
      else {
        this.#text = area.value;
        area.dir = direction(this.#text);
        onText(this.#text);
      }
    });
    area.addEventListener("paste", (event) => this.#paste(event));
    const words = () => {
      clear.textContent = t("clear");
      this.#say();
    };
    words();
    onLanguage(words);
  }

  #isLong() {
    return this.#text.length > LONG;
  }

  #paste(event) {
    const pasted = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n");
    const { value, selectionStart, selectionEnd } = this.#area;
    const joined = this.#isLong() ? pasted : value.slice(0, selectionStart) + pasted + value.slice(selectionEnd);
    if (joined.length <= LONG && !this.#isLong()) return;
    event.preventDefault();
    this.#take(joined);
  }

  #take(text) {
    this.show(text);
    this.#onText(text);
    this.#area.focus();
  }

  /** Show a text that comes from elsewhere. */
  show(text) {
    this.#text = text;
    const shown = this.#isLong() ? `${text.slice(0, SHOWN)}…` : text;
    if (this.#area.value !== shown) this.#area.value = shown;
    this.#area.dir = direction(shown);
    this.#area.readOnly = this.#isLong();
    this.#say();
  }

  #say() {
    this.#note.hidden = !this.#isLong();
    this.#said.textContent = t("long_text", { n: number(this.#text.length) });
  }
}
