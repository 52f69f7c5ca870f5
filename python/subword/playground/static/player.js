// Steps that can be played, stopped, and walked through both ways.

import { fill, make } from "./dom.js";
import { number, onLanguage, t } from "./i18n.js";

const PACE = 1100;

export class Player {
  #at = 0;
  #n = 0;
  #timer = 0;
  #onStep;
  #buttons = {};
  #slider;
  #label;

  /** `onStep` is called with the step to show, 0 being what there is before the first. */
  constructor(box, onStep) {
    this.#onStep = onStep;
    const button = (name, sign, action) => {
      this.#buttons[name] = make("button", { type: "button", "data-step": name, onclick: action }, sign);
      return this.#buttons[name];
    };
    this.#slider = make("input", { type: "range", min: 0, max: 0, value: 0 });
    this.#slider.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.#slider.value));
    });
    this.#label = make("span", { class: "step-label", "aria-live": "polite" });
    const move = (place) => () => {
      this.pause();
      this.go(place());
    };
    fill(
      box,
      make(
        "div",
        { class: "player-buttons" },
        button("to_start", "«", move(() => 0)),
        button("back", "‹", move(() => this.#at - 1)),
        button("play", "", () => (this.#timer ? this.pause() : this.play())),
        button("forward", "›", move(() => this.#at + 1)),
        button("to_end", "»", move(() => this.#n)),
      ),
      this.#slider,
      this.#label,
    );
    this.#buttons.play.classList.add("primary");
    onLanguage(() => this.#say());
    this.#say();
  }

  load(n, at) {
    this.pause();
    this.#n = n;
    this.#slider.max = n;
    this.go(at);
  }

  go(at) {
    this.#at = Math.min(Math.max(at, 0), this.#n);
    this.#slider.value = this.#at;
    this.#say();
    this.#onStep(this.#at);
  }

  play() {
    if (this.#at >= this.#n) this.go(0);
    this.#timer = setInterval(() => {
      if (this.#at >= this.#n) this.pause();
      else this.go(this.#at + 1);
    }, PACE);
    this.#say();
  }

  pause() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#say();
  }

  #say() {
    for (const [name, button] of Object.entries(this.#buttons)) {
      if (name === "play") {
        button.textContent = t(this.#timer ? "pause" : "play");
        button.disabled = this.#n === 0;
        continue;
      }
      button.title = t(name);
      button.setAttribute("aria-label", t(name));
      button.disabled = name === "to_start" || name === "back" ? this.#at === 0 : this.#at >= this.#n;
    }
    this.#slider.setAttribute("aria-label", t("steps"));
    this.#slider.disabled = this.#n === 0;
    const text = this.#at === 0 ? t("start_step") : t("step_of", { at: number(this.#at), n: number(this.#n) });
    if (this.#label.textContent !== text) this.#label.textContent = text;
  }
}
