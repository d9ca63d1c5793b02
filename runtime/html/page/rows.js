// The list of records: a line each, and below those that are open lines with their bits, fields,
// bytes, picture, and what points to them.

const PICTURE_LINES = 14;
const MOST_HEX_LINES = 4096;
const MOST_REFERENCES = 40;
const BRIEF_FIELDS = 6;
const HUES = 8;

class RecordList {
  // `go` has follow(record), showMemory(space, address), showState(work), changed().
  constructor(host, store, places, memory, go) {
    Object.assign(this, {store, places, memory, go});
    this.visible = null; // ascending numbers of records; null: all
    this.open = new Map(); // record: its lines
    this.cursor = {record: -1, sub: 0};
    this.matches = null; // a byte each, of records
    this.wanted = "";
    this.list = new VirtualList(host, (line, inView) => this.render(line, inView));
    this.layOut();
  }

  get length() {
    return this.visible === null ? this.store.count : this.visible.length;
  }
  recordAt(place) {
    return this.visible === null ? place : this.visible[place];
  }
  // Of a record that is shown; -1: it is not.
  placeOf(record) {
    if (this.visible === null) return record < this.store.count ? record : -1;
    const place = this.placeFrom(record);
    return this.visible[place] === record ? place : -1;
  }
  // Of the first record that is shown from `record` on.
  placeFrom(record) {
    if (this.visible === null) return Math.min(record, this.store.count);
    let low = 0;
    let high = this.visible.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.visible[middle] < record) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  setVisible(visible) {
    this.visible = visible;
    this.layOut();
  }

  // Places of open records, and the lines that those before them add.
  layOut() {
    this.spans = [];
    let added = 0;
    const places = [...this.open.keys()]
      .map((record) => this.placeOf(record))
      .filter((place) => place >= 0);
    for (const place of places.sort((a, b) => a - b)) {
      const lines = this.open.get(this.recordAt(place));
      this.spans.push({place, before: added, lines});
      added += lines.height;
    }
    this.list.setCount(this.length + added);
  }

  lineOf(place) {
    let added = 0;
    for (const span of this.spans) {
      if (span.place >= place) break;
      added = span.before + span.lines.height;
    }
    return place + added;
  }

  // {place, sub}: sub 0 is the record's own line, others are its lines from 1 on.
  find(line) {
    let low = 0;
    let high = this.spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const span = this.spans[middle];
      if (span.place + span.before < line) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return {place: line, sub: 0};
    const span = this.spans[low - 1];
    const within = line - span.place - span.before;
    if (within <= span.lines.height) return {place: span.place, sub: within};
    return {place: line - span.before - span.lines.height, sub: 0};
  }

  isOpen(record) {
    return this.open.has(record);
  }

  toggle(record, open = !this.isOpen(record)) {
    if (open === this.isOpen(record)) return;
    if (open) this.open.set(record, this.linesOf(record));
    else this.open.delete(record);
    if (!open && this.cursor.record === record) this.cursor.sub = 0;
    this.layOut();
  }

  closeAll() {
    this.open.clear();
    this.cursor.sub = 0;
    this.layOut();
  }

  // Moves the cursor, and shows it.
  select(record, sub = 0) {
    this.cursor = {record, sub};
    const place = this.placeOf(record);
    if (place >= 0)
      this.list.show(
        this.lineOf(place) + sub,
        sub === 0 && this.isOpen(record) ? Math.min(this.open.get(record).height + 1, 6) : 1,
      );
    this.go.changed();
  }

  moveRecords(by) {
    if (this.length === 0) return;
    const place = this.cursor.record < 0 ? -1 : this.placeFrom(this.cursor.record);
    this.select(this.recordAt(Math.min(Math.max(place + by, 0), this.length - 1)));
  }

  moveLines(by) {
    if (this.length === 0) return;
    const place = this.placeOf(this.cursor.record);
    if (place < 0) return this.moveRecords(by);
    const line = Math.min(
      Math.max(this.lineOf(place) + this.cursor.sub + by, 0),
      this.list.count - 1,
    );
    const found = this.find(line);
    const record = this.recordAt(found.place);
    let sub = found.sub;
    // Below the first line of a picture comes what follows the picture.
    if (sub > 0 && this.open.get(record).lines[sub - 1] === undefined) {
      const {lines} = this.open.get(record);
      while (sub > 0 && sub <= lines.length && lines[sub - 1] === undefined) sub += by > 0 ? 1 : -1;
    }
    this.select(record, Math.min(sub, this.open.get(record)?.height ?? 0));
  }

