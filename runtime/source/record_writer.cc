#include "runtime/source/record_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::source {
namespace {

using tables::Container;
using tables::kNone;
using tables::Leaf;

constexpr uint64_t kMostInC = 65536;  // PS_SCRATCH in runtime/rebuild/rebuild.h
constexpr absl::string_view kNote = "  // what no member holds";

uint64_t DwordAt(absl::Span<const uint8_t> bytes, uint64_t at, uint64_t end) {
  const auto bits = static_cast<uint32_t>(std::min<uint64_t>(4, end - at) * 8);
  return decode::ReadBits(bytes, at * 8, bits);
}

}  // namespace

std::vector<RecordWriter::Patch> RecordWriter::Patches(absl::Span<const uint8_t> bytes,
                                                       uint64_t begin, uint64_t end) const {
  std::vector<Patch> patches;
  for (uint64_t at = begin; at < end; at += 4) {
    const uint64_t want = DwordAt(bytes, at, end);
    const uint64_t wrong = want ^ DwordAt(packed_, at, end);
    if (wrong == 0) continue;
    patches.push_back(
        {(at - begin) / 4, static_cast<uint32_t>(wrong), static_cast<uint32_t>(want & wrong)});
  }
  return patches;
}

// Bits that do not vary: opcodes and those that must be one.
void RecordWriter::WriteFixed(tables::Range leaves, uint64_t base, bool with_opcodes) {
  for (const Leaf& leaf : tables_.leaves(leaves)) {
    const uint64_t bit = base + leaf.bit;
    const bool opcode = (leaf.flags & tables::kForced) != 0 && with_opcodes;
    const bool ones = (leaf.flags & tables::kMustBeOne) != 0;
    if (!opcode && !ones) continue;
    for (uint32_t at = 0; at < leaf.width; at += 64) {
      const auto width = std::min<uint32_t>(64, leaf.width - at);
      if (bit + at + width > packed_.size() * 8) break;
      const uint64_t value =
          ones || leaf.extra == kNone ? ~uint64_t{0} : tables_.extra(leaf.extra).forced;
      const uint64_t old = decode::ReadBits(packed_, bit + at, width);
      decode::WriteBits(absl::MakeSpan(packed_), bit + at, width,
                        old | (width >= 64 ? value : value & ((uint64_t{1} << width) - 1)));
    }
  }
}

void RecordWriter::WriteLength(const PlacedRecord& record, uint64_t packed_bytes) {
  const Container& container = *record.container;
  if (container.length_leaf == kNone) return;
  const Leaf& leaf = tables_.leaf(container.length_leaf);
  if (leaf.bit + leaf.width > packed_.size() * 8 || leaf.width > 64) return;
  const uint64_t unit = std::max<uint64_t>(1, container.length_unit);
  const uint64_t length = packed_bytes / unit - container.length_bias;
  decode::WriteBits(absl::MakeSpan(packed_), leaf.bit, leaf.width,
                    leaf.width >= 64 ? length : length & ((uint64_t{1} << leaf.width) - 1));
}

// Whole items of the tail.
uint64_t RecordWriter::ItemsOf(const PlacedRecord& record) const {
  const Container& container = *record.container;
  const uint64_t bits = record.bytes.size() * 8;
  if (container.tail_size == 0 || bits <= container.tail_bit) return 0;
  return (bits - container.tail_bit) / container.tail_size;
}

// The size of what the C++ type packs with the record's values.
std::optional<uint64_t> RecordWriter::PackedBytes(const PlacedRecord& record, const Type& type,
                                                  uint64_t items) const {
  const Container& container = *record.container;
  if (type.tail) return type.tail->bit / 8 + items * (type.tail->width / 8);
  if (!type.parts.empty()) return decode::LengthOf(tables_, container, record.bytes);
  uint64_t bytes = 0;
  const decode::Scope scope(tables_, container, record.bytes);
  for (const tables::Variant& variant : tables_.variants(container.variants)) {
    if (variant.bytes > bytes && scope.Holds(variant.when)) bytes = variant.bytes;
  }
  return bytes != 0 ? bytes : container.bytes;
}

