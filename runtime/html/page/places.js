// Where records are, what points to them, and which packets are in effect at a draw.

// Numbers by their addresses, in typed arrays: a page may have millions. Those of one address come in
// the reverse order in which they were added.
class AddressTable {
  constructor(size) {
    let slots = 16;
    while (slots < 2 * size) slots *= 2;
    this.mask = slots - 1;
    this.heads = new Int32Array(slots).fill(-1);
    this.count = 0;
    for (const name of ["space", "low", "high", "value"]) this[name] = new Uint32Array(size);
    this.next = new Int32Array(size);
  }
  // The slot of an address, or the free one where it belongs.
  slotOf(space, low, high) {
    let slot = low ^ Math.imul(high, 0x85ebca6b) ^ Math.imul(space, 0xc2b2ae35);
    slot = Math.imul(slot ^ (slot >>> 15), 0x9e3779b1);
    slot = (slot ^ (slot >>> 13)) & this.mask;
    for (;;) {
      const at = this.heads[slot];
      if (at < 0) return slot;
      if (this.low[at] === low && this.high[at] === high && this.space[at] === space) return slot;
      slot = (slot + 1) & this.mask;
    }
  }
  add(space, low, high, value) {
    const slot = this.slotOf(space, low, high);
    const at = this.count++;
    this.space[at] = space;
    this.low[at] = low;
    this.high[at] = high;
    this.value[at] = value;
    this.next[at] = this.heads[slot];
    this.heads[slot] = at;
  }
  *valuesOf(space, address) {
    const low = Number(address & 0xffffffffn);
    const high = Number(address >> 32n);
    for (let at = this.heads[this.slotOf(space, low, high)]; at >= 0; at = this.next[at]) {
      yield this.value[at];
    }
  }
}

class Places {
  constructor(store) {
    this.store = store;
    this.spaces = new Set();
    this.records = new AddressTable(store.count);
    // Backwards, so that they come in order.
    for (let i = store.count - 1; i >= 0; --i) {
      if (store.isRegister(i)) continue;
      this.spaces.add(store.space[i]);
      this.records.add(store.space[i], store.low[i], store.high[i], i);
    }
    this.references = null;
    this.holders = new Map();
  }

  // Records that begin at an address, a BigInt, in order.
  at(space, address) {
    return this.records.valuesOf(space, address);
  }

  // The record that a lead of record `from` points to: what was reached through it, else the nearest
  // record there, else one that holds the address; -1: none.
  target(from, lead) {
    const {store} = this;
    let nearest = -1;
    for (const i of this.at(lead.space, lead.address)) {
      if (store.parent[i] === from) return i;
      if (i === from) continue;
      // A packet's batch is its child's child in no order that matters here: the first after it.
      if (nearest < 0 || (nearest < from && i > from)) nearest = i;
    }
    return nearest >= 0 ? nearest : this.holder(lead.space, lead.address);
  }

  // The smallest record that holds the address; -1: none.
  holder(space, address) {
    const {store} = this;
    const key = space + ":" + address;
    if (this.holders.has(key)) return this.holders.get(key);
    const wanted = Number(address);
    let found = -1;
    for (let i = 0; i < store.count; ++i) {
      const size = store.size[i];
      if (size === 0 || store.space[i] !== space) continue;
      const begin = store.addressOf(i);
      if (wanted < begin || wanted >= begin + size || store.isRegister(i)) continue;
      if (found < 0 || size < store.size[found]) found = i;
    }
    this.holders.set(key, found);
    return found;
  }

  // Records that point to a record's address, in order: found out at the first question.
  referencesTo(record) {
    const {store} = this;
    if (this.references === null) {
      let count = 0;
      for (let i = 0; i < store.count; ++i) count += store.leadCountOf(i);
      this.references = new AddressTable(count);
      for (let i = store.count - 1; i >= 0; --i) {
        store.forEachLead(i, (space, low, high) => this.references.add(space, low, high, i));
      }
    }
    if (store.isRegister(record)) return [];
    const all = this.references.valuesOf(store.space[record], store.exactAddressOf(record));
    // Several of its fields may point here.
    return [...new Set(all)];
  }

  // Draws and dispatches, in order.
  works() {
    if (this.allWorks === undefined) {
      this.allWorks = [];
      for (let i = 0; i < this.store.count; ++i) if (this.isWork(i)) this.allWorks.push(i);
    }
    return this.allWorks;
  }
  isWork(i) {
    const kind = this.store.kindOf(i);
    return kind.role !== "" && kind.type === "packet";
  }

  // The end of what was reached through a record: records come after their parent, in a row.
  endOf(record) {
    const {parent, count} = this.store;
    let end = record + 1;
    while (end < count && parent[end] >= record) ++end;
    return end;
  }

  // The packets that have last set what a draw or dispatch uses, in order, and with them `work`.
  packetsInEffect(work) {
    const {store} = this;
    const contextOf = (i) => {
      const submission = store.submissionOf(i);
      return submission === null ? "" : submission.context + "/" + submission.slot;
    };
    const role = store.kindOf(work).role;
    const context = contextOf(work);
    const last = new Map();
    let submission = -1;
    let here = false;
    for (let i = 0; i < work; ++i) {
      if (store.submission[i] !== submission) {
        submission = store.submission[i];
        here = contextOf(i) === context;
      }
      const kind = store.kindOf(i);
      if (!here || kind.type !== "packet") continue;
      for (const key of store.keysOf(i)) last.set(key, i);
    }
    const inEffect = new Set();
    for (const i of last.values()) {
      const {serves} = store.kindOf(i);
      if (serves === "" || serves === role) inEffect.add(i);
    }
    inEffect.add(work);
    return [...inEffect].sort((a, b) => a - b);
  }

  // The same, with all that was reached through them.
  stateAt(work) {
    const all = [];
    for (const packet of this.packetsInEffect(work)) {
      const end = this.endOf(packet);
      for (let i = packet; i < end; ++i) all.push(i);
    }
    return Int32Array.from(all);
  }
}

// Buffers and mapped memory of all dumps.
class MemoryMap {
  constructor(store) {
    const read = (from) => ({
      space: from.space,
      address: BigInt(from.address),
      size: BigInt(from.size),
      name: from.name || "",
      words: [from.tiling && from.tiling + " tiling", from.access, from.flags]
        .filter(Boolean)
        .join(", "),
    });
    const seen = new Set();
    const fresh = (one) => {
      const key = [one.space, one.address, one.size, one.name].join(" ");
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    };
    const order = (a, b) =>
      a.space - b.space || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0);
    const dumps = store.facts.filter((fact) => fact.type === "dump");
    this.mapped = dumps
      .flatMap((dump) => dump.memory.map(read))
      .filter(fresh)
      .sort(order);
    seen.clear();
    this.buffers = dumps
      .flatMap((dump) => dump.buffers.map(read))
      .filter(fresh)
      .sort(order);
  }

  // The buffer that holds an address: the one that starts last, and of these the smallest.
  bufferOf(space, address) {
    let found = null;
    for (const buffer of this.buffers) {
      if (
        buffer.space !== space ||
        address < buffer.address ||
        address >= buffer.address + buffer.size
      )
        continue;
      if (
        found === null ||
        buffer.address > found.address ||
        (buffer.address === found.address && buffer.size < found.size)
      )
        found = buffer;
    }
    return found;
  }
}
