// Bits of a record as values: the same rules as runtime/decode/fields/value.h, which a test compares.

const FIELD_TYPES = [
  "uint",
  "int",
  "bool",
  "float",
  "half",
  "ufixed",
  "sfixed",
  "address",
  "offset",
];

// As a BigInt. Bits after the end are zero.
function readBits(bytes, bit, width) {
  let value = 0n;
  const first = Math.floor(bit / 8);
  const last = Math.floor((bit + width - 1) / 8);
  for (let i = last; i >= first; --i)
    value = (value << 8n) | BigInt(i < bytes.length ? bytes[i] : 0);
  return BigInt.asUintN(width, value >> BigInt(bit % 8));
}

function fieldName({field, index}) {
  return field.after === null ? field.name : field.name + index + field.after;
}

function floatOf(raw) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, Number(raw));
  return view.getFloat32(0);
}

function halfOf(raw) {
  const bits = Number(raw);
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  let value;
  if (exponent === 31) value = fraction === 0 ? Infinity : NaN;
  else if (exponent === 0) value = fraction * 2 ** -24;
  else value = (fraction + 1024) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -value : value;
}

// The address in the form that dumps use: runtime/base/addresses.h, PlainAddress().
function plainAddress(address, bits) {
  address = BigInt.asUintN(Number(bits), address);
  if (address >> 48n === 0n) return address;
  const plain = BigInt.asUintN(57, address);
  if (address !== plain && address !== BigInt.asUintN(64, BigInt.asIntN(57, plain))) return address;
  return plain >> 47n === 0x3ffn ? BigInt.asUintN(48, plain) : plain;
}

// {kind, value, number}: value is a boolean, a number or a BigInt; number is what names belong to.
function decodeValue(field, width, raw) {
  switch (field.type) {
    case "bool":
      return {kind: "bool", value: raw !== 0n, number: raw};
    case "int": {
      const value = BigInt.asIntN(width, raw);
      return {kind: "signed", value, number: BigInt.asUintN(64, value)};
    }
    case "float":
      return {kind: "real", value: floatOf(raw), number: raw};
    case "half":
      return {kind: "real", value: halfOf(raw), number: raw};
    case "ufixed":
      return {kind: "real", value: Number(raw) * 2 ** -field.fraction, number: raw};
    case "sfixed":
      return {
        kind: "real",
        value: Number(BigInt.asIntN(width, raw)) * 2 ** -field.fraction,
        number: raw,
      };
  }
  let number = BigInt.asUintN(64, raw << field.shift);
  let wide = width + Number(field.shift) > 32;
  if (field.log2) {
    number = raw > 63n ? 0n : 1n << raw;
    wide = number > 0xffffffffn;
  }
  if (field.groups !== 0n) {
    number = BigInt.asUintN(
      64,
      (raw === 0n && width < 64 ? 1n << BigInt(width) : raw) * field.groups,
    );
  }
  number = BigInt.asUintN(64, number + field.minus);
  wide = wide || number > 0xffffffffn;
  if (field.type === "uint") return {kind: wide ? "wide" : "unsigned", value: number, number};
  number = plainAddress(number, field.addressBits);
  return {kind: "address", value: number, number};
}

function nameOfValue(field, decoded) {
  return field.names === null ? undefined : field.names.get(decoded.number);
}

const hex = (value) => "0x" + value.toString(16);
const hex8 = (value) => value.toString(16).padStart(8, "0");

function showReal(value) {
  if (!Number.isFinite(value)) return String(value);
  const short = Number(value.toPrecision(9));
  return String(short);
}

function showValue(decoded) {
  switch (decoded.kind) {
    case "bool":
      return String(decoded.value);
    case "real":
      return showReal(decoded.value);
    case "wide":
    case "address":
      return hex(decoded.value);
    default:
      return String(decoded.value);
  }
}

// As in the records of unpack --format=jsonl.
function jsonValue(decoded, width) {
  switch (decoded.kind) {
    case "bool":
      return decoded.value;
    case "real":
      return Number.isFinite(decoded.value) ? decoded.value : null;
    case "wide":
    case "address":
      return hex(decoded.value);
    case "signed":
      return width > 32 ? hex(BigInt.asUintN(width, decoded.value)) : Number(decoded.value);
    default:
      return Number(decoded.value);
  }
}

function showSize(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = Number(bytes);
  let unit = 0;
  for (; value >= 1024 && unit + 1 < units.length; ++unit) value /= 1024;
  return (
    (value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)) +
    " " +
    units[unit]
  );
}
