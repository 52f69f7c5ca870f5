// The encoding of a word, merge by merge, as a tree.

import { latest, post } from "./api.js";
import { byId, fill, make } from "./dom.js";
import { onLanguage, t } from "./i18n.js";
import { Player } from "./player.js";
import { set, state } from "./state.js";
import { symbolBytes } from "./symbols.js";
import { drawTree, labelOf } from "./tree.js";

export class WordTree {
  #app;
  #lesson;
  #player;
  #steps = [];
  #refresh;

  /** `lesson` gives the training whose merges are used where no tokenizer is chosen. */
  constructor(app, lesson) {
    this.#app = app;
    this.#lesson = lesson;
    this.#player = new Player(byId("word-player"), (at) => this.#draw(at));
    this.#refresh = latest(() => this.#ask(), (error) => this.#say(error.message));
    byId("word").addEventListener("input", (event) => {
      set({ word: event.target.value });
      this.refresh();
    });
    byId("word-tokenizer").addEventListener("change", (event) => {
      set({ wordtok: event.target.value });
      this.refresh();
    });
    onLanguage(() => this.refresh());
  }

  sync() {
    byId("word").value = state.word;
    byId("word-tokenizer").value = state.wordtok;
    if (byId("word-tokenizer").selectedIndex < 0) byId("word-tokenizer").value = "";
  }

  refresh() {
    this.#refresh();
  }

  async #ask() {
    const lesson = this.#lesson();
    const chosen = byId("word-tokenizer").value;
    if (!chosen && (lesson.algorithm !== "bpe" || lesson.alphabet !== "bytes")) {
      this.#say(t("no_tree"));
      return;
    }
    if (!state.word || (!chosen && !lesson.text.trim())) {
      this.#say("");
      return;
    }
    const tokenizer = chosen ? this.#app.tokenizers.findIndex((one) => one.name === chosen) : null;
    const answer = await post("/api/learn/encode", { ...lesson, tokenizer, word: state.word });
    this.#steps = stepsOf(answer);
    this.#player.load(this.#steps.length - 1, this.#steps.length - 1);
  }

  #say(message) {
    this.#steps = [];
    this.#player.load(0, 0);
    fill(byId("tree"), message ? make("p", { class: "note" }, message) : null);
  }

  #draw(at) {
    const step = this.#steps[at];
    if (step === undefined) return;
    const box = byId("tree");
    const { roots, newest, merge } = step;
    const said = merge
      ? t("merge_step", { rank: merge.rank, left: labelOf(symbolBytes(merge.pair[0], "bytes")), right: labelOf(symbolBytes(merge.pair[1], "bytes")) })
      : at === 0 && this.#steps.length === 1 ? t("no_merges") : "\u00a0";
    fill(box,
      make("p", { class: "note", id: "merge-said" }, said),
      make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("tree_label", { word: state.word }) },
        drawTree(roots, { label: t("tree_label", { word: state.word }), newest })),
      make("p", { class: "note code", id: "tree-ids" }, at === this.#steps.length - 1 ? `[${this.#steps.ids.join(", ")}]` : "\u00a0"));
  }
}

/** Give the trees after each merge: those of all parts side by side. */
function stepsOf(answer) {
  const leaf = (symbol) => ({ label: labelOf(symbolBytes(symbol, "bytes")), rank: null, left: null, right: null });
  const parts = answer.parts.map((part) => part.start.map(leaf));
  const steps = [{ roots: parts.flat(), newest: null, merge: null }];
  answer.parts.forEach((part, at) => {
    for (const merge of part.merges) {
      const now = parts[at];
      const [left, right] = now.slice(merge.position, merge.position + 2);
      const made = { ...leaf(merge.parts[merge.position]), rank: merge.rank, left, right };
      parts[at] = [...now.slice(0, merge.position), made, ...now.slice(merge.position + 2)];
      steps.push({ roots: parts.flat(), newest: made, merge });
    }
  });
  steps.ids = answer.ids;
  return steps;
}
