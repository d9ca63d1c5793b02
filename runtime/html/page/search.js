// What a search finds: names of records, fields and values, "FIELD=VALUE", addresses.

const SLICE = 40; // milliseconds of work between two pictures of the page

function lettersOf(glob) {
  return glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");
}

// With * or ? the whole text must match, else a part of it; any case.
function textTest(wanted) {
  const whole = /[*?]/.test(wanted);
  const pattern = new RegExp(whole ? "^" + lettersOf(wanted) + "$" : lettersOf(wanted), "i");
  return (text) => pattern.test(text);
}

class Query {
  constructor(store, text) {
    this.store = store;
    this.text = text.trim();
    this.kinds = null;
    const equals = /^(.+?)\s*=\s*(.*)$/.exec(this.text);
    if (/^(0x)?[0-9a-f]{4,16}$/i.test(this.text) && /^0x|[0-9]/i.test(this.text)) {
      this.address = BigInt(/^0x/i.test(this.text) ? this.text : "0x" + this.text);
    }
    if (equals && equals[2] !== "") this.byValue(textTest(equals[1]), equals[2]);
    else this.byName(textTest(this.text));
  }

  byName(test) {
    this.kinds = this.store.kinds.map((kind) => test(kind.name));
    // Of each shape: whether a field is called so, and the fields that have a value called so.
    const enums = new Map();
    const valuesOf = (names) => {
      if (names === null) return null;
      if (!enums.has(names)) {
        const found = [...names].filter(([, name]) => test(name)).map(([value]) => value);
        enums.set(names, found.length === 0 ? null : new Set(found));
      }
      return enums.get(names);
    };
    this.shapes = this.store.shapes.map((shape) => {
      const checks = [];
      for (const one of shape) {
        if (test(fieldName(one))) return true;
        const values = valuesOf(one.field.names);
        if (values !== null) checks.push({one, test: (decoded) => values.has(decoded.number)});
      }
      return checks.length === 0 ? false : checks;
    });
    this.notes = test;
  }

  byValue(test, wanted) {
    const name = textTest(/[*?]/.test(wanted) ? wanted : wanted.replace(/^/, "*") + "*");
    const exact = wanted.toLowerCase();
    const matches = (field) => (decoded) => {
      const named = nameOfValue(field, decoded);
      const shown = showValue(decoded);
      return (
        shown === exact ||
        (decoded.kind !== "real" && decoded.kind !== "bool" && hex(decoded.number) === exact) ||
        (named !== undefined && (named.toLowerCase() === exact || name(named)))
      );
    };
    this.shapes = this.store.shapes.map((shape) => {
      const checks = shape
        .filter((one) => test(fieldName(one)))
        .map((one) => ({one, test: matches(one.field)}));
      return checks.length === 0 ? false : checks;
    });
    this.notes = null;
  }

  matches(i) {
    const {store} = this;
    if (this.kinds !== null && this.kinds[store.kind[i]]) return true;
    const shape = store.shape[i];
    if (shape >= 0) {
      const checks = this.shapes[shape];
      if (checks === true) return true;
      if (checks !== false) {
        const {bytes} = store.restOf(i);
        if (
          checks.some(({one, test}) =>
            test(decodeValue(one.field, one.width, readBits(bytes, one.bit, one.width))),
          )
        )
          return true;
      }
    } else if (this.notes !== null && store.restOf(i).notes.some((note) => this.notes(note.text))) {
      return true;
    }
    return this.address !== undefined && this.hasAddress(i);
  }

  hasAddress(i) {
    const {store} = this;
    if (!store.isRegister(i)) {
      const begin = store.exactAddressOf(i);
      if (
        this.address === begin ||
        (this.address > begin && this.address < begin + BigInt(store.size[i]))
      )
        return true;
    }
    return store.shape[i] >= 0 && store.leadsOf(i).some((lead) => lead.address === this.address);
  }
}

// Calls done(records that match) at the end, and progress(number so far) on the way. Returns a
// function that stops it.
function startSearch(query, count, done, progress) {
  const found = [];
  let i = 0;
  let stopped = false;
  const run = () => {
    if (stopped) return;
    const until = performance.now() + SLICE;
    while (i < count && ((i & 255) !== 0 || performance.now() < until || i === 0)) {
      if (query.matches(i)) found.push(i);
      ++i;
    }
    if (i >= count) return done(Int32Array.from(found));
    // The next record begins a slice of its own.
    if (query.matches(i)) found.push(i);
    ++i;
    progress(found.length);
    setTimeout(run, 0);
  };
  run();
  return () => {
    stopped = true;
  };
}