  // What the cursor's line, or its record, points to first; null: nothing.
  leadAtCursor() {
    const {record, sub} = this.cursor;
    if (record < 0) return null;
    const line = sub > 0 ? this.open.get(record)?.lines[sub - 1] : undefined;
    if (line?.lead) return {from: record, lead: line.lead};
    if (line?.reference !== undefined) return {record: line.reference};
    if (sub > 0 || this.store.shape[record] < 0) return null;
    const leads = this.store.leadsOf(record);
    return leads.length === 0 ? null : {from: record, lead: leads[0]};
  }

  // The lines of an open record. A picture takes several places; all but its first are holes.
  linesOf(record) {
    const {store} = this;
    const rest = store.restOf(record);
    const lines = [];
    for (const fault of rest.faults) lines.push({type: "fault", fault});
    for (const note of rest.notes) lines.push({type: "note", note});
    if (store.picture[record] >= 0) {
      lines.push({type: "picture", picture: store.pictures[store.picture[record]]});
      lines.length += PICTURE_LINES - 1;
    }
    if (store.shape[record] >= 0) this.addFields(store.shapes[store.shape[record]], rest, lines);
    else this.addHex(rest.bytes, lines);
    const references = this.places.referencesTo(record);
    for (const reference of references.slice(0, MOST_REFERENCES))
      lines.push({type: "reference", reference});
    if (references.length > MOST_REFERENCES) {
      lines.push({
        type: "note",
        note: {name: "and", text: `${references.length - MOST_REFERENCES} more that point here`},
      });
    }
    return {lines, height: lines.length, rest};
  }

  // A line for each dword with its bits, and below it the fields that begin in it.
  addFields(shape, rest, lines) {
    const dwords = Math.ceil(rest.bytes.length / 4);
    const inDword = new Map();
    shape.forEach((one, at) => {
      const dword = Math.floor(one.bit / 32);
      if (!inDword.has(dword)) inDword.set(dword, []);
      inDword.get(dword).push(at);
    });
    const leads = new Map(
      rest.leads.filter((lead) => lead.field >= 0).map((lead) => [lead.field, lead]),
    );
    for (let dword = 0; dword < dwords; ++dword) {
      lines.push({type: "dword", dword, shape});
      for (const at of inDword.get(dword) || [])
        lines.push({type: "field", at, one: shape[at], lead: leads.get(at)});
    }
    for (const lead of rest.leads) if (lead.field < 0) lines.push({type: "lead", lead});
  }

  addHex(bytes, lines) {
    const perLine = 16;
    const most = Math.min(Math.ceil(bytes.length / perLine), MOST_HEX_LINES);
    for (let i = 0; i < most; ++i) lines.push({type: "hex", offset: i * perLine});
    if (most * perLine < bytes.length) {
      lines.push({
        type: "note",
        note: {name: "and", text: `${bytes.length - most * perLine} bytes more`},
      });
    }
  }

  render(line, inView) {
    const {place, sub} = this.find(line);
    const record = this.recordAt(place);
    const isCursor = record === this.cursor.record && sub === this.cursor.sub;
    if (sub === 0) return inView ? this.renderRecord(record, isCursor) : null;
    const {lines, rest} = this.open.get(record);
    const what = lines[sub - 1];
    if (what === undefined || (!inView && what.type !== "picture")) return null;
    const row = this.renderLine(record, what, rest);
    row.classList.add("sub");
    row.classList.toggle("cursor", isCursor);
    row.dataset.record = record;
    row.dataset.sub = sub;
    row.style.setProperty("--inset", Math.min(this.store.depth[record], 6) * 10 + "px");
    row.addEventListener("click", () => this.select(record, sub));
    return row;
  }

