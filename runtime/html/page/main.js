// The page as a whole: views, history, search, filter, keys.

const KEYS = [
  ["j k", "next, previous packet"],
  ["↓ ↑", "next, previous line"],
  ["g G", "first, last packet"],
  ["Space or o", "open or close the packet"],
  ["c", "close all packets"],
  ["Enter", "follow the pointer; else open"],
  ["Backspace", "back to where you were"],
  ["u", "to the packet that points here"],
  ["/", "search: a name, a field, a value, FIELD=VALUE, an address"],
  ["n N", "next, previous match"],
  ["d D", "next, previous draw or dispatch"],
  ["s", "what is in effect at this draw"],
  ["Esc", "leave the search, or the state of a draw"],
  ["f", "filter by name"],
  ["b", "batches"],
  ["1 2 3 4", "summary, packets, images, memory"],
  ["t", "light, dark, or as the system has it"],
  ["?", "this list"],
];

class App {
  constructor(store) {
    this.store = store;
    this.places = new Places(store);
    this.map = new MemoryMap(store);
    this.history = [];
    this.state = -1; // the draw whose state is shown
    this.found = null; // records that the search has found
    this.stopSearch = null;
    const go = {
      follow: (record) => this.follow(record),
      showMemory: (space, address) => this.showMemory(space, address),
      showState: (work) => this.showState(work),
      changed: () => this.changed(),
    };
    this.go = go;
    showSummary(byId("summary"), store, this.places, go);
    // Other views are made when they are first shown: they measure themselves.
    this.made = {
      records: () => {
        this.list = new RecordList(byId("list"), store, this.places, this.map, go);
        this.tree = new BatchTree(byId("tree"), store, this.places, go);
        this.setUpFilters();
      },
      pictures: () => showPictures(byId("pictures"), store, go),
      memory: () => {
        this.memory = new MemoryView(byId("memory"), store, this.map, go);
      },
    };
    this.setUp();
    this.showView("summary");
    const wanted = /^#(\d+)$/.exec(location.hash);
    if (wanted && Number(wanted[1]) < store.count) this.follow(Number(wanted[1]));
  }

