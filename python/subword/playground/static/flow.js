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
    this.#reuse(old);
    const elements = this.#blocks.map((block) => block.element);
    if (!elements.length) {
      elements.push(make("div", { class: "placeholder", role: "presentation" }, t("nothing_yet")));
    }
    this.#box.replaceChildren(...elements);
    this.#drawSeen();
    for (const block of old.blocks) if (!block.kept) this.#observer.unobserve(block.element);
    for (const block of this.#blocks) {
      if (!block.kept) this.#observer.observe(block.element);
      block.kept = false;
    }
    if (this.#active >= model.ids.length) this.activate(-1);
    else if (this.#active >= 0) this.activate(this.#active, false);
  }

  /** Take over the blocks before the first that differs: typing changes few. */
  #reuse(old) {
    const width = this.#box.clientWidth || 600;
    let same = old.model !== null && old.model.special === this.#model.special
      && !old.model.shared && !this.#model.shared;
    this.#blocks.forEach((block, at) => {
      const before = old.blocks[at];
      same = same && before !== undefined && equal(old.model, before, this.#model, block);
      if (same) {
        Object.assign(block, before, { kept: true });
        before.kept = true;
        return;
      }
      block.element = make("div", { class: "block", role: "presentation", dir: way(this.#model, block) });
      block.element.block = block;
      block.drawn = false;
      block.element.style.height = `${estimate(this.#model, block, width)}px`;
    });
    // The element must know the block that it now stands for.
    for (const block of this.#blocks) block.element.block = block;
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
      if (!this.#blocks.includes(block)) continue;
      if (entry.isIntersecting) this.#draw(block);
      else this.#clear(block);
    }
  }

  #draw(block) {
    if (block.drawn) return;
    const content = document.createDocumentFragment();
    for (let at = block.first; at < block.last; at += 1) this.#drawToken(content, at);
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

  #drawToken(parent, at) {
    const { bytes, ids, starts, ends, tokens, special, shared } = this.#model;
    const before = at === 0 ? 0 : ends[at - 1];
    if (starts[at] > before) appendPieces(parent, bytes.subarray(before, starts[at]));
    const id = ids[at];
    const own = starts[at] >= before && ends[at] > starts[at];
    const differs = shared !== null && !shared.has(ends[at]);
    const element = make("span", {
      class: `t c${at % COLOURS}${special.has(id) ? " special" : ""}${differs ? " edge" : ""}`,
      role: "option",
      "aria-selected": "false",
    });
    element.at = at;
    appendPieces(element, own ? bytes.subarray(starts[at], ends[at]) : fromHex(tokens[id] ?? ""));
    name(element);
    parent.append(element);
    if (at === ids.length - 1 && ends[at] < bytes.length) {
      appendPieces(parent, bytes.subarray(ends[at]));
    }
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
      name(old);
      old.setAttribute("aria-selected", "false");
    }
    this.#active = at;
    const element = at < 0 ? null : this.#element(at);
    if (element) {
      element.classList.add("on");
      element.id = `${this.#box.id}-active`;
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
    if (element && (!hover || event.pointerType === "mouse") && element.at !== this.#active) {
      this.activate(element.at, false);
    }
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

function equal(oldModel, oldBlock, model, block) {
  if (oldBlock.first !== block.first || oldBlock.last !== block.last) return false;
  for (let at = block.first; at < block.last; at += 1) {
    if (oldModel.ids[at] !== model.ids[at] || oldModel.starts[at] !== model.starts[at]
      || oldModel.ends[at] !== model.ends[at]) return false;
  }
  const isLast = (m, b) => b.last === m.ids.length;
  if (isLast(oldModel, oldBlock) !== isLast(model, block)) return false;
  const start = block.first === 0 ? 0 : model.ends[block.first - 1];
  const end = isLast(model, block) ? model.bytes.length : model.ends[block.last - 1];
  if (isLast(model, block) && oldModel.bytes.length !== model.bytes.length) return false;
  for (let at = start; at < end; at += 1) {
    if (oldModel.bytes[at] !== model.bytes[at]) return false;
  }
  return true;
}

/** Which way a block runs: as its first letters do. */
function way({ bytes, ends }, { first }) {
  const start = first === 0 ? 0 : ends[first - 1];
  return direction(loose.decode(bytes.subarray(start, start + 400)));
}

function estimate(model, block, width) {
  const start = block.first === 0 ? 0 : model.ends[block.first - 1];
  const n = model.ends[block.last - 1] - start;
  let breaks = 0;
  for (let at = start; at < model.ends[block.last - 1]; at += 1) if (model.bytes[at] === 10) breaks += 1;
  return 30 * Math.max(1, breaks + Math.ceil((n * 9) / Math.max(width - 32, 100)) - Math.ceil(breaks / 2));
}
