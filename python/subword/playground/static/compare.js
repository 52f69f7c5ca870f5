// Two to four tokenizers on the same text.

import { latest, post } from "./api.js";
import { byId, fill, fillSelect, make } from "./dom.js";
import { Flow } from "./flow.js";
import { number, onLanguage, t } from "./i18n.js";
import { PARALLEL } from "./samples.js";
import { Source } from "./source.js";
import { set, state } from "./state.js";
import { bytesOf, modelOf, ratio } from "./tokens.js";

const MOST = 4;
const MAX_LINES = 500;
const LARGE = 50_000;

export function setUpCompare(app) {
  let cards = [];
  let places = [];

  /** The tokenizers of the address, by name; the first two where it names none. */
  function chosen() {
    let names = [];
    try {
      names = JSON.parse(state.with || "[]");
    } catch {
      // An address that was cut short.
    }
    const known = (Array.isArray(names) ? names : [])
      .map((name) => app.tokenizers.findIndex((one) => one.name === name))
      .filter((at) => at >= 0)
      .slice(0, MOST);
    return known.length ? known : app.tokenizers.slice(0, 2).map((_, at) => at);
  }

  function choose(changed) {
    places = changed;
    set({ with: JSON.stringify(places.map((at) => app.tokenizers[at].name)) });
    drawCards();
    refresh();
  }

  function drawCards() {
    cards = places.map((at, place) => {
      const select = make("select", { "aria-label": t("tokenizer"), "data-card": place });
      fillSelect(select, app.tokenizers.map((one, number_) => [number_, one.name]), at);
      select.addEventListener("change", () => {
        choose(places.map((old, other) => (other === place ? Number(select.value) : old)));
        byId("cards").querySelector(`[data-card="${place}"]`).focus();
      });
      const counts = make("dl", { class: "counts" });
      const box = make("div", { class: "flow", id: `card-${place}`, role: "listbox", tabindex: 0, "aria-label": `${t("tokens")}: ${app.tokenizers[at].name}` });
      const remove = places.length > 1
        ? make("button", { type: "button", onclick: () => choose(places.filter((_, other) => other !== place)) }, t("remove"))
        : null;
      const element = make("section", { class: "card", "aria-label": app.tokenizers[at].name },
        make("div", { class: "card-head" }, select, remove), counts, box);
      return { element, counts, box };
    });
    fill(byId("cards"), ...cards.map((card) => card.element));
    for (const card of cards) card.flow = new Flow(card.box);
    byId("add-tokenizer").disabled = places.length >= MOST;
  }

  async function compare() {
    const bytes = bytesOf(state.text);
    const asked = places;
    const special = state.special === "1" ? "recognize" : "as_text";
    const answers = [];
    for (const tokenizer of asked) {
      answers.push(await post("/api/encode", { tokenizer, text: state.text, special }));
    }
    if (asked !== places) return;
    app.problem(null);
    const { shared, all } = sharedEnds(answers);
    answers.forEach((answer, at) => {
      const card = cards[at];
      card.flow.show(modelOf(answer, bytes, app.special(asked[at]), answers.length > 1 ? shared : null));
      card.box.dataset.shown = String(Number(card.box.dataset.shown ?? 0) + 1);
      count(card.counts, answer, answers[0]);
    });
    byId("shared").textContent = answers.length > 1 ? t("shared", { shared: number(shared.size), all: number(all) }) : "";
    await lines(asked);
  }

  function count(box, answer, first) {
    const times = first.ids.length ? `${number(answer.ids.length / first.ids.length, 2)}×` : "–";
    const facts = [
      [t("tokens"), number(answer.ids.length)],
      [t("bytes_per_token"), ratio(answer.n_bytes, answer.ids.length)],
      answer === first ? null : [t("ratio"), times],
    ].filter(Boolean);
    fill(box, ...facts.map(([term, value]) => make("div", {}, make("dt", {}, term), make("dd", {}, value))));
  }

  async function lines(asked) {
    const all = state.text.split("\n").filter((line) => line.trim());
    const box = byId("lines-box");
    box.hidden = all.length < 2;
    if (box.hidden) return;
    const rows = all.slice(0, MAX_LINES).map((line) => {
      const tab = line.indexOf("\t");
      return tab > 0 && tab < 40 ? { name: line.slice(0, tab), text: line.slice(tab + 1) } : { name: null, text: line };
    });
    const { counts } = await post("/api/lines", { tokenizers: asked, lines: rows.map((row) => row.text) });
    if (asked !== places) return;
    const english = rows.findIndex((row) => /^(english|en|eng|英语)$/i.test(row.name ?? ""));
    const base = Math.max(english, 0);
    const more = all.length > MAX_LINES ? ` ${t("more_lines", { n: number(MAX_LINES) })}` : "";
    byId("lines-note").textContent = t("lines_note", { base: english < 0 ? t("first_line") : rows[base].name }) + more;
    drawLines(rows, counts, base, asked);
  }

  function drawLines(rows, counts, base, asked) {
    const highest = Math.max(1, ...counts.flatMap((column) => column.map((n) => n / (column[base] || 1))));
    fill(byId("lines"),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, t("line")),
        ...asked.map((at) => make("th", { scope: "col" }, app.tokenizers[at].name)))),
      make("tbody", {}, ...rows.map((row, line) => make("tr", {},
        make("th", { scope: "row", class: "text", dir: "auto" }, row.name ?? row.text.slice(0, 60)),
        ...counts.map((column) => {
          const times = column[base] ? column[line] / column[base] : 0;
          const bar = make("i");
          bar.style.width = `${(100 * times) / highest}%`;
          return make("td", {}, make("span", { class: "cell" },
            make("span", { class: "amount" }, number(column[line])),
            make("span", { class: "times" }, `(${number(times, 2)}×)`),
            make("span", { class: "meter", "aria-hidden": "true" }, bar)));
        })))));
  }

  const refresh = latest(compare, app.problem, () => (state.text.length > LARGE ? 250 : 0));

  const source = new Source(byId("compare-text"), (typed) => {
    set({ text: typed });
    refresh();
  });
  byId("parallel").addEventListener("click", () => {
    set({ text: PARALLEL });
    source.show(PARALLEL);
    refresh();
  });
  byId("add-tokenizer").addEventListener("click", () => {
    const free = app.tokenizers.findIndex((_, at) => !places.includes(at));
    choose([...places, Math.max(free, 0)]);
  });
  const enter = () => {
    source.show(state.text);
    places = chosen();
    drawCards();
    refresh();
  };
  onLanguage(() => {
    if (state.view === "compare") enter();
  });
  return { enter };
}

/** The ends of tokens that all have, and how many different ends there are. */
function sharedEnds(answers) {
  const times = new Map();
  for (const answer of answers) {
    for (const end of new Set(answer.ends)) times.set(end, (times.get(end) ?? 0) + 1);
  }
  const shared = new Set();
  for (const [end, n] of times) if (n === answers.length) shared.add(end);
  return { shared, all: times.size };
}
