// What is known of one token.

import { post } from "./api.js";
import { fill, make } from "./dom.js";
import { number, t } from "./i18n.js";
import { appendPieces, fromHex, hex2 } from "./pieces.js";
import { drawTree, nodesOfToken } from "./tree.js";

const cache = new Map();
const MAX_CACHED = 2000;

async function facts(tokenizer, id) {
  const key = `${tokenizer}:${id}`;
  if (!cache.has(key)) {
    if (cache.size >= MAX_CACHED) cache.clear();
    const asked = post("/api/token", { tokenizer, id });
    cache.set(key, asked);
    asked.catch(() => cache.delete(key));
  }
  return cache.get(key);
}

const row = (term, value, code = false) =>
  value === null || value === "" ? [] : [make("dt", {}, term), make("dd", { class: code ? "code" : null }, value)];

export const spacedHex = (bytes, most = 64) =>
  Array.from(bytes.subarray(0, most), hex2).join(" ") + (bytes.length > most ? " …" : "");

let wanted = 0;

export async function showDetails(box, tokenizer, flow, at) {
  wanted += 1;
  const mine = wanted;
  if (at < 0) {
    fill(box, make("p", { class: "note" }, t("details_hint")));
    return;
  }
  const { model } = flow;
  const id = model.ids[at];
  const token = await facts(tokenizer, id);
  if (mine !== wanted) return;
  const bytes = fromHex(token.hex);
  const face = make("div", { class: "face" });
  const colour = token.kind === "special" ? "t special" : `t c${flow.colour(at)}`;
  const shown = make("span", { class: colour });
  appendPieces(shown, bytes);
  face.append(shown);
  fill(
    box,
    face,
    make(
      "dl",
      {},
      ...row(t("id"), String(id), true),
      ...row(t("position"), t("of_n", { at: number(at + 1), n: number(model.ids.length) })),
      ...row(t("kind"), token.kind in { byte: 1, merge: 1, special: 1 } || t(`kind_${token.kind}`) !== `kind_${token.kind}` ? t(`kind_${token.kind}`) : token.kind),
      ...row(t("bytes_hex"), spacedHex(bytes), true),
      ...row(t("rank"), token.rank === null ? null : number(token.rank)),
      ...row(t("count"), token.count === null ? null : number(token.count)),
      ...row(t("score"), token.score === null ? null : token.score.toFixed(4)),
    ),
    token.characters.length ? make("h2", {}, t("code_points")) : null,
    make(
      "ul",
      {},
      ...token.characters.map((char) =>
        make(
          "li",
          {},
          make("span", { class: "code" }, `U+${char.code_point.toString(16).toUpperCase().padStart(4, "0")}`),
          make("span", {}, char.name ?? t("no_name")),
        ),
      ),
    ),
    token.tree ? make("h2", {}, t("how_merged")) : null,
    token.tree ? make("div", { class: "tree-box small" }, drawTree(nodesOfToken(token.tree), { label: t("how_merged") })) : null,
  );
}
