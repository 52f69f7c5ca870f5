// A step of a unigram model: an estimation or a pruning.

import { make } from "./dom.js";
import { number, t } from "./i18n.js";
import { chip, word } from "./symbols.js";

const MAX_WORDS = 120;
const MAX_REMOVED = 20;

/** Give the elements of a step, 0 being the seed. */
export function drawUnigram(trace, at) {
  const step = at === 0 ? null : trace.steps[at - 1];
  const isLast = at === trace.steps.length;
  const pieces = isLast ? trace.pieces : step?.pieces ?? trace.seed;
  const words = isLast ? trace.segmentations : step?.words ?? trace.words;
  const title = step === null ? t("start_step") : isLast ? t("final_pieces", { n: number(trace.pieces.length) }) : t(`step_${step.kind}`);
  const note = step === null
    ? t("before_unigram", { n: number(trace.n_seed) })
    : t("n_pieces", { n: number(step.n_pieces), value: step.log_likelihood.toFixed(3) });
  return [
    make("div", { class: "step-main" },
      make("p", { class: "headline" }, title),
      make("p", { class: "note" }, note),
      make("h2", {}, t("words_cut")),
      make("div", { class: "words", id: "sequence" }, ...words.slice(0, MAX_WORDS).map((one) => word(one, "characters"))),
      step?.removed.length && !isLast ? removed(step) : null),
    make("div", { class: "step-side" },
      make("h2", {}, t("pieces")),
      make("table", { id: "pairs" },
        head(t("piece"), t("log_probability"), t("expected")),
        make("tbody", {}, ...pieces.map((piece) => make("tr", {},
          make("td", {}, chip(piece.piece, "characters")),
          make("td", { class: "n" }, piece.score.toFixed(3)),
          make("td", { class: "n" }, piece.expected === null ? "–" : piece.expected.toFixed(2))))))),
  ];
}

const head = (...names) =>
  make("thead", {}, make("tr", {}, ...names.map((name, at) => make("th", { scope: "col", class: at > 0 ? "n" : null }, name))));

function removed(step) {
  return make("div", {},
    make("h2", {}, `${t("removed")} (${number(step.removed.length)})`),
    make("table", {},
      head(t("piece"), t("loss"), t("alternative")),
      make("tbody", {}, ...step.removed.slice(0, MAX_REMOVED).map((one) => make("tr", {},
        make("td", {}, chip(one.piece, "characters")),
        make("td", { class: "n" }, one.loss === null ? t("not_needed") : one.loss.toFixed(4)),
        make("td", { class: "n" }, ...one.alternative.map((piece) => chip(piece, "characters"))))))));
}