  setUp() {
    for (const button of document.querySelectorAll("#views button"))
      button.addEventListener("click", () => this.showView(button.dataset.view));
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.search(byId("query").value);
      byId("query").blur();
      if (this.list) byId("list").focus();
    });
    byId("query").addEventListener("input", () => this.search(byId("query").value, false));
    byId("search-next").addEventListener("click", () => this.nextMatch(1));
    byId("search-previous").addEventListener("click", () => this.nextMatch(-1));
    byId("theme").addEventListener("click", () => nextTheme());
    byId("help-button").addEventListener("click", () => this.showHelp());
    byId("tree-button").addEventListener("click", () => this.toggleTree());
    byId("state-leave").addEventListener("click", () => this.leaveState());
    byId("state-next").addEventListener("click", () => this.nextWork(1));
    byId("state-previous").addEventListener("click", () => this.nextWork(-1));
    for (const [keys, what] of KEYS)
      byId("keys").append(
        element("dt", {}, element("kbd", {text: keys})),
        element("dd", {text: what}),
      );
    document.addEventListener("keydown", (event) => this.onKey(event));
    const measure = () =>
      document.documentElement.style.setProperty("--bar", byId("bar").offsetHeight + "px");
    new ResizeObserver(measure).observe(byId("bar"));
    byId("tree").classList.toggle("closed", window.innerWidth <= 760);
    byId("tree-button").setAttribute("aria-expanded", String(window.innerWidth > 760));
  }

  showView(name) {
    this.view = name;
    for (const page of document.querySelectorAll("main > section"))
      page.hidden = page.dataset.page !== name;
    for (const button of document.querySelectorAll("#views button")) {
      if (button.dataset.view === name) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    }
    if (this.made[name]) {
      const make = this.made[name];
      delete this.made[name];
      make();
    }
    if (name === "records" && this.list.cursor.record < 0 && this.store.count !== 0)
      this.list.moveRecords(1);
  }

  needRecords() {
    if (this.view !== "records") this.showView("records");
  }

  // Where the reader is, for the way back.
  here() {
    return {
      view: this.view,
      record: this.list ? this.list.cursor.record : -1,
      sub: this.list ? this.list.cursor.sub : 0,
      state: this.state,
    };
  }
  remember() {
    this.history.push(this.here());
    if (this.history.length > 500) this.history.shift();
  }
  back() {
    const to = this.history.pop();
    if (to === undefined) return;
    if (to.state !== this.state && this.list) this.setState(to.state);
    this.showView(to.view);
    if (to.view === "records" && to.record >= 0) {
      this.reveal(to.record);
      this.list.select(to.record, this.list.isOpen(to.record) ? to.sub : 0);
    }
  }

  // Takes back filters that hide a record.
  reveal(record) {
    if (this.list.placeOf(record) >= 0) return;
    if (this.state >= 0) this.setState(-1);
    if (this.list.placeOf(record) >= 0) return;
    byId("filter-type").value = byId("filter-engine").value = byId("filter-name").value = "";
    byId("filter-faults").checked = byId("filter-matches").checked = false;
    this.filter();
  }

  follow(record, open = true) {
    this.remember();
    this.needRecords();
    this.reveal(record);
    if (open) this.list.toggle(record, true);
    this.list.select(record);
    if (window.innerWidth <= 760) this.toggleTree(false);
  }

  showMemory(space, address) {
    this.remember();
    this.showView("memory");
    this.memory.show(space, address);
  }

  changed() {
    const {record} = this.list.cursor;
    // Not every browser lets a file change its address.
    try {
      history.replaceState(null, "", "#" + record);
    } catch {
      return;
    }
  }

  // ---- State of a draw ----

  showState(work) {
    this.remember();
    this.needRecords();
    this.setState(work);
    this.list.select(work);
  }
  setState(work) {
    this.state = work;
    byId("state-bar").hidden = work < 0;
    byId("filters").hidden = work >= 0;
    if (work < 0) return this.filter();
    const packets = this.places.packetsInEffect(work);
    byId("state-title").textContent =
      `In effect at ${this.store.kindOf(work).role} ${this.store.work[work]}: ${counted(packets.length - 1, "packet")}`;
    this.list.setVisible(this.places.stateAt(work));
  }
  leaveState() {
    if (this.state < 0) return;
    const work = this.state;
    this.setState(-1);
    this.reveal(work);
    this.list.select(work);
  }
  nextWork(by) {
    this.needRecords();
    const works = this.places.works();
    if (works.length === 0) return;
    const from = this.state >= 0 ? this.state : this.list.cursor.record;
    const next = by > 0 ? works.find((work) => work > from) : works.findLast((work) => work < from);
    if (next === undefined) return;
    if (this.state >= 0) {
      this.setState(next);
      this.list.select(next);
    } else {
      this.reveal(next);
      this.list.select(next);
    }
  }

  // ---- Filter ----

  setUpFilters() {
    const {store} = this;
    const types = [...new Set(store.kinds.map((kind) => kind.type))];
    const add = (select, value, text) => select.append(element("option", {value, text}));
    add(byId("filter-type"), "", "all");
    for (const type of TYPES) if (types.includes(type)) add(byId("filter-type"), type, type);
    add(byId("filter-engine"), "", "all");
    for (const engine of new Set(store.submissions.map((submission) => submission.engine)))
      add(byId("filter-engine"), engine, engine || "not known");
    const names = [...new Set(store.kinds.map((kind) => kind.name))].sort();
    byId("names").append(...names.slice(0, 2000).map((value) => element("option", {value})));
    for (const id of [
      "filter-type",
      "filter-engine",
      "filter-name",
      "filter-faults",
      "filter-matches",
    ]) {
      byId(id).addEventListener("input", () => this.filter());
    }
    this.filter();
  }

  filter() {
    const {store, list} = this;
    const type = byId("filter-type").value;
    const engine = byId("filter-engine").value;
    const name = byId("filter-name").value.trim();
    const faults = byId("filter-faults").checked;
    const matches = byId("filter-matches").checked && list.matches !== null;
    if (!type && !engine && !name && !faults && !matches) {
      list.setVisible(null);
    } else {
      const test = name ? textTest(name) : () => true;
      const kinds = store.kinds.map((kind) => (!type || kind.type === type) && test(kind.name));
      const submissions = store.submissions.map(
        (submission) => !engine || submission.engine === engine,
      );
      const visible = [];
      for (let i = 0; i < store.count; ++i) {
        if (
          !kinds[store.kind[i]] ||
          (faults && !(store.flags[i] & Flag.faults)) ||
          (matches && !list.matches[i])
        )
          continue;
        if (engine && !(store.submission[i] > 0 && submissions[store.submission[i] - 1])) continue;
        visible.push(i);
      }
      list.setVisible(Int32Array.from(visible));
    }
    byId("shown").textContent =
      list.length === store.count
        ? counted(store.count, "record")
        : `${list.length} of ${counted(store.count, "record")}`;
  }

  // ---- Search ----

  search(text, jump = true) {
    text = text.trim();
    if (text === (this.searched ?? "") && this.found !== null) {
      if (jump) this.nextMatch(1);
      return;
    }
    this.searched = text;
    if (this.stopSearch) this.stopSearch();
    this.found = null;
    this.needList();
    this.list.matches = null;
    this.list.wanted = /[*?=]/.test(text) ? "" : text;
    byId("matches").textContent = "";
    if (text === "") {
      this.list.list.redraw();
      if (byId("filter-matches").checked) this.filter();
      return;
    }
    this.jumpWhenFound = jump;
    this.stopSearch = startSearch(
      new Query(this.store, text),
      this.store.count,
      (found) => this.onFound(found),
      (count) => {
        byId("matches").textContent = `${count}…`;
      },
    );
  }
  // Unless the list is there, it is made without being shown to the reader for long.
  needList() {
    if (!this.list) this.showView("records");
  }
  onFound(found) {
    this.stopSearch = null;
    this.found = found;
    const matches = new Uint8Array(this.store.count);
    for (const i of found) matches[i] = 1;
    this.list.matches = matches;
    if (byId("filter-matches").checked && this.state < 0) this.filter();
    this.list.list.redraw();
    this.showMatchCount(-1);
    if (this.jumpWhenFound) this.nextMatch(1, true);
  }
  showMatchCount(at) {
    byId("matches").textContent =
      this.found.length === 0
        ? "nothing found"
        : at < 0
          ? counted(this.found.length, "match", "matches")
          : `${at + 1} of ${this.found.length}`;
  }
  nextMatch(by, inclusive = false) {
    if (this.found === null) {
      this.jumpWhenFound = true;
      if (!this.stopSearch && byId("query").value.trim() !== "") this.search(byId("query").value);
      return;
    }
    if (this.found.length === 0) return;
    this.needRecords();
    const from = this.list.cursor.record;
    let at =
      by > 0
        ? this.found.findIndex((i) => (inclusive ? i >= from : i > from))
        : this.found.findLastIndex((i) => i < from);
    if (at < 0) at = by > 0 ? 0 : this.found.length - 1;
    this.reveal(this.found[at]);
    this.list.select(this.found[at]);
    this.showMatchCount(at);
  }

  // ---- Keys ----

  showHelp() {
    if (!byId("help").open) byId("help").showModal();
  }
  toggleTree(open = byId("tree").classList.contains("closed")) {
    if (open) this.needRecords();
    byId("tree").classList.toggle("closed", !open);
    byId("tree-button").setAttribute("aria-expanded", String(open));
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape") {
      if (typing) event.target.blur();
      else if (this.state >= 0) this.leaveState();
      else if (byId("query").value !== "") {
        byId("query").value = "";
        this.search("");
      }
      return;
    }
    if (typing) return;
    // A button that has the focus keeps its own keys.
    if (event.target.tagName === "BUTTON" && (event.key === "Enter" || event.key === " ")) return;
    const inRecords = (act) => () => {
      this.needRecords();
      act(this.list);
    };
    const actions = {
      j: inRecords((list) => list.moveRecords(1)),
      k: inRecords((list) => list.moveRecords(-1)),
      ArrowDown: this.view === "records" ? () => this.list.moveLines(1) : null,
      ArrowUp: this.view === "records" ? () => this.list.moveLines(-1) : null,
      PageDown:
        this.view === "records"
          ? () => this.list.moveLines(Math.floor(this.list.list.view / ROW))
          : null,
      PageUp:
        this.view === "records"
          ? () => this.list.moveLines(-Math.floor(this.list.list.view / ROW))
          : null,
      g: inRecords((list) => list.moveRecords(-Infinity)),
      G: inRecords((list) => list.moveRecords(Infinity)),
      Home: inRecords((list) => list.moveRecords(-Infinity)),
      End: inRecords((list) => list.moveRecords(Infinity)),
      " ": inRecords((list) => this.toggleCursor(list)),
      o: inRecords((list) => this.toggleCursor(list)),
      c: inRecords((list) => list.closeAll()),
      Enter: inRecords((list) => this.enter(list)),
      Backspace: () => this.back(),
      u: inRecords((list) => this.up(list)),
      "/": () => byId("query").select(),
      n: () => this.nextMatch(1),
      N: () => this.nextMatch(-1),
      d: () => this.nextWork(1),
      D: () => this.nextWork(-1),
      s: inRecords((list) => {
        if (list.cursor.record >= 0) this.stateOf(list.cursor.record);
      }),
      f: inRecords(() => {
        if (this.state >= 0) this.leaveState();
        byId("filter-name").select();
      }),
      b: () => this.toggleTree(),
      t: () => nextTheme(),
      "?": () => this.showHelp(),
      1: () => this.showView("summary"),
      2: () => this.showView("records"),
      3: () => this.showView("pictures"),
      4: () => this.showView("memory"),
    };
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
    if (!action) return;
    event.preventDefault();
    action();
  }

  toggleCursor(list) {
    const {record} = list.cursor;
    if (record < 0) return;
    list.toggle(record);
    list.select(record);
  }
  enter(list) {
    const to = list.leadAtCursor();
    if (to === null) return this.toggleCursor(list);
    if (to.record !== undefined) return this.follow(to.record);
    const target = this.places.target(to.from, to.lead);
    if (target >= 0) this.follow(target);
    else this.showMemory(to.lead.space, to.lead.address);
  }
  up(list) {
    const {record} = list.cursor;
    if (record < 0) return;
    const [reference] = this.places.referencesTo(record);
    const parent = this.store.parent[record];
    if (parent >= 0 || reference !== undefined)
      this.follow(parent >= 0 ? parent : reference, false);
  }
  // Of the draw itself, or of the next one after the record.
  stateOf(record) {
    const work = this.places.isWork(record)
      ? record
      : this.places.works().find((one) => one > record);
    if (work !== undefined) this.showState(work);
  }
}

const THEMES = ["", "dark", "light"];
function setTheme(theme) {
  if (theme === "") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId("theme").title = theme === "" ? "As the system has it (t)" : `Always ${theme} (t)`;
}
function nextTheme() {
  const theme =
    THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "") + 1) % THEMES.length];
  setTheme(theme);
  // A page may not be allowed to keep anything.
  try {
    localStorage.setItem("packsmith-theme", theme);
  } catch {
    return;
  }
}
function keptTheme() {
  try {
    return localStorage.getItem("packsmith-theme") || "";
  } catch {
    return "";
  }
}

async function start() {
  setTheme(THEMES.includes(keptTheme()) ? keptTheme() : "");
  try {
    const store = new Store(await unpackContent());
    byId("loading").hidden = true;
    window.packsmith = new App(store);
  } catch (error) {
    byId("loading").textContent =
      `This page cannot be shown: ${error.message}. It may have been cut off; write it again with unpack --format=html.`;
    throw error;
  }
}
start();
