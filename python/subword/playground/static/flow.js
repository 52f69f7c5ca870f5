// Coloured tokens in the running text. A long text is cut into blocks, and only those near what
// is seen are drawn.

import { make } from "./dom.js";
import { appendPieces, fromHex } from "./pieces.js";
import { number, t } from "./i18n.js";
import { direction } from "./source.js";

const loose = new TextDecoder();
const COLOURS = 6;
const SMALL_BLOCK = 64;
const LARGE_BLOCK = 384;
const NEAR = 400;

/**
 * A text under a tokenizer, as the server gives it.
 * bytes: of the text; ids, starts, ends: of each token; tokens: bytes of the ids that have no
 * stretch of the text to themselves; special: a Set of ids; shared: ends that all tokenizers
 * have, or null.
 */
export class Flow {
  #box;
  #model = null;
  #blocks = [];
  #active = -1;
  #onActive;
  #observer;

  constructor(box, onActive = () => {}) {
    this.#box = box;
    this.#onActive = onActive;
    this.#observer = new IntersectionObserver((entries) => this.#seen(entries), {
      root: box,
      rootMargin: `${2 * NEAR}px 0px`,
    });
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("pointerover", (event) => this.#point(event, true));
    box.addEventListener("click", (event) => this.#point(event, false));
    box.addEventListener("focus", () => {
      if (this.#active < 0 && this.#model?.ids.length) this.activate(this.#firstSeen(), false);
    });
  }

  get model() {
    return this.#model;
  }

  show(model) {
    const old = { model: this.#model, blocks: this.#blocks };
    this.#model = model;
    this.#blocks = cut(model);
    const { before, after } = this.#reuse(old);
    this.#replace(old.blocks.slice(before, old.blocks.length - after), before, after);
    this.#drawSeen();
    if (this.#active >= model.ids.length) this.activate(-1);
    else if (this.#active >= 0) this.activate(this.#active, false);
  }

  /** Take over the blocks at both ends that are as they were: typing changes few. */
  #reuse(old) {
    const now = this.#blocks;
    const most = Math.min(old.blocks.length, now.length);
    const mayReuse = old.model !== null && old.model.special === this.#model.special
      && !old.model.shared && !this.#model.shared;
    const same = (was, is) => mayReuse && equal(old.model, was, this.#model, is);
    const take = (was, is) => {
      is.element = was.element;
      is.drawn = was.drawn;
      is.element.block = is;
    };
    let before = 0;
    while (before < most && same(old.blocks[before], now[before])) {
      take(old.blocks[before], now[before]);
      before += 1;
    }
    let after = 0;
    while (after < most - before && same(old.blocks.at(-1 - after), now.at(-1 - after))) {
      take(old.blocks.at(-1 - after), now.at(-1 - after));
      after += 1;
    }
    return { before, after };
  }

  /** Put new blocks in the place of those that are gone; the others are not touched. */
  #replace(gone, before, after) {
    const width = this.#box.clientWidth || 600;
    for (const block of gone) {
      this.#observer.unobserve(block.element);
      block.element.remove();
    }
    this.#box.querySelector(":scope > .placeholder")?.remove();
    const next = after ? this.#blocks.at(-after).element : null;
    for (const block of this.#blocks.slice(before, this.#blocks.length - after)) {
      block.element = make("div", { class: "block", role: "presentation", dir: way(this.#model, block) });
      block.element.block = block;
      block.drawn = false;
      block.element.style.height = `${estimate(this.#model, block, width)}px`;
      this.#box.insertBefore(block.element, next);
      this.#observer.observe(block.element);
    }
    if (!this.#blocks.length) {
      this.#box.append(make("div", { class: "placeholder", role: "presentation" }, t("nothing_yet")));
    }
  }

  /** Draw what is in view at once, so that nothing flickers; the rest is for the observer. */
  #drawSeen() {
    const top = this.#box.scrollTop - NEAR;
    const bottom = this.#box.scrollTop + (this.#box.clientHeight || 400) + NEAR;
    for (const block of this.#blocks) {
      const place = block.element.offsetTop;
      if (place > bottom) break;
      if (!block.drawn && place + block.element.offsetHeight >= top) this.#draw(block);
    }
  }

  #seen(entries) {
    for (const entry of entries) {
      const block = entry.target.block;
      if (!entry.target.isConnected) continue;
      if (entry.isIntersecting) this.#draw(block);
      else this.#clear(block);
    }
  }

  #draw(block) {
    if (block.drawn) return;
    const content = document.createDocumentFragment();
    for (let at = block.first; at < block.last; at += 1) this.#drawToken(content, at, at - block.first);
    block.element.replaceChildren(content);
    block.element.style.height = "";
    block.drawn = true;
  }

  #clear(block) {
    if (!block.drawn || (this.#active >= block.first && this.#active < block.last)) return;
    block.element.style.height = `${block.element.offsetHeight}px`;
    block.element.replaceChildren();
    block.drawn = false;
  }

  #drawToken(parent, at, place) {
    const { bytes, ids, starts, ends, tokens, special, shared } = this.#model;
    const before = at === 0 ? 0 : ends[at - 1];
    if (starts[at] > before) appendPieces(parent, bytes.subarray(before, starts[at]));
    const id = ids[at];
    const own = starts[at] >= before && ends[at] > starts[at];
    const differs = shared !== null && !shared.has(ends[at]);
    const element = make("span", {
      class: `t c${place % COLOURS}${special.has(id) ? " special" : ""}${differs ? " edge" : ""}`,
      role: "option",
      "aria-selected": "false",
    });
    element.place = place;
    appendPieces(element, own ? bytes.subarray(starts[at], ends[at]) : fromHex(tokens[id] ?? ""));
    name(element);
    parent.append(element);
    if (at === ids.length - 1 && ends[at] < bytes.length) {
      appendPieces(parent, bytes.subarray(ends[at]));
    }
  }

  /** The colour of a token, as its class has it. */
  colour(at) {
    return (at - (this.#block(at)?.first ?? 0)) % COLOURS;
  }

  #block(at) {
    return this.#blocks.find((block) => at >= block.first && at < block.last);
  }

  #element(at) {
    const block = this.#block(at);
    if (!block) return null;
    this.#draw(block);
    return block.element.querySelectorAll(".t")[at - block.first] ?? null;
  }

  #firstSeen() {
    const top = this.#box.scrollTop;
    const block = this.#blocks.find((b) => b.element.offsetTop + b.element.offsetHeight > top);
    return block ? block.first : 0;
  }

  activate(at, scroll = true) {
    for (const old of this.#box.querySelectorAll(".t.on")) {
      old.classList.remove("on");
      old.removeAttribute("id");
      old.removeAttribute("aria-posinset");
      name(old);
      old.setAttribute("aria-selected", "false");
    }
    this.#active = at;
    const element = at < 0 ? null : this.#element(at);
    if (element) {
      element.classList.add("on");
      element.id = `${this.#box.id}-active`;
      element.setAttribute("aria-posinset", at + 1);
      element.setAttribute("aria-selected", "true");
      element.setAttribute("aria-label", t("token_label", {
        token: element.textContent.slice(0, 60).trim() || t("blank"),
        id: this.#model.ids[at],
        at: number(at + 1),
      }));
      this.#box.setAttribute("aria-activedescendant", element.id);
      if (scroll) element.scrollIntoView({ block: "nearest" });
    } else {
      this.#box.removeAttribute("aria-activedescendant");
    }
    this.#onActive(element ? at : -1);
  }

  #point(event, hover) {
    const element = event.target.closest?.(".t");
    if (!element || (hover && event.pointerType !== "mouse")) return;
    const at = element.closest(".block").block.first + element.place;
    if (at !== this.#active) this.activate(at, false);
  }

  #key(event) {
    const last = (this.#model?.ids.length ?? 0) - 1;
    if (last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#active;
    const places = {
      ArrowRight: () => at + 1,
      ArrowLeft: () => at - 1,
      ArrowDown: () => this.#vertical(1),
      ArrowUp: () => this.#vertical(-1),
      PageDown: () => at + 100,
      PageUp: () => at - 100,
      Home: () => 0,
      End: () => last,
      Escape: () => -1,
    };
    const place = places[event.key];
    if (!place) return;
    event.preventDefault();
    this.activate(event.key === "Escape" ? -1 : Math.min(Math.max(place(), 0), last));
  }

  /** The token a line up or down: the nearest to the same place across. */
  #vertical(direction) {
    const element = this.#element(this.#active);
    if (!element) return this.#active + direction;
    const from = element.getClientRects()[0];
    let best = this.#active;
    let line = null;
    let distance = Infinity;
    for (let at = this.#active + direction; ; at += direction) {
      const box = this.#element(at)?.getClientRects()[0];
      if (!box) break;
      if (Math.abs(box.top - from.top) < 8) continue;
      line ??= box.top;
      if (Math.abs(box.top - line) > 8) break;
      if (Math.abs(box.left - from.left) < distance) {
        distance = Math.abs(box.left - from.left);
        best = at;
      }
    }
    return best;
  }
}

/** Name a token for those who hear the page: by its text, or as a space where that is all. */
function name(element) {
  if (element.textContent.trim()) element.removeAttribute("aria-label");
  else element.setAttribute("aria-label", t("blank"));
}

/** Cut tokens into blocks, at ends of lines where there are any. */
function cut(model) {
  const { bytes, ids, ends } = model;
  const blocks = [];
  let first = 0;
  for (let at = 0; at < ids.length; at += 1) {
    const size = at + 1 - first;
    const ends_line = bytes[ends[at] - 1] === 10;
    if ((ends_line && size >= SMALL_BLOCK) || size >= LARGE_BLOCK) {
      blocks.push({ first, last: at + 1 });
      first = at + 1;
    }
  }
  if (first < ids.length) blocks.push({ first, last: ids.length });
  return blocks;
}

const startOf = (model, block) => (block.first === 0 ? 0 : model.ends[block.first - 1]);

/** Whether two blocks show the same, wherever in the text they stand. */
function equal(oldModel, oldBlock, model, block) {
  const n = block.last - block.first;
  if (oldBlock.last - oldBlock.first !== n) return false;
  const oldStart = startOf(oldModel, oldBlock);
  const start = startOf(model, block);
  const shift = start - oldStart;
  for (let k = 0; k < n; k += 1) {
    const was = oldBlock.first + k;
    const is = block.first + k;
    if (oldModel.ids[was] !== model.ids[is] || oldModel.starts[was] + shift !== model.starts[is]
      || oldModel.ends[was] + shift !== model.ends[is]) return false;
  }
  // The last block also has what no token covers after it.
  const wasLast = oldBlock.last === oldModel.ids.length;
  if (wasLast !== (block.last === model.ids.length)) return false;
  const oldEnd = wasLast ? oldModel.bytes.length : oldModel.ends[oldBlock.last - 1];
  const end = wasLast ? model.bytes.length : model.ends[block.last - 1];
  if (oldEnd + shift !== end) return false;
  for (let at = start; at < end; at += 1) {
    if (oldModel.bytes[at - shift] !== model.bytes[at]) return false;
  }
  return true;
}

/** Which way a block runs: as its first letters do. */
function way(model, block) {
  const start = startOf(model, block);
  return direction(loose.decode(model.bytes.subarray(start, start + 400)));
}

function estimate(model, block, width) {
  const start = startOf(model, block);
  const n = model.ends[block.last - 1] - start;
  let breaks = 0;
  for (let at = start; at < model.ends[block.last - 1]; at += 1) if (model.bytes[at] === 10) breaks += 1;
  return 30 * Math.max(1, breaks + Math.ceil((n * 9) / Math.max(width - 32, 100)) - Math.ceil(breaks / 2));
}
