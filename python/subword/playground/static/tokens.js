// The view of one text under one tokenizer.

import { latest, post } from "./api.js";
import { byId, copy, fill, flash, make } from "./dom.js";
import { showDetails } from "./details.js";
import { Flow } from "./flow.js";
import { number, onLanguage, t } from "./i18n.js";
import { fromHex } from "./pieces.js";
import { EXAMPLES } from "./samples.js";
import { Source } from "./source.js";
import { address, set, state } from "./state.js";

const LARGE = 100_000;
const MAX_IDS_SHOWN = 20_000;
export const MAX_TEXT_BYTES = 2 << 20;
const encoder = new TextEncoder();

/** What the server says of a text, as a Flow shows it. */
export function modelOf(answer, bytes, special, shared = null) {
  return { ...answer, bytes, special, shared };
}

/** A text's bytes; refused here when it is too long, so that it is not sent for nothing. */
export function bytesOf(text) {
  const bytes = encoder.encode(text);
  if (bytes.length > MAX_TEXT_BYTES) {
    throw new Error(t("too_long", { n: number(bytes.length), most: number(MAX_TEXT_BYTES) }));
  }
  return bytes;
}

export function ratio(nBytes, nTokens) {
  return nTokens ? number(nBytes / nTokens, 2) : "–";
}

export function setUpTokens(app) {
  const box = byId("flow");
  const text = byId("text");
  const ids = byId("id-list");
  const details = byId("details");
  let failed = false;

  const flow = new Flow(box, (at) => {
    showDetails(details, app.chosen(), flow, at).catch(app.problem);
  });

  async function encode() {
    const bytes = bytesOf(state.text);
    const answer = await post("/api/encode", {
      tokenizer: app.chosen(),
      text: state.text,
      special: state.special === "1" ? "recognize" : "as_text",
    });
    show(modelOf(answer, bytes, app.special(app.chosen())));
  }

  async function decode() {
    const wanted = parseIds(state.ids);
    const answer = await post("/api/decode", { tokenizer: app.chosen(), ids: wanted });
    byId("decoded-text").textContent = answer.text;
    show(modelOf(answer, fromHex(answer.hex), app.special(app.chosen())));
  }

  function show(model) {
    failed = false;
    app.problem(null);
    box.classList.remove("stale");
    flow.show(model);
    byId("n-tokens").textContent = number(model.ids.length);
    byId("n-characters").textContent = number(model.n_characters);
    byId("n-bytes").textContent = number(model.n_bytes);
    byId("ratio").textContent = ratio(model.n_bytes, model.ids.length);
    box.dataset.shown = String(Number(box.dataset.shown ?? 0) + 1);
    if (byId("ids-box").open) listIds();
  }

  function listIds() {
    const all = flow.model?.ids ?? [];
    const more = all.length > MAX_IDS_SHOWN ? `, … +${all.length - MAX_IDS_SHOWN}` : "";
    byId("ids-out").value = all.slice(0, MAX_IDS_SHOWN).join(", ") + more;
  }

  const refresh = latest(
    () => (state.input === "ids" ? decode() : encode()),
    (error) => {
      failed = true;
      box.classList.add("stale");
      app.problem(error);
    },
    () => (state.text.length > LARGE ? 200 : 0),
  );

  function sync() {
    const isIds = state.input === "ids";
    text.hidden = isIds;
    ids.hidden = !isIds;
    byId("decoded").hidden = !isIds;
    byId("special").closest("label").hidden = isIds;
    byId("examples").parentElement.hidden = isIds;
    for (const radio of document.querySelectorAll("[name=input-kind]")) radio.checked = radio.value === state.input;
    source.show(state.text);
    if (ids.value !== state.ids) ids.value = state.ids;
    byId("special").checked = state.special === "1";
    byId("tok-select").value = String(app.chosen());
  }

  const source = new Source(text, (typed) => {
    set({ text: typed });
    refresh();
  });
  ids.addEventListener("input", () => {
    set({ ids: ids.value });
    refresh();
  });
  byId("special").addEventListener("change", (event) => {
    set({ special: event.target.checked ? "1" : "0" });
    refresh();
  });
  byId("tok-select").addEventListener("change", (event) => {
    app.choose(Number(event.target.value));
    flow.activate(-1);
    refresh();
  });
  for (const radio of document.querySelectorAll("[name=input-kind]")) {
    radio.addEventListener("change", () => {
      if (radio.value === "ids" && !state.ids && flow.model && !failed) {
        set({ ids: flow.model.ids.slice(0, MAX_IDS_SHOWN).join(", ") });
      }
      set({ input: radio.value });
      flow.activate(-1);
      sync();
      refresh();
    });
  }
  byId("copy-ids").addEventListener("click", async (event) => {
    await copy(`[${(flow.model?.ids ?? []).join(", ")}]`);
    flash(event.target, t("copied"));
  });
  byId("copy-link").addEventListener("click", async (event) => {
    const { hash, cut } = address();
    await copy(location.href.split("#")[0] + hash);
    flash(event.target, t(cut ? "copied_cut" : "copied"));
  });
  byId("ids-box").addEventListener("toggle", listIds);

  function words() {
    ids.placeholder = t("ids_hint");
    text.placeholder = t("nothing_yet");
    fill(
      byId("examples"),
      ...Object.entries(EXAMPLES).map(([name, sample]) =>
        make("button", {
          type: "button",
          class: "link",
          "data-example": name,
          onclick: () => {
            set({ text: sample });
            flow.activate(-1);
            sync();
            refresh();
          },
        }, t(`example_${name}`)),
      ),
    );
    if (flow.model) show(flow.model);
    flow.activate(-1);
  }
  words();
  onLanguage(words);
  return {
    enter() {
      sync();
      refresh();
    },
  };
}

/** Read ids in whatever way they are listed. */
export function parseIds(list) {
  const parts = list.split(/[\s,;[\]()]+/).filter(Boolean);
  return parts.map((part) => {
    if (!/^\d{1,10}$/.test(part)) throw new Error(t("bad_ids", { part: part.slice(0, 20) }));
    return Number(part);
  });
}
