// A token's bytes as something that can be seen: text, marks for what has no ink, and bytes.

import { make } from "./dom.js";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const MAX_SHOWN = 400;

const SHORT = {
  0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x0b: "VT", 0x0c: "FF", 0x1b: "ESC", 0x7f: "DEL",
  0x85: "NEL", 0xa0: "NBSP", 0xad: "SHY", 0x200b: "ZWSP", 0x200c: "ZWNJ", 0x200d: "ZWJ",
  0x200e: "LRM", 0x200f: "RLM", 0x2028: "LS", 0x2029: "PS", 0x202a: "LRE", 0x202b: "RLE",
  0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO", 0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI",
  0x2068: "FSI", 0x2069: "PDI", 0x3000: "IDSP", 0xfe0f: "VS16", 0xfeff: "BOM",
};

// Controls, formats, line and paragraph separators, private use, and spaces that are not U+0020.
const UNSEEN = /^[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cs}]$/u;
const MARK = /^\p{M}$/u;
const PICTURE = /^[\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}\ufe0f]$/u;

export const hex2 = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");

export function fromHex(hex) {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** Length of the UTF-8 sequence at `at`, or 0 where there is none. */
function sequence(bytes, at) {
  const first = bytes[at];
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    strict.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}

/** Cut bytes into stretches of text and single bytes that are no part of a whole character. */
export function textAndBytes(bytes) {
  try {
    return bytes.length ? [strict.decode(bytes)] : [];
  } catch {
    // Some of it is no UTF-8: character by character.
  }
  const parts = [];
  let start = 0;
  let at = 0;
  const flush = () => {
    if (at > start) parts.push(strict.decode(bytes.subarray(start, at)));
  };
  while (at < bytes.length) {
    const length = sequence(bytes, at);
    if (length) {
      at += length;
    } else {
      flush();
      parts.push(bytes[at]);
      at += 1;
      start = at;
    }
  }
  flush();
  return parts;
}

const label = (code) => SHORT[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

/** Append a text to a token, each character without ink as its mark. */
function appendText(parent, text) {
  // The common case: nothing to mark.
  if (/^[!-~]+$/.test(text)) {
    parent.append(text);
    return;
  }
  let plain = "";
  let previous = "";
  const flush = () => {
    if (plain) parent.append(plain);
    plain = "";
  };
  const characters = [...text];
  characters.forEach((char, at) => {
    const code = char.codePointAt(0);
    if (char === " ") {
      flush();
      parent.append(make("span", { class: "s" }, " "));
    } else if (char === "\n") {
      flush();
      parent.append(make("span", { class: "g" }, "↵"), "\n");
    } else if (char === "\t") {
      flush();
      parent.append(make("span", { class: "g" }, "→"), "\t");
    } else if (code === 0x200d && PICTURE.test(previous) && PICTURE.test(characters[at + 1] ?? "")) {
      plain += char;
    } else if (UNSEEN.test(char) || (code >= 0xfe00 && code <= 0xfe0f && !previous)) {
      flush();
      const name = code === 0x0d ? "CR" : label(code);
      parent.append(make("span", { class: "k" }, name));
    } else if (MARK.test(char) && !previous) {
      // A mark with nothing to stand on would stand on the token before.
      plain += `\u25cc${char}`;
    } else {
      plain += char;
    }
    previous = char;
  });
  flush();
}

/** Append bytes to an element as they are shown; long tokens are cut, and say so. */
export function appendPieces(parent, bytes) {
  let shown = bytes;
  if (bytes.length > MAX_SHOWN) {
    let end = MAX_SHOWN;
    while (end > MAX_SHOWN - 3 && (bytes[end] & 0xc0) === 0x80) end -= 1;
    shown = bytes.subarray(0, end);
  }
  for (const part of textAndBytes(shown)) {
    if (typeof part === "string") appendText(parent, part);
    else parent.append(make("span", { class: "b" }, hex2(part)));
  }
  if (shown.length < bytes.length) {
    parent.append(make("span", { class: "more" }, `… +${bytes.length - shown.length} B`));
  }
}