  renderRecord(record, isCursor) {
    const {store} = this;
    const kind = store.kindOf(record);
    const isOpen = this.isOpen(record);
    const index = store.index[record];
    const row = element(
      "div",
      {class: `row record ${kind.type}`, role: "listitem", "data-record": record},
      element("button", {
        type: "button",
        class: "open",
        tabindex: -1,
        text: isOpen ? "▾" : "▸",
        "aria-label": isOpen ? "Close" : "Open",
        "aria-expanded": String(isOpen),
        onclick: (event) => {
          event.stopPropagation();
          this.toggle(record);
          this.select(record);
        },
      }),
      element("span", {class: "address", text: hex(store.exactAddressOf(record))}),
    );
    const indent = element("span", {class: "indent"});
    indent.style.width =
      Math.min(store.depth[record], 12) * (window.innerWidth < 760 ? 6 : 12) + "px";
    row.append(indent);
    const name = element(
      "span",
      {class: "name"},
      marked(kind.name + (index >= 0 ? `[${index}]` : ""), this.wanted),
    );
    row.append(name);
    if (this.places.isWork(record)) {
      row.classList.add("work");
      row.append(
        element("button", {
          type: "button",
          class: "badge",
          tabindex: -1,
          title: "What is in effect here (s)",
          text: `${kind.role} ${store.work[record]}`,
          onclick: (event) => {
            event.stopPropagation();
            this.go.showState(record);
          },
        }),
      );
    }
    if (store.flags[record] & Flag.faults) {
      row.append(element("span", {class: "badge fault", text: "fault"}));
    }
    if (store.picture[record] >= 0) row.append(element("span", {class: "badge", text: "image"}));
    row.append(element("span", {class: "brief"}, marked(this.briefOf(record), this.wanted)));
    row.classList.toggle("cursor", isCursor);
    row.classList.toggle("match", this.matches !== null && this.matches[record] === 1);
    row.addEventListener("click", () => this.select(record));
    row.addEventListener("dblclick", () => this.toggle(record));
    return row;
  }

  // Some fields that are not zero, in a line.
  briefOf(record) {
    const {store} = this;
    const {bytes, notes} = store.restOf(record);
    if (store.shape[record] < 0) {
      const words = notes.slice(0, 4).map((note) => note.name + " " + note.text);
      return words.join(", ") || `${store.size[record]} bytes`;
    }
    const words = [];
    for (const one of store.shapes[store.shape[record]]) {
      if (one.field.length) continue;
      const raw = readBits(bytes, one.bit, one.width);
      if (raw === 0n) continue;
      if (words.length === BRIEF_FIELDS) {
        words.push("…");
        break;
      }
      const decoded = decodeValue(one.field, one.width, raw);
      const named = nameOfValue(one.field, decoded);
      const shown = named === undefined ? showValue(decoded) : named;
      words.push(
        decoded.kind === "bool" && decoded.value ? fieldName(one) : `${fieldName(one)} ${shown}`,
      );
    }
    return words.join(" · ");
  }

  renderLine(record, what, rest) {
    switch (what.type) {
      case "fault":
        return element(
          "div",
          {class: "row"},
          element("span", {class: "label fault", text: "fault"}),
          element("span", {
            class: "value fault",
            title: what.fault.text,
            text: `${what.fault.kind}, bits ${what.fault.bit + what.fault.width - 1}:${what.fault.bit}: ${what.fault.text}`,
          }),
        );
      case "note":
        return element(
          "div",
          {class: "row"},
          element("span", {class: "label", text: what.note.name}),
          element(
            "span",
            {class: "value", title: what.note.text},
            marked(what.note.text, this.wanted),
          ),
        );
      case "picture":
        return this.renderPicture(what.picture);
      case "dword":
        return this.renderDword(what, rest);
      case "field":
        return this.renderField(record, what, rest);
      case "lead":
        return element(
          "div",
          {class: "row"},
          element("span", {class: "label", text: "to"}),
          element("span", {class: "value"}, this.targetOf(record, what.lead)),
        );
      case "reference":
        return element(
          "div",
          {class: "row"},
          element("span", {class: "label", text: "from"}),
          element(
            "span",
            {class: "value"},
            linkButton(this.nameOf(what.reference), () => this.go.follow(what.reference)),
          ),
        );
      default:
        return this.renderHex(record, what, rest);
    }
  }

  nameOf(record) {
    const {store} = this;
    const index = store.index[record];
    const work = this.places.isWork(record)
      ? `, ${store.kindOf(record).role} ${store.work[record]}`
      : "";
    return `${store.kindOf(record).name}${index >= 0 ? `[${index}]` : ""} at ${hex(store.exactAddressOf(record))}${work}`;
  }

