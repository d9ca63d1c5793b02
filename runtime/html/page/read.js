// The content of the page: unpacks it, and reads its messages into tables. What a record has besides
// its header is read where it is needed. runtime/html/messages.h describes the form.

const TYPES = ["packet", "struct", "data", "unknown", "register"];
const ROLES = ["", "draw", "dispatch"];
const Message = {
  text: 1,
  enumeration: 2,
  kind: 3,
  field: 4,
  shape: 5,
  record: 6,
  picture: 7,
  fact: 8,
};
const Flag = {draw: 1, dispatch: 2, picture: 4, faults: 8, index: 16, register: 32, shape: 64};

// Reads numbers and texts, one after the other.
class Cursor {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }
  number() {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      // Also after the end of the bytes.
      if (!(byte >= 128)) return value;
      factor *= 128;
    }
  }
  wide() {
    const low = this.number();
    return BigInt(low) | (BigInt(this.number()) << 32n);
  }
  take(size) {
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
  text(size) {
    return decoder.decode(this.take(size));
  }
  inline() {
    return this.text(this.number());
  }
}
const decoder = new TextDecoder();

function bytesOfBase64(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// All bytes of the content. Removes its elements: their text is not needed any more.
async function unpackContent() {
  const unpacked = new DecompressionStream("deflate");
  const writer = unpacked.writable.getWriter();
  const write = async () => {
    for (const element of document.querySelectorAll('script[type="application/x-packsmith"]')) {
      const bytes = bytesOfBase64(element.textContent);
      element.remove();
      await writer.write(bytes);
    }
    await writer.close();
  };
  const written = write();
  // What cannot be read ends the reading, too.
  written.catch((error) => writer.abort(error).catch(() => {}));
  const chunks = [];
  let size = 0;
  const reader = unpacked.readable.getReader();
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
  }
  await written;
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

// A column of records that grows.
class Column {
  constructor(Type) {
    this.values = new Type(1024);
  }
  set(i, value) {
    if (i >= this.values.length) {
      const more = new this.values.constructor(this.values.length * 2);
      more.set(this.values);
      this.values = more;
    }
    this.values[i] = value;
  }
}

const COLUMNS = {
  kind: Uint32Array,
  flags: Uint8Array,
  parent: Int32Array,
  depth: Uint16Array,
  call: Uint16Array,
  submission: Uint32Array,
  space: Uint32Array,
  low: Uint32Array,
  high: Uint32Array,
  size: Uint32Array,
  work: Uint32Array,
  picture: Int32Array,
  index: Int32Array,
  shape: Int32Array,
  body: Uint32Array,
  end: Uint32Array,
};

class Store {
  constructor(bytes) {
    this.bytes = bytes;
    this.texts = [];
    this.enums = [];
    this.kinds = [];
    this.fields = [];
    this.shapes = [];
    this.pictures = [];
    this.submissions = [];
    this.facts = []; // all, with the number of records before each
    this.count = 0;
    this.columns = Object.fromEntries(
      Object.entries(COLUMNS).map(([name, Type]) => [name, new Column(Type)]),
    );
    const cursor = new Cursor(bytes, 0);
    while (cursor.at < bytes.length) {
      const message = bytes[cursor.at++];
      const end = cursor.number() + cursor.at;
      this.read(message, cursor, end);
      cursor.at = end;
    }
    // Plain arrays from here on: this.low[i] and so on.
    for (const [name, column] of Object.entries(this.columns))
      this[name] = column.values.subarray(0, this.count);
    delete this.columns;
  }

  read(message, cursor, end) {
    switch (message) {
      case Message.text:
        this.texts.push(cursor.text(end - cursor.at));
        break;
      case Message.enumeration:
        this.readEnum(cursor);
        break;
      case Message.kind: {
        const name = this.texts[cursor.number()];
        this.kinds.push({
          name,
          type: TYPES[cursor.number()],
          role: ROLES[cursor.number()],
          serves: ROLES[cursor.number()],
        });
        break;
      }
      case Message.field:
        this.readField(cursor);
        break;
      case Message.shape:
        this.readShape(cursor);
        break;
      case Message.record:
        this.readRecord(cursor, end);
        break;
      case Message.picture:
        this.readPicture(cursor, end);
        break;
      case Message.fact: {
        const fact = JSON.parse(cursor.text(end - cursor.at));
        fact.before = this.count;
        this.facts.push(fact);
        if (fact.type === "submission") this.submissions.push(fact);
        break;
      }
    }
  }

  readEnum(cursor) {
    const names = new Map();
    for (let n = cursor.number(); n > 0; --n) {
      const value = cursor.wide();
      const name = this.texts[cursor.number()];
      // Of several names the first.
      if (!names.has(value)) names.set(value, name);
    }
    this.enums.push(names);
  }

  readField(cursor) {
    const optional = (from) => {
      const number = cursor.number();
      return number === 0 ? null : from[number - 1];
    };
    const name = this.texts[cursor.number()];
    const after = optional(this.texts);
    const type = FIELD_TYPES[cursor.number()];
    const fraction = cursor.number();
    const shift = BigInt(cursor.number());
    const flags = cursor.number();
    const addressBits = BigInt(cursor.number());
    const unit = optional(this.texts);
    const names = optional(this.enums);
    const minus = cursor.wide();
    const groups = cursor.wide();
    this.fields.push({
      name,
      after,
      type,
      fraction,
      shift,
      log2: (flags & 1) !== 0,
      length: (flags & 2) !== 0,
      addressBits,
      unit,
      names,
      minus,
      groups,
    });
  }

  readShape(cursor) {
    const fields = [];
    let before = 0;
    for (let n = cursor.number(); n > 0; --n) {
      const field = this.fields[cursor.number()];
      const step = cursor.number();
      const bit = before + (step % 2 === 1 ? -(step - 1) / 2 : step / 2);
      const width = cursor.number();
      const index = cursor.number() - 1;
      fields.push({field, bit, width, index});
      before = bit + width;
    }
    this.shapes.push(fields);
  }

  readRecord(cursor, end) {
    const i = this.count++;
    const set = (name, value) => this.columns[name].set(i, value);
    set("kind", cursor.number());
    const flags = cursor.number();
    set("flags", flags);
    const up = cursor.number();
    set("parent", up === 0 ? -1 : i - up);
    set("depth", cursor.number());
    set("call", cursor.number());
    set("submission", cursor.number());
    set("space", cursor.number());
    set("low", cursor.number());
    set("high", cursor.number());
    set("size", cursor.number());
    const draw = flags & Flag.draw ? cursor.number() : 0;
    const dispatch = flags & Flag.dispatch ? cursor.number() : 0;
    set("work", draw || dispatch);
    set("picture", flags & Flag.picture ? cursor.number() : -1);
    set("index", flags & Flag.index ? cursor.number() : -1);
    set("shape", flags & Flag.shape ? cursor.number() : -1);
    set("body", cursor.at);
    set("end", end);
  }

  readPicture(cursor, end) {
    const picture = {number: this.pictures.length, records: []};
    picture.space = cursor.number();
    for (const name of ["address", "width", "height", "depth", "pitch"])
      picture[name] = cursor.wide();
    for (const name of ["format", "tiling", "use"]) picture[name] = this.texts[cursor.number()];
    picture.note = cursor.inline();
    picture.columns = cursor.number();
    picture.rows = cursor.number();
    picture.rgba = cursor.take(end - cursor.at);
    this.pictures.push(picture);
  }

  kindOf(i) {
    return this.kinds[this.kind[i]];
  }
  // Addresses are exact numbers below 2^53; above, neighbours may fall together.
  addressOf(i) {
    return this.high[i] * 4294967296 + this.low[i];
  }
  exactAddressOf(i) {
    return (BigInt(this.high[i]) << 32n) | BigInt(this.low[i]);
  }
  isRegister(i) {
    return (this.flags[i] & Flag.register) !== 0;
  }
  submissionOf(i) {
    return this.submissions[this.submission[i] - 1] || null;
  }

  // The parts of a record after its header, as far as they are asked for.
  leadsOf(i) {
    const cursor = new Cursor(this.bytes, this.body[i]);
    return readLeads(cursor);
  }
  leadCountOf(i) {
    return new Cursor(this.bytes, this.body[i]).number();
  }
  // The same as leadsOf(), without making anything: visit(space, low half, high half).
  forEachLead(i, visit) {
    const cursor = new Cursor(this.bytes, this.body[i]);
    for (let n = cursor.number(); n > 0; --n) {
      cursor.number();
      visit(cursor.number(), cursor.number(), cursor.number());
      cursor.number();
      cursor.number();
    }
  }
  keysOf(i) {
    const cursor = new Cursor(this.bytes, this.body[i]);
    for (let n = cursor.number(); n > 0; --n) for (let k = 0; k < 6; ++k) cursor.number();
    return readNumbers(cursor);
  }
  restOf(i) {
    const cursor = new Cursor(this.bytes, this.body[i]);
    const leads = readLeads(cursor);
    readNumbers(cursor);
    const faults = [];
    for (let n = cursor.number(); n > 0; --n) {
      faults.push({
        kind: this.texts[cursor.number()],
        bit: cursor.number(),
        width: cursor.number(),
        text: cursor.inline(),
      });
    }
    const notes = [];
    for (let n = cursor.number(); n > 0; --n)
      notes.push({name: this.texts[cursor.number()], text: cursor.inline()});
    const same = cursor.number();
    const bytes =
      same === 0
        ? this.bytes.subarray(cursor.at, this.end[i])
        : this.bytes.subarray(this.end[i - same] - this.size[i - same], this.end[i - same]);
    return {leads, faults, notes, bytes};
  }
}

function readNumbers(cursor) {
  const all = [];
  for (let n = cursor.number(); n > 0; --n) all.push(cursor.number());
  return all;
}

// `field` is the place in the shape, or -1.
function readLeads(cursor) {
  const leads = [];
  for (let n = cursor.number(); n > 0; --n) {
    leads.push({
      field: cursor.number() - 1,
      space: cursor.number(),
      address: cursor.wide(),
      size: cursor.wide(),
    });
  }
  return leads;
}
