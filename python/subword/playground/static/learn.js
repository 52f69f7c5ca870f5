// Stepping through a training, and through the encoding of a word.

import { latest, post } from "./api.js";
import { byId, fill, fillSelect, make } from "./dom.js";
import { onLanguage, t } from "./i18n.js";
import { Player } from "./player.js";
import { LESSONS } from "./samples.js";
import { set, state } from "./state.js";
import { drawMerges } from "./steps_merges.js";
import { drawUnigram } from "./steps_unigram.js";
import { WordTree } from "./word_tree.js";

const CHOICES = {
  algorithm: ["bpe", "wordpiece", "unigram"],
  pattern: ["gpt2", "whitespace", "none", "cl100k", "o200k"],
  ties: ["greatest", "first", "hf", "smallest_id"],
  alphabet: ["bytes", "characters"],
  score: ["likelihood", "frequency"],
};
const NAMES = { bpe: "BPE", wordpiece: "WordPiece", unigram: "Unigram" };
const LABELS = { score: "pair_score" };
const FIELDS = {
  bpe: ["algorithm", "pattern", "alphabet", "ties", "n_steps", "end_of_word"],
  wordpiece: ["algorithm", "pattern", "score", "ties", "n_steps"],
  unigram: ["algorithm", "pattern", "vocab_size"],
};
const INITIAL = {
  text: "", algorithm: "bpe", pattern: "gpt2", ties: "greatest", alphabet: "bytes",
  score: "likelihood", n_steps: 10, vocab_size: 20, end_of_word: false,
};

/** Read a lesson from the address; what is wrong in it is left to the server to refuse. */
function lessonOf(value) {
  try {
    const given = JSON.parse(value || "null") ?? LESSONS.cat;
    const known = Object.entries(given).filter(([name]) => name in INITIAL);
    return { ...INITIAL, ...Object.fromEntries(known) };
  } catch {
    return { ...INITIAL, ...LESSONS.cat };
  }
}

export function setUpLearn(app) {
  const text = byId("lesson-text");
  let lesson = lessonOf("");
  let trace = null;

  const player = new Player(byId("player"), (at) => {
    if (trace === null) return;
    set({ step: String(at) });
    const draw = trace.algorithm ? drawMerges : drawUnigram;
    fill(byId("step"), ...draw(trace, at));
    byId("step").dataset.at = String(at);
  });
  const tree = new WordTree(app, () => lesson);

  async function train() {
    if (!lesson.text.trim()) {
      trace = null;
      player.load(0, 0);
      fill(byId("step"), make("p", { class: "note" }, t("nothing_yet")));
      tree.refresh();
      return;
    }
    trace = await post("/api/learn", lesson);
    app.problem(null);
    player.load(trace.steps.length, Number(state.step) || 0);
    tree.refresh();
  }
  const trainSoon = latest(train, (error) => {
    trace = null;
    player.load(0, 0);
    fill(byId("step"));
    app.problem(error);
  });

  function change(changes) {
    lesson = { ...lesson, ...changes };
    set({ lesson: JSON.stringify(lesson), step: "0" });
    drawFields();
    trainSoon();
  }

  function field(name) {
    if (name === "end_of_word") {
      const box = make("input", { type: "checkbox", role: "switch", checked: lesson.end_of_word });
      box.addEventListener("change", () => change({ end_of_word: box.checked }));
      return make("label", { class: "switch" }, box, make("span", { class: "track", "aria-hidden": "true" }), t("end_of_word"));
    }
    let input;
    if (name in CHOICES) {
      input = make("select", { "data-field": name }, ...CHOICES[name].map((value) =>
        make("option", { value, selected: value === lesson[name] }, NAMES[value] ?? t(`${name}_${value}`))));
      input.addEventListener("change", () => {
        const changes = { [name]: input.value };
        if (name === "alphabet" && input.value === "bytes") changes.end_of_word = false;
        change(changes);
        byId("lesson-fields").querySelector(`[data-field=${name}]`)?.focus();
      });
    } else {
      input = make("input", { type: "number", "data-field": name, min: 1, max: name === "n_steps" ? 200 : 1000, value: lesson[name] });
      input.addEventListener("change", () => {
        change({ [name]: input.valueAsNumber || 1 });
        byId("lesson-fields").querySelector(`[data-field=${name}]`)?.focus();
      });
    }
    return make("label", { class: "field" }, make("span", {}, t(LABELS[name] ?? name)), input);
  }

  function drawFields() {
    const names = (FIELDS[lesson.algorithm] ?? FIELDS.bpe)
      .filter((name) => name !== "end_of_word" || lesson.alphabet === "characters");
    fill(byId("lesson-fields"), ...names.map(field));
  }

  function sync() {
    if (text.value !== lesson.text) text.value = lesson.text;
    drawFields();
  }

  text.addEventListener("input", () => {
    lesson = { ...lesson, text: text.value };
    set({ lesson: JSON.stringify(lesson), step: "0" });
    trainSoon();
  });

  function words() {
    fill(byId("lessons"), ...Object.entries(LESSONS).map(([name, given]) =>
      make("button", {
        type: "button",
        class: "link",
        "data-lesson": name,
        onclick: () => {
          change({ ...INITIAL, ...given });
          sync();
        },
      }, t(`lesson_${name}`))));
    fillSelect(byId("word-tokenizer"), [
      ["", t("this_training")],
      ...app.tokenizers.filter((one) => one.can_trace).map((one) => [one.name, one.name]),
    ], state.wordtok);
    sync();
    if (trace !== null) player.go(Number(state.step) || 0);
  }
  words();
  onLanguage(words);
  return {
    enter() {
      lesson = lessonOf(state.lesson);
      sync();
      tree.sync();
      trainSoon();
    },
  };
}
