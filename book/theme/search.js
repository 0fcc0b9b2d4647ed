"use strict";
// Search over the text of all sections. The index is a script, so that it loads from a file
// too. Plain substrings: that way Chinese needs no breaking into words.
(() => {
  const field = document.getElementById("booksearch-field");
  const list = document.getElementById("booksearch-results");
  const zh = document.documentElement.lang.startsWith("zh");
  let loading = null, at = -1;

  const load = () => loading ??= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = "search-data.js";
    script.onload = () => done(window.BOOK_INDEX);
    script.onerror = fail;
    document.head.append(script);
  });

  const close = () => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
    at = -1;
  };

  // A piece of the text around the first term, with all terms marked.
  const excerpt = (text, terms) => {
    const low = text.toLowerCase(), span = document.createElement("span");
    const found = terms.map((term) => low.indexOf(term)).filter((k) => k >= 0);
    const from = Math.max(0, Math.min(...found, text.length) - 24);
    const some = text.slice(found.length ? from : 0).slice(0, 90);
    const escaped = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    some.split(new RegExp("(" + escaped.join("|") + ")", "gi")).forEach((part, k) => {
      if (k % 2) {
        const mark = document.createElement("mark");
        mark.textContent = part;
        span.append(mark);
      } else {
        span.append(part);
      }
    });
    return span;
  };

  // Titles count more than text, chapters more than the reference.
  const score = ([url, title, page, text], terms) => {
    const heads = (title + " " + page).toLowerCase(), low = text.toLowerCase();
    let sum = 0;
    for (const term of terms) {
      const s = (heads.includes(term) ? 10 : 0) + Math.min(5, low.split(term).length - 1);
      if (!s) return 0;
      sum += s;
    }
    return sum + (page ? 0 : 3) + (/^ch\d/.test(url) ? 20 : 0);
  };

  async function find() {
    const terms = field.value.toLowerCase().normalize("NFKC").split(/\s+/).filter(Boolean);
    if (!terms.length) return close();
    const hits = (await load()).map((entry) => [score(entry, terms), entry])
      .filter(([s]) => s > 0).sort((a, b) => b[0] - a[0]).slice(0, 8);
    list.replaceChildren(...hits.map(([, [url, title, page, text]], k) => {
      const li = document.createElement("li"), a = document.createElement("a");
      const b = document.createElement("b");
      li.id = "hit-" + k;
      li.setAttribute("role", "option");
      li.setAttribute("aria-selected", "false");
      a.href = url;
      a.tabIndex = -1;
      b.textContent = page && page !== title ? page + " › " + title : title;
      a.append(b, document.createElement("br"), excerpt(text, terms));
      li.append(a);
      return li;
    }));
    if (!hits.length) {
      const li = document.createElement("li");
      li.textContent = zh ? "没有找到" : "Nothing found";
      li.className = "none";
      list.append(li);
    }
    list.hidden = false;
    at = -1;
    field.setAttribute("aria-expanded", "true");
  }

  field.form.addEventListener("submit", (e) => e.preventDefault());
  field.addEventListener("focus", load, { once: true });
  field.addEventListener("input", find);
  field.addEventListener("keydown", (e) => {
    const items = [...list.querySelectorAll("[role=option]")];
    if (e.key === "Escape") return close();
    if (e.key === "Enter") {
      items[Math.max(0, at)]?.querySelector("a").click();
      return e.preventDefault();
    }
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp" || !items.length) return;
    e.preventDefault();
    at = (at + (e.key === "ArrowDown" ? 1 : items.length - 1) + items.length) % items.length;
    if (e.key === "ArrowUp" && at < 0) at = items.length - 1;
    items.forEach((li, k) => li.setAttribute("aria-selected", String(k === at)));
    field.setAttribute("aria-activedescendant", items[at].id);
  });
  document.addEventListener("click", (e) => {
    if (!e.target.closest("#booksearch")) close();
  });
})();