std::optional<std::string> RecordWriter::InCpp(const PlacedRecord& record, const Type& type) {
  const Container& container = *record.container;
  const uint64_t size = record.bytes.size();
  const uint64_t items = type.tail ? ItemsOf(record) : 0;
  const uint64_t packs = PackedBytes(record, type, items).value_or(0);
  if (packs == 0 || packs > kMostInC * 16) return std::nullopt;
  const uint64_t fixed = type.tail             ? type.tail->bit / 8
                         : !type.parts.empty() ? uint64_t{container.bytes}
                                               : packs;
  packed_.assign(std::max(size, packs), 0);
  DesignatorReader reader(tables_, spelling_, symbols_, language_, container, record.bytes,
                          record.targets, record.space, packed_);
  std::vector<Initializer> initializers = reader.Read(type.members, type.cpp, 0, fixed * 8);
  WriteFixed(container.leaves, 0, true);
  bool refused = false;

  // Arguments after the packet.
  struct Array {
    std::string type;
    std::vector<Initializer> elements;
  };
  std::vector<Array> arrays;
  if (type.tail) {
    const Tail& tail = *type.tail;
    const Type* item = spelling_.FindType(tail.structure);
    if (item == nullptr && tail.type.empty()) return std::nullopt;
    Array array{item != nullptr ? item->cpp : tail.type, {}};
    for (uint64_t i = 0; i < items; ++i) {
      const uint64_t bit = tail.bit + i * tail.width;
      Initializer one;
      one.has_parts = true;
      one.parts = reader.Read(item != nullptr ? item->members : tail.members,
                              item != nullptr ? item->cpp : tail.type, bit, bit + tail.width);
      array.elements.push_back(std::move(one));
      WriteFixed(container.tail_leaves, bit, true);
    }
    if (items != 0) arrays.push_back(std::move(array));
    refused = items < tail.least || (tail.most != 0 && items > tail.most);
  }
  if (!type.parts.empty()) {
    const absl::Span<const tables::Part> parts = tables_.parts(container.parts);
    if (parts.size() != type.parts.size()) return std::nullopt;
    const decode::PlacedParts placed = decode::PlaceParts(tables_, container, record.bytes);
    for (size_t i = 0; i < parts.size(); ++i) {
      const Type* part_type = spelling_.FindType(type.parts[i].structure);
      if (part_type == nullptr) return std::nullopt;
      const auto place =
          std::find_if(placed.begin(), placed.end(),
                       [&](const decode::PlacedPart& one) { return one.part == &parts[i]; });
      if (type.parts[i].repeated) arrays.push_back({part_type->cpp, {}});
      if (place == placed.end()) continue;
      const Container& nested = tables_.container(parts[i].container);
      for (uint64_t n = 0; n < place->count; ++n) {
        const uint64_t bit = place->bit + n * nested.bytes * 8;
        Initializer one;
        one.has_parts = true;
        one.parts =
            reader.Read(part_type->members, part_type->cpp, bit, bit + uint64_t{nested.bytes} * 8);
        WriteFixed(nested.leaves, bit, true);
        if (type.parts[i].repeated) {
          arrays.back().elements.push_back(std::move(one));
        } else if (!one.parts.empty()) {
          one.member = absl::StrCat(".", type.parts[i].name, " = ");
          initializers.push_back(std::move(one));
        }
      }
    }
    while (!arrays.empty() && arrays.back().elements.empty()) arrays.pop_back();
  }
  WriteLength(record, packs);
  if (type.tail)
    std::fill(packed_.begin() + static_cast<ptrdiff_t>(std::min(packs, packed_.size())),
              packed_.end(), 0);

  std::string text = "  b.put";
  refused = refused || reader.refused();
  if (packs != size) {
    absl::StrAppend(&text, "_sized(", size, ", ");
  } else {
    text += refused ? "_unchecked(" : "(";
  }
  absl::StrAppend(&text, type.cpp, "{");
  const auto line = [&] { return text.size() - (text.rfind('\n') + 1); };
  text += InitializersText(initializers, 2, line(), arrays.empty() ? 3 : 20);
  text += '}';
  for (const Array& array : arrays) {
    absl::StrAppend(&text, ", items<", array.type, ">{");
    absl::StrAppend(&text, InitializersText(array.elements, 2, line(), 3), "}");
  }
  text += ')';
  const std::vector<Patch> patches = Patches(record.bytes, 0, size);
  for (const Patch& patch : patches) {
    absl::StrAppend(&text, "\n      .bits(", patch.dword, ", ", Hex(patch.mask), ", ",
                    Hex(patch.value), ")");
  }
  absl::StrAppend(&text, ";", patches.empty() ? "" : kNote, "\n");
  return text;
}

