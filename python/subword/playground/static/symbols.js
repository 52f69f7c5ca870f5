// Symbols of a training as they are drawn.

import { make } from "./dom.js";
import { number } from "./i18n.js";
import { appendPieces } from "./pieces.js";

const encoder = new TextEncoder();

/**
 * Read a symbol as the server writes it: bytes come as UTF-8 in which a byte that is none is
 * \xNN and a backslash is doubled; characters come as they are.
 */
export function symbolBytes(symbol, alphabet) {
  if (alphabet !== "bytes") return encoder.encode(symbol);
  const bytes = [];
  for (const part of symbol.match(/\\\\|\\x[0-9a-f]{2}|[^\\]+/g) ?? []) {
    if (part === "\\\\") bytes.push(92);
    else if (part.startsWith("\\x")) bytes.push(parseInt(part.slice(2), 16));
    else bytes.push(...encoder.encode(part));
  }
  return new Uint8Array(bytes);
}

export function chip(symbol, alphabet, kind = "") {
  const element = make("span", { class: `chip ${kind}` });
  appendPieces(element, symbolBytes(symbol, alphabet));
  return element;
}

/** A word as its symbols; `rankOf` gives a merged symbol's rank, `newest` is the one just made. */
export function word({ count, symbols }, alphabet, rankOf = () => undefined, newest = null) {
  return make(
    "span",
    { class: "word" },
    ...symbols.map((symbol) => {
      const rank = rankOf(symbol);
      return chip(symbol, alphabet, `${rank === undefined ? "" : `c${rank % 6}`}${symbol === newest ? " newest" : ""}`);
    }),
    count > 1 ? make("span", { class: "times" }, `×${number(count)}`) : null,
  );
}
