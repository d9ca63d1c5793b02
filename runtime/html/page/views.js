// The other views: the summary, pictures, and the map of memory.

const MOST_LISTED = 300;

// A report's lines, in which addresses of records are links.
function reportText(text, places, go) {
  const pre = element("pre");
  let at = 0;
  for (const found of text.matchAll(/0x[0-9a-f]{4,16}\b/g)) {
    let record = -1;
    for (const space of places.spaces) {
      for (const i of places.at(space, BigInt(found[0]))) {
        record = i;
        break;
      }
      if (record >= 0) break;
    }
    if (record < 0) continue;
    pre.append(
      text.slice(at, found.index),
      linkButton(found[0], () => go.follow(record)),
    );
    at = found.index + found[0].length;
  }
  pre.append(text.slice(at));
  return pre;
}

function tableOf(heads, rows) {
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", {text: head})))),
  );
  const body = element("tbody");
  for (const cells of rows) {
    body.append(
      element(
        "tr",
        {},
        ...cells.map((cell) =>
          element(
            "td",
            {
              class:
                typeof cell === "number" ? "number" : cell?.className === "text" ? "text" : null,
            },
            typeof cell === "number" ? String(cell) : cell,
          ),
        ),
      ),
    );
  }
  table.append(body);
  return element("div", {class: "scroll"}, table);
}

function counted(count, what, many = what + "s") {
  return `${count} ${count === 1 ? what : many}`;
}

function showSummary(host, store, places, go) {
  const of = (type) => store.facts.filter((fact) => fact.type === type);
  const names = of("files").flatMap((fact) => fact.names);
  document.title = (names.length === 0 ? "" : names.join(", ") + " — ") + "packsmith";
  host.append(element("h1", {text: names.join(", ") || "Dump"}));
  const schemas = of("schema");
  const devices = of("device");
  const facts = element("ul", {class: "facts"});
  const fact = (name, value) =>
    facts.append(element("li", {}, name + " ", element("b", {text: value})));
  schemas.forEach((schema, i) => {
    const device = devices[i] || {};
    fact("device", schema.title);
    for (const [key, name] of [
      ["platform", "platform"],
      ["pci_id", "PCI id"],
      ["chip_id", "chip id"],
      ["driver", "driver"],
      ["uapi", "interface"],
    ]) {
      if (device[key]) fact(name, device[key]);
    }
    fact("description", schema.generation + " " + schema.digest.slice(0, 12));
  });
  host.append(facts);
  // What made the GPU hang comes before anything else.
  for (const report of of("report")) {
    const [verdict, ...rest] = report.text.split(/\n\n/);
    const pre = reportText(verdict, places, go);
    pre.classList.add("verdict");
    host.append(element("h2", {text: "Hang"}), pre);
    if (rest.length !== 0) {
      const details = element(
        "details",
        {open: rest.join("\n\n").length < 6000},
        element("summary", {text: "The whole report"}),
      );
      details.append(reportText(rest.join("\n\n"), places, go));
      host.append(details);
    }
  }
  const totals = element("ul", {class: "facts"});
  for (const s of of("summary")) {
    for (const text of [
      counted(s.submissions, "submission"),
      counted(s.packets, "packet"),
      counted(s.structs, "structure"),
      counted(s.data, "piece of data", "pieces of data"),
      counted(s.draws, "draw"),
      counted(s.dispatches, "dispatch", "dispatches"),
      counted(s.unknown_dwords, "unknown dword"),
      counted(s.problems, "problem"),
      ...s.faults.map((one) => `${one.count} ${one.kind}`),
    ])
      totals.append(element("li", {text}));
  }
  host.append(element("h2", {text: "Content"}), totals);

  const problems = [...of("problem"), ...of("remark")];
  if (problems.length !== 0) {
    host.append(
      element("h2", {text: "Problems and remarks"}),
      element(
        "ul",
        {},
        ...problems
          .slice(0, MOST_LISTED)
          .map((one) =>
            element("li", {class: one.type === "problem" ? "fault" : null, text: one.text}),
          ),
      ),
    );
    if (problems.length > MOST_LISTED)
      host.append(element("p", {text: `and ${problems.length - MOST_LISTED} more`}));
  }
  const first = new Map(); // of each submission: its first record, packets, draws
  const faulty = [];
  let faults = 0;
  for (let i = 0; i < store.count; ++i) {
    if (store.flags[i] & Flag.faults && ++faults <= MOST_LISTED) faulty.push(i);
    const {type} = store.kindOf(i);
    if (type !== "packet") continue;
    if (!first.has(store.submission[i]))
      first.set(store.submission[i], {record: i, packets: 0, works: 0});
    const counts = first.get(store.submission[i]);
    ++counts.packets;
    if (places.isWork(i)) ++counts.works;
  }
  if (faults !== 0) {
    host.append(
      element("h2", {text: "Faults"}),
      tableOf(
        ["record", "address", "what"],
        faulty.map((i) => {
          const text = element("span", {
            class: "text",
            text: store
              .restOf(i)
              .faults.map((fault) => `${fault.kind}: ${fault.text}`)
              .join("; "),
          });
          return [
            store.kindOf(i).name,
            linkButton(hex(store.exactAddressOf(i)), () => go.follow(i)),
            text,
          ];
        }),
      ),
    );
    if (faults > MOST_LISTED)
      host.append(
        element("p", {text: `and ${faults - MOST_LISTED} more: the filter "faults" shows all`}),
      );
  }
  if (store.submissions.length !== 0) {
    host.append(
      element("h2", {text: "Submissions"}),
      tableOf(
        ["", "engine", "kind", "context", "address", "bytes", "packets", "draws, dispatches"],
        store.submissions.slice(0, MOST_LISTED).map((submission, i) => {
          const counts = first.get(i + 1);
          const address =
            counts === undefined
              ? submission.address
              : linkButton(submission.address, () => go.follow(counts.record));
          const length = BigInt(submission.length);
          return [
            submission.index,
            submission.engine || "not known",
            submission.kind,
            submission.context,
            address,
            length === 0n ? "not known" : String(length),
            counts === undefined ? 0 : counts.packets,
            counts === undefined ? 0 : counts.works,
          ];
        }),
      ),
    );
    if (store.submissions.length > MOST_LISTED)
      host.append(element("p", {text: `and ${store.submissions.length - MOST_LISTED} more`}));
  }
}