std::optional<std::string> RecordWriter::InC(const PlacedRecord& record, const Type& type) {
  const Container& container = *record.container;
  const uint64_t size = record.bytes.size();
  if (size > kMostInC / 2) return std::nullopt;
  packed_.assign(size, 0);
  DesignatorReader reader(tables_, spelling_, symbols_, language_, container, record.bytes,
                          record.targets, record.space, packed_);

  std::vector<Piece> pieces;
  const uint64_t bits = size * 8;
  Piece fixed{type.c, &type, &type.c_members, 0, bits, bits, &container};
  if (type.tail) fixed.bits = std::min<uint64_t>(bits, type.tail->bit);
  if (!type.parts.empty()) fixed.bits = std::min<uint64_t>(bits, uint64_t{container.bytes} * 8);
  pieces.push_back(fixed);
  if (type.tail) {
    const Type* item = spelling_.FindType(type.tail->structure);
    for (uint64_t i = 0; i < ItemsOf(record); ++i) {
      const uint64_t bit = type.tail->bit + i * type.tail->width;
      if (item == nullptr) {
        pieces.push_back({"", nullptr, nullptr, bit, type.tail->width, 0, nullptr});
      } else {
        pieces.push_back(
            {item->c, item, &item->c_members, bit, type.tail->width, type.tail->width, nullptr});
      }
    }
  }
  if (!type.parts.empty()) {
    const absl::Span<const tables::Part> parts = tables_.parts(container.parts);
    if (parts.size() != type.parts.size()) return std::nullopt;
    for (const decode::PlacedPart& place : decode::PlaceParts(tables_, container, record.bytes)) {
      const Type* part =
          spelling_.FindType(type.parts[static_cast<size_t>(place.part - parts.data())].structure);
      const Container& nested = tables_.container(place.part->container);
      for (uint64_t n = 0; n < place.count; ++n) {
        const uint64_t bit = place.bit + n * nested.bytes * 8;
        const uint64_t width = std::min<uint64_t>(uint64_t{nested.bytes} * 8, bits - bit);
        if (part == nullptr) return std::nullopt;
        pieces.push_back({part->c, part, &part->c_members, bit, width, width, &nested});
      }
    }
  }
  const Piece& last = pieces.back();
  if (last.bit + last.bits < bits) {
    pieces.push_back(
        {"", nullptr, nullptr, last.bit + last.bits, bits - last.bit - last.bits, 0, nullptr});
  }

  std::string text;
  for (const Piece& piece : pieces) {
    const uint64_t begin = piece.bit / 8, end = (piece.bit + piece.bits) / 8;
    if (piece.described == nullptr) {
      absl::StrAppend(&text, "  {\n    static const uint8_t more[] = {");
      for (uint64_t at = begin; at < end; ++at) {
        absl::StrAppend(&text,
                        at == begin              ? ""
                        : (at - begin) % 16 == 0 ? ",\n        "
                                                 : ", ",
                        Hex(record.bytes[at]));
      }
      text += "};\n    ps_bytes(b, more, sizeof more);\n  }\n";
      continue;
    }
    uint64_t packed_to = piece.bit + piece.bits;
    if (piece.described->c_bytes) {
      packed_to = std::min(packed_to, piece.bit + *piece.described->c_bytes * 8);
    }
    const std::vector<Initializer> initializers =
        reader.Read(*piece.members, "", piece.bit, packed_to);
    const bool in_bytes = piece.described->in_bytes;
    if (piece.container != nullptr) {
      WriteFixed(piece.container->leaves, piece.bit, in_bytes);
    } else {
      WriteFixed(container.tail_leaves, piece.bit, in_bytes);
    }
    absl::StrAppend(&text, in_bytes ? "  PS_PUT_BYTES(b, " : "  PS_PUT(b, ", piece.type, ", ",
                    end - begin, ", ");
    std::vector<Initializer> all = initializers;
    if (piece.described->has_header) {
      all.insert(all.begin(), {.value = absl::StrCat(piece.type, "_header")});
    } else if (all.empty()) {
      all.push_back({.value = "0"});
    }
    absl::StrAppend(&text, InitializersText(all, 2, text.size() - (text.rfind('\n') + 1), 2),
                    ");\n");
    for (const Patch& patch : Patches(record.bytes, begin, end)) {
      absl::StrAppend(&text, "  ps_bits(b, ", patch.dword, ", ", Hex(patch.mask), ", ",
                      Hex(patch.value), ");", kNote, "\n");
    }
  }
  return text;
}

std::optional<std::string> RecordWriter::Write(const PlacedRecord& record) {
  const Type* type = spelling_.FindType(tables_.string(record.container->name));
  if (type == nullptr || record.bytes.empty()) return std::nullopt;
  return language_ == Language::kCpp ? InCpp(record, *type) : InC(record, *type);
}

}  // namespace packsmith::source
