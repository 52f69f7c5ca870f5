// A step of BPE or WordPiece: the pairs there were, the one taken and why, the text after.

import { make } from "./dom.js";
import { number, t } from "./i18n.js";
import { chip, word } from "./symbols.js";

const MAX_WORDS = 120;

/** Give the elements of a step, 0 being the state before the first merge. */
export function drawMerges(trace, at) {
  const step = at === 0 ? null : trace.steps[at - 1];
  const pairs = step ?? trace.steps[0] ?? null;
  return [
    make("div", { class: "step-main" },
      make("p", { class: "headline" }, ...headline(trace, step)),
      make("p", { class: "note", id: "why" }, why(trace, step)),
      make("h2", {}, t("words_now")),
      words(trace, step, at),
      soFar(trace, at)),
    make("div", { class: "step-side" },
      make("h2", {}, t("candidates")),
      pairs ? pairTable(trace, pairs, step !== null) : null,
      pairs ? make("p", { class: "note" }, t("next_pairs", { n: number(pairs.n_pairs) })) : null),
  ];
}

/** Put elements into a sentence in place of its names. */
function sentence(key, elements) {
  return t(key).split(/(\{\w+\})/).filter(Boolean).map((part) => elements[part.slice(1, -1)] ?? part);
}

function headline(trace, step) {
  if (step === null) return [t("start_step")];
  const [left, right] = step.candidates[0].pair;
  return sentence("merge_makes", {
    left: chip(left, trace.alphabet),
    right: chip(right, trace.alphabet),
    merged: chip(step.merged, trace.alphabet, `c${step.rank % 6} newest`),
    id: String(step.merged_id),
  });
}

function why(trace, step) {
  if (step === null) {
    return t("before_merges", {
      words: number(trace.words.length),
      symbols: number(trace.words.reduce((sum, one) => sum + one.symbols.length * one.count, 0)),
      tokens: number(trace.n_initial),
    });
  }
  const score = `${t(`score_word_${trace.score}`)} ${step.candidates[0].score}`;
  return step.n_tied === 1
    ? t("why_only", { score })
    : t("why_tied", { n: number(step.n_tied), score, rule: t(`rule_${trace.ties}`) });
}

function words(trace, step, at) {
  const ranks = new Map();
  for (const one of trace.steps.slice(0, at)) if (!ranks.has(one.merged)) ranks.set(one.merged, one.rank);
  const all = step === null ? trace.words : step.words;
  const rankOf = (symbol) => ranks.get(symbol);
  const box = make("div", { class: "words", id: "sequence" },
    ...all.slice(0, MAX_WORDS).map((one) => word(one, trace.alphabet, rankOf, step?.merged ?? null)));
  if (all.length > MAX_WORDS) box.append(make("span", { class: "note" }, `… +${number(all.length - MAX_WORDS)}`));
  return box;
}

function soFar(trace, at) {
  if (at === 0) return null;
  const items = trace.steps.slice(0, at).map((step) => {
    const [left, right] = step.candidates[0].pair;
    return make("li", {}, make("span", { class: "rank-number" }, String(step.rank + 1)),
      chip(left, trace.alphabet), " + ", chip(right, trace.alphabet));
  });
  const stopped = at === trace.steps.length && at < trace.n_merges;
  return make("div", {}, make("h2", {}, t("merges_so_far")), make("ol", { class: "merge-list", id: "merge-list" }, ...items),
    stopped ? make("p", { class: "note" }, t("stopped", { n: number(at) })) : null);
}

function pairTable(trace, step, decided) {
  const byLikelihood = trace.score === "likelihood";
  const head = [t("pair"), t("times_seen"), byLikelihood ? t("left_right") : null, byLikelihood ? t("pair_score") : null, ""];
  return make("table", { id: "pairs" },
    make("thead", {}, make("tr", {}, ...head.filter((one) => one !== null).map((one, at) =>
      one === "" ? make("td", {}) : make("th", { scope: "col", class: at > 0 ? "n" : null }, one)))),
    make("tbody", {}, ...step.candidates.map((pair, at) => {
      const isTied = step.n_tied > 1 && at < step.n_tied;
      const chosen = decided && at === 0;
      return make("tr", { class: chosen ? "chosen" : isTied ? "tied" : null },
        make("td", {}, chip(pair.pair[0], trace.alphabet), " ", chip(pair.pair[1], trace.alphabet)),
        make("td", { class: "n" }, number(pair.count)),
        byLikelihood ? make("td", { class: "n" }, `${number(pair.left_count)} × ${number(pair.right_count)}`) : null,
        byLikelihood ? make("td", { class: "n" }, pair.score) : null,
        make("td", { class: "mark" }, chosen ? t("chosen") : isTied ? t("tied") : ""));
    })));
}