function showPictures(host, store, go) {
  for (let i = 0; i < store.count; ++i)
    if (store.picture[i] >= 0) store.pictures[store.picture[i]].records.push(i);
  if (store.pictures.length === 0) {
    host.append(element("p", {text: "No packet or structure of this dump describes an image."}));
    return;
  }
  const grid = element("div", {class: "grid"});
  // Pictures first, then images that cannot be shown. Canvases are made when they come into view.
  const order = [...store.pictures].sort(
    (a, b) => (b.columns !== 0) - (a.columns !== 0) || a.number - b.number,
  );
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        watcher.unobserve(entry.target);
        entry.target.replaceChildren(pictureCanvas(entry.target.picture, 180));
      }
    },
    {root: host, rootMargin: "200px"},
  );
  for (const picture of order.slice(0, 2000)) {
    const frame = element("div", {class: "frame"});
    if (picture.columns === 0) frame.textContent = picture.note;
    else {
      frame.picture = picture;
      watcher.observe(frame);
    }
    const users = element(
      "div",
      {},
      linkButton(hex(picture.address), () => go.follow(picture.records[0])),
      picture.records.length > 1 ? ` and ${picture.records.length - 1} more` : "",
    );
    const words = pictureWords(picture);
    grid.append(element("figure", {}, frame, element("figcaption", {}, users, words)));
  }
  host.append(grid);
}

