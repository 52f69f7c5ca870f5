// What a character is, and what a string of bytes is.

import { latest, post } from "./api.js";
import { byId, fill, make } from "./dom.js";
import { number, onLanguage, t } from "./i18n.js";
import { appendPieces, fromHex } from "./pieces.js";
import { set, state } from "./state.js";

const MAX_CHARACTERS = 1000;
const cell = (text, kind = null) => make("td", { class: kind }, text);
const head = (...names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));
const spaced = (hex, width) => (hex.toUpperCase().match(new RegExp(`.{${width}}`, "g")) ?? []).join(" ");
const point = (code) => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

function face(hex) {
  const shown = make("span", {});
  appendPieces(shown, fromHex(hex));
  return make("td", { class: "glyph" }, shown);
}

export function setUpUnicode(app) {
  async function look() {
    // Enough characters for the table, none cut in two; the server counts what it is given.
    const answer = await post("/api/unicode", { text: state.uni });
    app.problem(null);
    const n = answer.n_characters;
    byId("unicode-note").textContent = t(n > MAX_CHARACTERS ? "first_characters" : "n_characters",
      { n: number(n), most: number(MAX_CHARACTERS), version: answer.unicode });
    fill(
      byId("characters"),
      head(t("char"), t("code_point"), t("name"), "UTF-8", "UTF-16", "UTF-32"),
      make("tbody", {}, ...answer.characters.map((row) =>
        make("tr", {}, face(row.utf_8), cell(point(row.code_point), "m"),
          cell(row.name ?? `${t("no_name")} ${row.category}`), cell(spaced(row.utf_8, 2), "m"),
          cell(spaced(row.utf_16, 4), "m"), cell(spaced(row.utf_32, 8), "m")))),
    );
  }

  async function check() {
    const answer = await post("/api/unicode", { hex: state.hex });
    app.problem(null);
    const note = byId("hex-note");
    note.textContent = t(answer.valid ? "valid_utf8" : "invalid_utf8", { n: number(answer.n_bytes) });
    note.className = `note ${answer.valid ? "good" : "bad"}`;
    fill(
      byId("hex-parts"),
      head(t("at_byte"), t("bytes_hex"), t("char"), t("means")),
      make("tbody", {}, ...answer.parts.map((part) =>
        make("tr", { class: part.problem ? "bad" : null }, cell(String(part.start), "m n"),
          cell(spaced(part.utf_8, 2), "m"), part.problem ? cell("") : face(part.utf_8),
          cell(part.problem ? t(part.problem) : `${point(part.code_point)} ${part.name ?? t("no_name")}`)))),
    );
  }

  const lookSoon = latest(look, app.problem);
  const checkSoon = latest(check, app.problem);
  byId("unicode-text").addEventListener("input", (event) => {
    set({ uni: event.target.value });
    lookSoon();
  });
  byId("hex").addEventListener("input", (event) => {
    set({ hex: event.target.value });
    checkSoon();
  });
  const enter = () => {
    byId("unicode-text").value = state.uni;
    byId("hex").value = state.hex;
    lookSoon();
    checkSoon();
  };
  onLanguage(() => {
    if (state.view === "unicode") enter();
  });
  return { enter };
}
