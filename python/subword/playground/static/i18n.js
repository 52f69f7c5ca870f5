// The words of the page, in English and Chinese.

import { english, chinese } from "./words.js";

const WORDS = { en: english, zh: chinese };
const listeners = [];
let language = "en";

export function t(key, values = {}) {
  const text = WORDS[language][key] ?? english[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

export const number = (value, digits = 0) =>
  value.toLocaleString(language === "zh" ? "zh-CN" : "en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });

export const currentLanguage = () => language;

export function onLanguage(listener) {
  listeners.push(listener);
}

export function preferred() {
  let stored = null;
  try {
    stored = localStorage.getItem("subword-language");
  } catch {
    // Storage may be forbidden.
  }
  return stored ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
}

export function speak(wanted) {
  language = wanted === "zh" ? "zh" : "en";
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const element of document.querySelectorAll("[data-i18n]")) {
    element.textContent = t(element.dataset.i18n);
  }
  for (const element of document.querySelectorAll("[data-i18n-label]")) {
    element.setAttribute("aria-label", t(element.dataset.i18nLabel));
  }
  for (const listener of listeners) listener();
}
