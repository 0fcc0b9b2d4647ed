"use strict";
// Theme, contents on a phone, guesses and calculators. Without it every page reads well: a
// guess is a list, a reveal opens by itself, a calculator shows one worked example.
(() => {
  const zh = document.documentElement.lang.startsWith("zh");
  const say = zh
    ? { you: "你猜的是 ", right: "，猜对了。", wrong: "。答案是 ", end: "。",
        noted: "记下了。往下读，看看机器怎么说。", skipped: "你还没有猜。答案是 " }
    : { you: "You guessed ", right: ", and that is right.", wrong: ". The answer is ", end: ".",
        noted: "Noted. Read on, and see what the machine says.",
        skipped: "You made no guess. The answer is " };
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const store = {  // a private window may refuse
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(key, value); } catch { /* not kept */ } },
  };

  // Theme
  const root = document.documentElement.classList;
  const theme = document.getElementById("themetoggle");
  const show = () => theme.setAttribute("aria-pressed", String(root.contains("dark-mode")));
  theme.addEventListener("click", () => {
    const next = root.contains("dark-mode") ? "light" : "dark";
    root.remove("dark-mode", "light-mode");
    root.add(next + "-mode");
    store.set("book-theme", next);
    show();
  });
  show();

  // Language: the same section of the same page
  const language = document.getElementById("langswitch");
  const base = language.getAttribute("href");
  const point = () => { language.href = base + location.hash; };
  addEventListener("hashchange", point);
  point();

  // Contents on a narrow screen
  const menu = document.getElementById("menutoggle");
  const open = (yes) => {
    menu.setAttribute("aria-expanded", String(yes));
    document.body.classList.toggle("menu-open", yes);
  };
  menu.addEventListener("click", () => open(menu.getAttribute("aria-expanded") !== "true"));
  addEventListener("keydown", (e) => { if (e.key === "Escape") open(false); });

  // Guesses: a list of choices becomes a group of radio buttons
  const guesses = {};
  for (const section of all(".guess[data-quiz]")) {
    const id = section.dataset.quiz, list = section.querySelector("ul, ol");
    const fields = document.createElement("fieldset"), legend = document.createElement("legend");
    legend.append(...all(":scope > p", section));
    fields.append(legend);
    const labels = {};
    for (const choice of all(":scope > li", list)) {
      const letter = choice.textContent.trim()[0];
      const label = document.createElement("label"), text = document.createElement("span");
      const radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: "quiz-" + id, value: letter });
      text.append(...choice.childNodes);
      label.append(radio, text);
      fields.append(label);
      labels[letter] = label;
    }
    const said = document.createElement("p");
    said.className = "said";
    said.setAttribute("role", "status");
    list.replaceWith(fields, said);
    const key = "book-guess-" + id, before = labels[store.get(key)];
    if (before) {
      before.firstChild.checked = true;
      said.textContent = say.noted;
    }
    fields.addEventListener("change", (e) => {
      store.set(key, e.target.value);
      said.textContent = say.noted;
    });
    guesses[id] = { answer: section.dataset.answer, fields, labels, said };
  }
  for (const reveal of all("details.reveal[data-quiz]")) {
    const guess = guesses[reveal.dataset.quiz];
    if (!guess) continue;
    const note = document.createElement("p");
    note.className = "kicker";
    reveal.querySelector("summary").after(note);
    reveal.addEventListener("toggle", () => {
      if (!reveal.open) return;
      const { answer, fields, labels, said } = guess;
      const pick = fields.querySelector("input:checked")?.value;
      note.textContent = !pick ? say.skipped + answer + say.end
        : say.you + pick + (pick === answer ? say.right : say.wrong + answer + say.end);
      said.textContent = note.textContent;
      for (const [letter, label] of Object.entries(labels)) {
        label.classList.toggle("right", letter === answer);
        label.classList.toggle("wrong", letter === pick && letter !== answer);
      }
    });
  }

  // Calculators: what calculators.js computes, with a unit that fits
  const three = (value) => value >= 999.5 ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(3)));
  const scaled = (value, steps) => {
    const [size, unit] = steps.filter(([size]) => value >= size * 0.9995).at(-1) ?? steps[0];
    return three(value / size) + " " + unit;
  };
  const formats = {
    count: (value) => Math.floor(value).toLocaleString("en"),
    number: three,
    bytes: (value) => scaled(value, [[1, zh ? "字节" : "bytes"], [2 ** 10, "KiB"],
      [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]]),
    seconds: (value) => scaled(value, zh ? [[1e-6, "微秒"], [1e-3, "毫秒"], [1, "秒"]]
      : [[1e-6, "µs"], [1e-3, "ms"], [1, "s"]]),
    percent: (value) => three(100 * value) + "%",
    number: (value) => three(value),
    rate: (value) => three(value) + (zh ? " token/秒" : " token/s"),
    capacity: (value) => three(value) + (zh ? " GB·秒" : " GB·s"),
    times: (value) => three(value) + (zh ? " 倍" : " times"),
    dollars: (value) => value.toLocaleString("en", value >= 100
      ? { minimumFractionDigits: 2, maximumFractionDigits: 2 }
      : { maximumSignificantDigits: 3 }) + (zh ? " 美元" : " dollars"),
  };
  for (const form of all("form.calculator")) {
    const compute = () => {
      const values = {};
      let good = true;
      for (const field of all("input, select", form)) {
        values[field.name] = Number(field.value);
        const valid = field.value !== "" && field.checkValidity();
        field.setAttribute("aria-invalid", String(!valid));
        good &&= valid;
      }
      const answers = good ? calculators[form.dataset.calculator](values) : {};
      for (const output of all("output", form)) {
        const value = answers[output.name];
        output.textContent = Number.isFinite(value) ? formats[output.dataset.format](value) : "–";
      }
    };
    form.addEventListener("input", compute);
    form.addEventListener("submit", (e) => e.preventDefault());
    compute();
  }
})();
