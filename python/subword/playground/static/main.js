// Starts the page: tokenizers, languages, themes, and which view is shown.

import { ApiError, get } from "./api.js";
import { setUpCompare } from "./compare.js";
import { byId, fillSelect } from "./dom.js";
import { currentLanguage, preferred, speak, t } from "./i18n.js";
import { setUpLearn } from "./learn.js";
import { EXAMPLES } from "./samples.js";
import { declare, go, onState, readAddress, set, state } from "./state.js";
import { setUpTokens } from "./tokens.js";
import { setUpUnicode } from "./unicode.js";

const THEMES = ["auto", "light", "dark"];

declare({
  tok: "", input: "text", special: "1", ids: "", text: EXAMPLES.english, with: "", lang: "", theme: "",
  lesson: "", step: "0", word: "the hat", wordtok: "", uni: "é 你 👍🏽", hex: "e4 bd a0 e5 a5 ff 41",
});

/** What the views ask of the page. */
const app = {
  tokenizers: [],
  chosen: () => Math.max(app.tokenizers.findIndex((one) => one.name === state.tok), 0),
  choose: (at) => set({ tok: at === 0 ? "" : app.tokenizers[at].name }),
  special: (at) => app.tokenizers[at].ids,
  problem(error) {
    const box = byId("problem");
    box.hidden = error === null;
    const said = error instanceof ApiError && error.message === "unreachable" ? t("unreachable") : error?.message;
    box.textContent = error === null ? "" : said;
    if (error !== null && !(error instanceof ApiError) && error?.constructor !== Error) console.error(error);
  },
};

function store(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage may be forbidden; the address keeps it too.
  }
}

function sayTheme() {
  const theme = document.documentElement.dataset.theme;
  const label = t("theme", { theme: t(`theme_${theme}`) });
  byId("theme").setAttribute("aria-label", label);
  byId("theme").title = label;
}

function setUpTools() {
  byId("theme").addEventListener("click", () => {
    const { dataset } = document.documentElement;
    dataset.theme = THEMES[(THEMES.indexOf(dataset.theme) + 1) % THEMES.length];
    store("subword-theme", dataset.theme);
    if (state.theme) set({ theme: dataset.theme === "auto" ? "" : dataset.theme });
    sayTheme();
  });
  byId("language").addEventListener("click", () => {
    const wanted = currentLanguage() === "en" ? "zh" : "en";
    store("subword-language", wanted);
    if (state.lang) set({ lang: wanted });
    say(wanted);
  });
}

function say(language) {
  speak(language);
  byId("language").textContent = t("other_language");
  byId("language").lang = currentLanguage() === "en" ? "zh" : "en";
  sayTheme();
}

async function start() {
  readAddress();
  say(state.lang || preferred());
  setUpTools();
  const { tokenizers } = await get("/api/tokenizers");
  app.tokenizers = tokenizers.map((one) => ({ ...one, ids: new Set(Object.values(one.special_tokens)) }));
  fillSelect(byId("tok-select"), app.tokenizers.map((one, at) => [at, one.name]), app.chosen());
  const views = {
    tokens: setUpTokens(app),
    compare: setUpCompare(app),
    learn: setUpLearn(app),
    unicode: setUpUnicode(app),
  };
  const show = () => {
    for (const name of Object.keys(views)) {
      byId(`view-${name}`).hidden = name !== state.view;
      const link = document.querySelector(`nav a[data-view=${name}]`);
      if (name === state.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${t(`nav_${state.view}`)} · subword playground`;
    app.problem(null);
    views[state.view].enter();
  };
  onState(show);
  for (const link of document.querySelectorAll("nav a, .brand")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go(link.dataset.view ?? "tokens");
    });
  }
  window.addEventListener("popstate", readAddress);
  window.addEventListener("hashchange", readAddress);
  show();
  document.documentElement.dataset.ready = "1";
}

start().catch(app.problem);
