// Merge trees as SVG: leaves in a row, each merge above what it joins.

import { fromHex, hex2, textAndBytes } from "./pieces.js";

const SVG = "http://www.w3.org/2000/svg";
const CHAR = 8.4;
const PAD = 10;
const GAP = 8;
const ROW = 54;
const BOX = 26;

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Write bytes as a label: spaces and line ends marked, single bytes in hexadecimal. */
export function labelOf(bytes) {
  const text = textAndBytes(bytes)
    .map((part) => (typeof part === "string" ? part : `‹${hex2(part)}›`))
    .join("")
    .replaceAll(" ", "␣")
    .replaceAll("\n", "↵")
    .replaceAll("\t", "→")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�")
    .replace(/^\p{M}/u, (mark) => `\u25cc${mark}`);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** Turn the server's list of nodes into those that are drawn. */
export function nodesOfToken(tree) {
  const made = tree.map((node) => ({
    label: labelOf(fromHex(node.hex)),
    rank: node.rank,
    id: node.id,
    left: null,
    right: null,
  }));
  tree.forEach((node, at) => {
    if (node.left === undefined) return;
    made[at].left = made[node.left];
    made[at].right = made[node.right];
  });
  return [made[0]];
}

const wide = (label) =>
  [...label].reduce((sum, char) => sum + (char.codePointAt(0) > 0x2e80 ? 1.7 : 1), 0);

/** Give each node its width, its place and its height above the leaves. */
function place(roots) {
  let x = 0;
  let height = 0;
  // By hand, not by recursion: a tree can be as deep as its token is long.
  const order = [];
  const waiting = [...roots].reverse();
  while (waiting.length) {
    const node = waiting.pop();
    order.push(node);
    if (node.left) waiting.push(node.right, node.left);
  }
  for (const node of order) {
    node.width = Math.max(wide(node.label) * CHAR + PAD, BOX);
    if (!node.left) {
      node.x = x + node.width / 2;
      node.y = 0;
      x += node.width + GAP;
    }
  }
  for (const node of order.toReversed()) {
    if (!node.left) continue;
    node.x = (node.left.x + node.right.x) / 2;
    node.y = Math.max(node.left.y, node.right.y) + 1;
    height = Math.max(height, node.y);
  }
  const right = Math.max(...order.map((node) => node.x + node.width / 2), x - GAP);
  const left = Math.min(...order.map((node) => node.x - node.width / 2), 0);
  return { order, height, left, width: right - left };
}

/** Draw trees side by side. `label` names the picture; `newest` is a node to mark. */
export function drawTree(roots, { label, newest = null }) {
  const { order, height, left, width } = place(roots);
  const top = (node) => (height - node.y) * ROW + 2;
  const lines = [];
  const boxes = [];
  const tops = new Set(roots);
  let colour = 0;
  for (const node of order) {
    const x = node.x - left + 2;
    if (node.left) {
      for (const child of [node.left, node.right]) {
        lines.push(svg("path", {
          class: "branch",
          d: `M${x} ${top(node) + BOX} V${top(node) + BOX + 15} H${child.x - left + 2} V${top(child)}`,
        }));
      }
    }
    const kind = tops.has(node) ? `root r${colour++ % 6}` : "node";
    const title = svg("title", {});
    title.textContent = node.rank === null || node.rank === undefined ? node.label : `${node.label}, ${node.rank}`;
    const text = svg("text", { x, y: top(node) + 18, "text-anchor": "middle" });
    text.textContent = node.label;
    boxes.push(svg("g", { class: `${kind}${node === newest ? " newest" : ""}` }, title,
      svg("rect", { x: x - node.width / 2, y: top(node), width: node.width, height: BOX, rx: 5 }), text));
    if (node.rank !== null && node.rank !== undefined) {
      const rank = svg("text", { class: "rank", x: x + 4, y: top(node) + BOX + 11, "text-anchor": "start" });
      rank.textContent = node.rank;
      boxes.push(rank);
    }
  }
  const w = Math.ceil(width + 4);
  const h = height * ROW + BOX + 6;
  return svg("svg", { class: "tree", viewBox: `0 0 ${w} ${h}`, width: w, height: h, role: "img", "aria-label": label }, ...lines, ...boxes);
}