  renderDword({dword, shape}, {bytes}) {
    const word = Number(readBits(bytes, dword * 32, 32));
    const have = Math.min(32, bytes.length * 8 - dword * 32);
    const strip = element("span", {class: "bits", "aria-hidden": "true"});
    for (let bit = have - 1; bit >= 0; --bit) {
      const at = dword * 32 + bit;
      const owner = shape.findIndex((one) => at >= one.bit && at < one.bit + one.width);
      const starts = owner >= 0 && at === shape[owner].bit + shape[owner].width - 1;
      const one = ((word >>> bit) & 1) === 1;
      const cell = element("span", {
        class:
          "bit" +
          (one ? " one" : "") +
          (owner >= 0 ? " h" + (owner % HUES) : "") +
          (starts ? " start" : "") +
          (bit % 8 === 7 && bit !== have - 1 ? " byte" : ""),
        text: one ? "1" : "0",
        title: `bit ${bit} of dword ${dword}` + (owner >= 0 ? ": " + fieldName(shape[owner]) : ""),
      });
      if (owner >= 0) cell.dataset.field = owner;
      strip.append(cell);
    }
    return element(
      "div",
      {class: "row dword"},
      element("span", {class: "label", text: "dw " + dword}),
      element("span", {class: "hex", text: hex8(word).slice(8 - have / 4)}),
      strip,
    );
  }

  renderField(record, {at, one, lead}, {bytes}) {
    const raw = readBits(bytes, one.bit, one.width);
    const decoded = decodeValue(one.field, one.width, raw);
    const named = nameOfValue(one.field, decoded);
    const from = one.bit % 32;
    const name = fieldName(one);
    const value = element("span", {class: "value"});
    const shown = showValue(decoded);
    value.append(marked(shown, this.wanted));
    if (named !== undefined) value.append(" (", marked(named, this.wanted), ")");
    if (one.field.unit !== null)
      value.append(element("span", {class: "quiet", text: " " + one.field.unit}));
    if (hex(raw) !== shown && raw > 9n && named === undefined && !lead) {
      value.append(element("span", {class: "quiet", text: "  " + hex(raw)}));
    }
    if (lead) value.append("  → ", this.targetOf(record, lead));
    const row = element(
      "div",
      {class: "row field-line"},
      element("span", {
        class: "label",
        text: one.width === 1 ? String(from) : `${from + one.width - 1}:${from}`,
      }),
      element("span", {class: "chip h" + (at % HUES)}),
      element("span", {class: "field", title: name}, marked(name, this.wanted)),
      value,
    );
    row.addEventListener("mouseenter", () => this.light(at, true));
    row.addEventListener("mouseleave", () => this.light(at, false));
    return row;
  }

  // Marks a field's bits where they are in view.
  light(field, on) {
    for (const cell of this.list.rows.querySelectorAll(`.bit[data-field="${field}"]`))
      cell.classList.toggle("lit", on);
  }

  targetOf(record, lead) {
    const place = hex(lead.address);
    const target = this.places.target(record, lead);
    if (target >= 0) return linkButton(this.nameOf(target), () => this.go.follow(target));
    const buffer = this.memory.bufferOf(lead.space, lead.address);
    const name = buffer === null ? "memory" : buffer.name || "a buffer";
    return linkButton(`${name} at ${place}`, () => this.go.showMemory(lead.space, lead.address));
  }

  renderPicture(picture) {
    const row = element(
      "div",
      {class: "row picture"},
      element("span", {class: "label", text: "image"}),
    );
    row.style.setProperty("--lines", PICTURE_LINES);
    if (picture.columns !== 0) row.append(pictureCanvas(picture, (PICTURE_LINES - 1) * ROW));
    row.append(element("span", {class: "value", text: pictureWords(picture)}));
    return row;
  }

  renderHex(record, {offset}, {bytes}) {
    const some = bytes.subarray(offset, offset + 16);
    const words = [];
    for (let i = 0; i < some.length; i += 4) {
      const n = Math.min(4, some.length - i);
      words.push(hex8(Number(readBits(some, i * 8, n * 8))).slice(8 - 2 * n));
    }
    const letters = [...some]
      .map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·"))
      .join("");
    return element(
      "div",
      {class: "row"},
      element("span", {class: "label", text: "+" + offset.toString(16)}),
      element("span", {class: "hexdump", text: words.join(" ").padEnd(37) + letters}),
    );
  }
}

function pictureWords(picture) {
  const size =
    `${picture.width}×${picture.height}` + (picture.depth > 1n ? `×${picture.depth}` : "");
  const words = [picture.use, size, picture.format, picture.tiling].filter(Boolean);
  const why = picture.columns === 0 ? "not shown: " + picture.note : picture.note;
  return words.join(", ") + (why ? ` — ${why}` : "");
}
