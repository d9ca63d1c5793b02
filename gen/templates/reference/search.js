// The search box. The index is a script, since pages from disk may read no other files; it is
// loaded when the reader begins to type.
(() => {
  "use strict";
  const root = document.currentScript.dataset.root;
  const input = document.getElementById("search");
  const list = document.getElementById("results");
  const most = 40;
  let index = null;
  let active = -1;

  // "3DSTATE_VS" and "3dstate vs" are the same.
  const plain = (text) => text.toLowerCase().replace(/[_\s-]+/g, " ").trim();

  // 0 is best; -1 is not found.
  const rank = (name, query, words) => {
    if (name === query) return 0;
    if (name.startsWith(query)) return 1;
    if (name.includes(" " + query)) return 2;
    if (name.includes(query)) return 3;
    if (words.length > 1 && words.every((word) => name.includes(word))) return 4;
    return -1;
  };

  const search = (text) => {
    const query = plain(text);
    if (!query) return [];
    const words = query.split(" ");
    const found = [];
    const add = (score, page, note) => {
      // A field's row has this id, made by reference.py. A page without it opens at its top.
      const place = note && "#" + page[6] + "-" +
          (note.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "") || "_");
      found.push({score, page, note, name: page[0], href: root + page[2] + place});
    };
    const dword = /^0x[0-9a-f]{8}$/.test(query) ? parseInt(query, 16) : null;
    for (const page of index.pages) {
      let score = rank(page.plain, query, words);
      for (const other of page.others) {
        const also = rank(other, query, words);
        if (also >= 0 && (score < 0 || also < score)) score = also;
      }
      if (dword !== null && page[5].length && (dword & page[5][1]) >>> 0 === page[5][0]) score = 0;
      if (score >= 0) add(score, page, "");
    }
    const shown = new Set(found.map((one) => one.page));
    for (const part of index.parts) {
      const score = rank(part.plain, query, words);
      if (score < 0 || score > 3) continue;
      for (const number of part[1]) {
        const page = index.pages[number];
        if (shown.has(page)) continue;
        shown.add(page);
        add(score + 5, page, part[0]);
      }
    }
    found.sort((a, b) => a.score - b.score || a.name.length - b.name.length ||
                         (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return found.slice(0, most);
  };

  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };

  const select = (number) => {
    const items = [...list.querySelectorAll("li[data-href]")];
    if (items.length === 0) return;
    active = (number + items.length) % items.length;
    items.forEach((item, at) => item.setAttribute("aria-selected", String(at === active)));
    items[active].scrollIntoView({block: "nearest"});
    input.setAttribute("aria-activedescendant", items[active].id);
  };

  const render = () => {
    if (!index || !input.value.trim()) return close();
    const found = search(input.value);
    list.textContent = "";
    found.forEach((one, number) => {
      const item = document.createElement("li");
      item.id = "result-" + number;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.href = one.href;
      item.append(one.page[0]);
      const note = document.createElement("small");
      note.textContent = (one.note ? "has " + one.note + " · " : "") + one.page[1] + " · " +
                         one.page[3];
      item.append(note);
      list.append(item);
    });
    if (found.length === 0) {
      const item = document.createElement("li");
      item.className = "none";
      item.textContent = "No results";
      list.append(item);
    }
    list.hidden = false;
    active = -1;
    input.setAttribute("aria-expanded", "true");
    if (found.length > 0) select(0);
  };

  window.packsmithIndex = (loaded) => {
    for (const page of loaded.pages) {
      page.plain = plain(page[0]);
      page.others = page[4].map(plain);
    }
    for (const part of loaded.parts) part.plain = plain(part[0]);
    index = loaded;
    render();
  };
  const load = () => {
    if (document.getElementById("search-index")) return;
    const script = document.createElement("script");
    script.id = "search-index";
    script.src = root + "search-index.js";
    document.head.append(script);
  };

  input.addEventListener("focus", load);
  input.addEventListener("input", () => {
    load();
    render();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) render();
      else select(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      const item = list.querySelector("li[aria-selected=true]");
      if (item) location.href = item.dataset.href;
    } else if (event.key === "Escape") {
      if (list.hidden) input.value = "";
      close();
    }
  });
  list.addEventListener("mousedown", (event) => {
    const item = event.target.closest("li[data-href]");
    if (item) location.href = item.dataset.href;
  });
  input.addEventListener("blur", () => setTimeout(close, 150));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input &&
        !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
})();