// A line for each mapped range, below it the buffers that begin in it; buffers without memory too.
class MemoryView {
  constructor(host, store, map, go) {
    Object.assign(this, {store, map, go});
    this.lines = [];
    const buffers = [...map.buffers];
    const take = (test) => {
      while (buffers.length !== 0 && test(buffers[0]))
        this.lines.push({type: "buffer", ...buffers.shift()});
    };
    for (const mapped of map.mapped) {
      take(
        (buffer) =>
          buffer.space < mapped.space ||
          (buffer.space === mapped.space && buffer.address < mapped.address),
      );
      this.lines.push({type: "mapped", ...mapped});
      take(
        (buffer) => buffer.space === mapped.space && buffer.address < mapped.address + mapped.size,
      );
    }
    take(() => true);
    this.largest = this.lines.reduce((most, line) => (line.size > most ? line.size : most), 1n);
    this.countKinds();
    const total = map.mapped.reduce((sum, one) => sum + one.size, 0n);
    host.append(
      element("div", {
        class: "head",
        text: `${counted(map.mapped.length, "range")} of memory, ${showSize(total)}; ${counted(map.buffers.length, "buffer")}`,
      }),
    );
    const side = element("div", {class: "memory-list"});
    side.style.display = "flex";
    side.style.flex = "1";
    side.style.minHeight = "0";
    host.append(side);
    this.marked = -1;
    this.list = new VirtualList(side, (line, inView) => (inView ? this.render(line) : null));
    this.list.setCount(this.lines.length);
  }

  // How many records of which kind begin in each line's range.
  countKinds() {
    const {store} = this;
    const bySpace = new Map();
    for (const line of this.lines) {
      line.kinds = new Map();
      line.first = -1;
      if (!bySpace.has(line.space)) bySpace.set(line.space, {mapped: [], buffer: []});
      bySpace.get(line.space)[line.type].push(line);
    }
    const find = (lines, address) => {
      let low = 0;
      let high = lines.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (lines[middle].begin <= address) low = middle + 1;
        else high = middle;
      }
      const line = lines[low - 1];
      return line !== undefined && address < line.begin + Number(line.size) ? line : null;
    };
    for (const line of this.lines) line.begin = Number(line.address);
    for (let i = 0; i < store.count; ++i) {
      const lines = store.isRegister(i) ? undefined : bySpace.get(store.space[i]);
      if (lines === undefined) continue;
      for (const type of ["mapped", "buffer"]) {
        const line = find(lines[type], store.addressOf(i));
        if (line === null) continue;
        const {name, type: what} = store.kindOf(i);
        const key = what === "packet" ? "packets" : name;
        line.kinds.set(key, (line.kinds.get(key) || 0) + 1);
        if (line.first < 0) line.first = i;
      }
    }
  }

  show(space, address) {
    let found = -1;
    this.lines.forEach((line, i) => {
      if (line.space === space && address >= line.address && address < line.address + line.size)
        found = i;
    });
    this.marked = found;
    if (found >= 0) this.list.show(found);
    return found >= 0;
  }

  render(at) {
    const line = this.lines[at];
    const row = element("div", {class: `row ${line.type}` + (at === this.marked ? " cursor" : "")});
    const bar = element("i");
    bar.style.width =
      Math.max(2, (100 * Math.log2(Number(line.size) + 1)) / Math.log2(Number(this.largest) + 1)) +
      "%";
    const kinds = [...line.kinds]
      .sort((a, b) => b[1] - a[1])
      .map(([name, count]) => `${count} ${name}`)
      .join(", ");
    const range = `${hex(line.address)}`;
    row.append(
      element("span", {class: "space", text: "space " + line.space}),
      element(
        "span",
        {class: "range", title: `${range} to ${hex(line.address + line.size)}`},
        line.first < 0 ? range : linkButton(range, () => this.go.follow(line.first)),
        ` +${hex(line.size)}`,
      ),
      element("span", {class: "size", text: showSize(line.size)}),
      element("span", {class: "bar"}, bar),
      element(
        "span",
        {class: "what", title: [line.name, line.words, kinds].filter(Boolean).join(" — ")},
        line.name || (line.type === "buffer" ? "buffer" : ""),
        element("span", {
          class: "quiet",
          text: [line.words, kinds]
            .filter(Boolean)
            .map((text) => "  " + text)
            .join(" "),
        }),
      ),
    );
    return row;
  }
}
