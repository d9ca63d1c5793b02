#include "runtime/encode/source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/record.h"
#include "runtime/decode/text/digits.h"
#include "runtime/encode/encoder.h"
#include "runtime/encode/expression.h"

namespace packsmith::encode {
namespace {

using decode::FieldAt;
using tables::kNone;
using tables::Leaf;

constexpr size_t kWidth = 100;       // of lines
constexpr uint64_t kZeros = 32;      // bytes that are worth a line of their own
constexpr size_t kBytesOfLine = 32;  // other than zero

// A packet or structure in memory.
struct Entry {
  uint32_t space;
  uint64_t address;
  uint32_t size;
  uint32_t container;
};

// Where packets and structures are.
class EntrySink : public decode::Sink {
 public:
  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record& record) override {
    const bool described =
        record.type == decode::RecordType::kPacket || record.type == decode::RecordType::kStruct;
    if (!described || record.register_offset >= 0 || record.bound || record.bytes.empty() ||
        record.bytes.size() > kMostRecordBytes) {
      return;
    }
    entries_.push_back({record.space, record.address, static_cast<uint32_t>(record.bytes.size()),
                        tables_->IndexOf(*record.container)});
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}

  // By place, without those that overlap one that begins before, or was reached before.
  std::vector<Entry> Take() {
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.space, a.address) < std::pair(b.space, b.address);
    });
    std::vector<Entry> taken;
    for (const Entry& entry : entries_) {
      if (!taken.empty() && taken.back().space == entry.space &&
          entry.address - taken.back().address < taken.back().size) {
        continue;
      }
      taken.push_back(entry);
    }
    return taken;
  }

 private:
  const tables::Tables* tables_ = nullptr;
  std::vector<Entry> entries_;
};

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppend(&quoted, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// Without quotes where none are needed.
std::string NameText(absl::string_view name, absl::string_view more) {
  bool plain = !name.empty() && name.substr(0, 2) != "DW" && name.substr(0, 2) != "dw";
  for (const char c : name) {
    plain = plain && (IsWordChar(c) || more.find(c) != absl::string_view::npos);
  }
  return plain ? std::string(name) : Quoted(name);
}

// A value's name, which must not be read as anything else.
std::string ValueNameText(absl::string_view name) {
  const bool letter =
      !name.empty() && (absl::ascii_isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_');
  const bool other = name == "true" || name == "false" || name == "raw" || name == "lo" ||
                     name == "hi" || name == "inf";
  return letter && !other ? NameText(name, "") : Quoted(name);
}

std::string HexText(uint64_t number) { return absl::StrCat("0x", absl::Hex(number)); }

std::string RealText(double real) {
  char digits[64];
  std::string text(digits, std::to_chars(digits, digits + sizeof(digits), real).ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

class Writer {
 public:
  explicit Writer(const tables::Tables& tables) : tables_(tables), encoder_(tables) {}

  std::string Dump(const packsmith::Dump& dump);
  void Record(const tables::Container& container, absl::Span<const uint8_t> bytes);
  std::string&& text() { return std::move(text_); }

 private:
  struct Run {
    uint32_t space;
    uint64_t begin;
    uint64_t size;
  };

  std::string LabelOf(uint64_t address) const { return absl::StrCat("L_", absl::Hex(address)); }
  void Head(const packsmith::Dump& dump);
  void FindTargets(const packsmith::Dump& dump);
  void Memory(const packsmith::Dump& dump);
  void Numbers(const packsmith::Dump& dump, uint32_t space, uint64_t address, uint64_t size);
  void Numbers(absl::Span<const uint8_t> bytes);
  void Say(const FieldAt& at, uint64_t raw);
  std::string AddressText(uint64_t address) const {
    return targets_.contains(address) ? LabelOf(address) : HexText(address);
  }
  bool Encoded(const tables::Container& container);

  const tables::Tables& tables_;
  Encoder encoder_;
  std::string text_;
  std::vector<Entry> entries_;
  absl::flat_hash_set<uint64_t> targets_;  // addresses of entries to which something points
  // Of the record at hand.
  std::vector<std::pair<std::string, std::string>> said_;  // name, value
  std::vector<std::string> names_;                         // what `fields_` refer to
  std::vector<Field> fields_;
  std::vector<uint8_t> bytes_, covered_;
  std::vector<FieldProblem> problems_;
};

// Adds a field to the text of the record.
void Writer::Say(const FieldAt& at, uint64_t raw) {
  Leaf leaf = *at.leaf;
  leaf.width = static_cast<uint16_t>(at.width);
  std::string name;
  decode::AppendFieldName(at.name, name);
  const decode::Value value = decode::DecodeValue(tables_, leaf, leaf.width, raw);
  Given given = Given::Raw(raw);
  std::string text = absl::StrCat("raw(", HexText(raw), ")");
  const std::optional<uint64_t> again = decode::EncodeValue(tables_, leaf, value);
  if (again == raw && encoder_.IsValid(leaf, raw) && !std::isnan(value.real)) {
    const uint64_t number = decode::NumberOf(value, raw);
    const absl::string_view value_name = tables_.ValueName(leaf, number);
    if (!value_name.empty() && tables_.NamedValueOf(leaf, value_name) == number) {
      given = Given::Name(value_name);
      text = ValueNameText(value_name);
    } else {
      switch (value.kind) {
        case decode::ValueKind::kBool:
          given = Given::Bool(raw != 0);
          text = raw != 0 ? "true" : "false";
          break;
        case decode::ValueKind::kUnsigned:
          given = Given::Integer(value.unsigned_value);
          text = absl::StrCat(value.unsigned_value);
          break;
        case decode::ValueKind::kSigned:
          given = Given::Signed(value.signed_value);
          text = absl::StrCat(value.signed_value);
          break;
        case decode::ValueKind::kReal:
          given = Given::Real(value.real);
          text = RealText(value.real);
          break;
        case decode::ValueKind::kWide:
          given = Given::Integer(value.unsigned_value);
          text = HexText(value.unsigned_value);
          break;
        case decode::ValueKind::kAddress:
          given = Given::Integer(value.unsigned_value);
          text = leaf.type == tables::LeafType::kAddress ? AddressText(value.unsigned_value)
                                                         : HexText(value.unsigned_value);
          break;
      }
    }
  }
  fields_.push_back({.at = BitRange{at.bit, at.width}, .value = given});
  said_.emplace_back(NameText(name, ".[]"), std::move(text));
  names_.push_back(std::move(name));
}

bool Writer::Encoded(const tables::Container& container) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    fields_[i].name = names_[i];
    // The text does not have them.
    fields_[i].at.reset();
  }
  problems_.clear();
  EncodeRequest request;
  request.container = tables_.IndexOf(container);
  request.fields = fields_;
  return encoder_.Encode(request, bytes_, problems_);
}

void Writer::Record(const tables::Container& container, absl::Span<const uint8_t> bytes) {
  said_.clear();
  names_.clear();
  fields_.clear();
  covered_.assign(bytes.size(), 0);
  const uint64_t end = bytes.size() * 8;
  // The last item of a tail says how many there are.
  const uint64_t last_item = container.tail_size != 0 && end > container.tail_bit
                                 ? (end - container.tail_bit - 1) / container.tail_size
                                 : 0;
  std::optional<FieldAt> length;
  bool last_said = false;
  decode::ForEachField(tables_, container, bytes, [&](const FieldAt& at) {
    const Leaf& leaf = *at.leaf;
    constexpr uint16_t kNotSaid = tables::kForced | tables::kMustBeZero | tables::kMustBeOne;
    if (at.cut || leaf.width > 64 || (leaf.flags & kNotSaid) != 0) return;
    if ((leaf.flags & tables::kLength) != 0) {
      length = at;
      return;
    }
    if (leaf.extra != kNone &&
        !decode::Scope(tables_, at, bytes).Holds(tables_.extra(leaf.extra).counts_when)) {
      return;
    }
    const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
    const bool in_last = at.in_tail && static_cast<uint64_t>(at.name.index) == last_item;
    const bool says_size = in_last && !last_said;
    const uint64_t ones = at.width >= 64 ? ~uint64_t{0} : (uint64_t{1} << at.width) - 1;
    const bool covered = decode::ReadBits(covered_, at.bit, at.width) == ones;
    if (covered || (raw == 0 && encoder_.IsValid(leaf, 0) && !says_size)) return;
    decode::WriteBits(absl::MakeSpan(covered_), at.bit, at.width, ones);
    if (in_last) last_said = true;
    Say(at, raw);
  });
  bool good = Encoded(container);
  if ((!good || bytes_.size() != bytes.size()) && length) {
    Say(*length, decode::ReadBits(bytes, length->bit, length->width));
    good = Encoded(container);
  }
  const absl::string_view name = tables_.string(container.name);
  if (!good || bytes_.size() != bytes.size()) {
    absl::StrAppend(&text_, "# ", absl::string_view(Quoted(name)), ", which has no short form\n");
    return Numbers(bytes);
  }
  // Bits that no field has, or that are not what they must be.
  for (size_t at = 0; at < bytes.size(); at += 4) {
    const auto n = static_cast<uint32_t>(std::min<size_t>(4, bytes.size() - at));
    const auto have = static_cast<uint32_t>(decode::ReadBits(bytes_, at * 8, n * 8));
    const auto want = static_cast<uint32_t>(decode::ReadBits(bytes, at * 8, n * 8));
    const uint32_t wrong = have ^ want;
    if (wrong == 0) continue;
    const int low = __builtin_ctz(wrong), high = 31 - __builtin_clz(wrong);
    const uint32_t bits = want >> low & (high - low == 31 ? ~0u : (2u << (high - low)) - 1);
    said_.emplace_back(absl::StrCat("DW", at / 4, "[", high, ":", low, "]"), HexText(bits));
  }
  std::string line = NameText(name, "");
  size_t width = line.size();
  for (const auto& [field, value] : said_) width += field.size() + value.size() + 2;
  if (width <= kWidth) {
    for (const auto& [field, value] : said_) absl::StrAppend(&line, " ", field, "=", value);
    absl::StrAppend(&text_, line, "\n");
    return;
  }
  absl::StrAppend(&text_, line, " {\n");
  for (const auto& [field, value] : said_) absl::StrAppend(&text_, "  ", field, "=", value, "\n");
  text_ += "}\n";
}

void Writer::Numbers(absl::Span<const uint8_t> bytes) {
  const auto zeros_at = [&](size_t at) {
    size_t count = 0;
    while (at + count < bytes.size() && bytes[at + count] == 0) ++count;
    return count;
  };
  size_t at = 0;
  while (at < bytes.size()) {
    if (bytes[at] == 0) {
      const size_t zeros = zeros_at(at);
      const size_t whole = at + zeros == bytes.size() ? zeros : zeros / 4 * 4;
      if (whole >= kZeros) {
        absl::StrAppend(&text_, ".zero ", whole, "\n");
        at += whole;
        continue;
      }
    }
    const size_t left = std::min(kBytesOfLine, bytes.size() - at);
    if (left < 4) {
      text_ += ".byte";
      for (; at < bytes.size(); ++at) absl::StrAppend(&text_, " ", HexText(bytes[at]));
    } else {
      text_ += ".dword";
      for (const size_t end = at + left / 4 * 4; at < end; at += 4) {
        uint32_t dword = 0;
        std::memcpy(&dword, bytes.data() + at, 4);
        char digits[8];
        decode::WriteHex8(dword, digits);
        text_ += " 0x";
        text_.append(digits, sizeof(digits));
      }
    }
    text_ += '\n';
  }
}

void Writer::Numbers(const packsmith::Dump& dump, uint32_t space, uint64_t address, uint64_t size) {
  // Pieces end with a whole number of lines.
  constexpr uint64_t kPiece = 65536;
  std::vector<uint8_t> piece;
  uint64_t zeros = 0;
  const auto write_zeros = [&] {
    if (zeros != 0) absl::StrAppend(&text_, ".zero ", zeros, "\n");
    zeros = 0;
  };
  while (size != 0) {
    piece.resize(std::min(size, kPiece));
    dump.memory.Copy(space, address, absl::MakeSpan(piece));
    address += piece.size();
    size -= piece.size();
    if (std::all_of(piece.begin(), piece.end(), [](uint8_t b) { return b == 0; })) {
      zeros += piece.size();
      continue;
    }
    write_zeros();
    Numbers(piece);
  }
  write_zeros();
}

void Writer::Head(const packsmith::Dump& dump) {
  absl::StrAppend(&text_, ".gen ", NameText(tables_.generation(), ""), "\n");
  const auto text = [&](absl::string_view key, absl::string_view value) {
    if (!value.empty()) absl::StrAppend(&text_, " ", key, "=", Quoted(value));
  };
  const auto hex = [&](absl::string_view key, uint64_t value) {
    absl::StrAppend(&text_, " ", key, "=", HexText(value));
  };
  const Device& d = dump.device;
  text_ += ".device";
  text("family", d.family);
  text("generation", d.generation);
  text("platform", d.platform);
  text("driver", d.driver);
  text("uapi", d.uapi);
  if (d.pci_id) hex("pci_id", *d.pci_id);
  if (d.chip_id) hex("chip_id", *d.chip_id);
  if (d.verx10 > 0) absl::StrAppend(&text_, " verx10=", d.verx10);
  text_ += '\n';
  if (dump.memory_is_complete || dump.physical_space) {
    text_ += ".memory";
    if (dump.memory_is_complete) text_ += " complete=true";
    if (dump.physical_space) absl::StrAppend(&text_, " physical_space=", *dump.physical_space);
    text_ += '\n';
  }
  for (const Buffer& buffer : dump.buffers) {
    text_ += ".buffer";
    if (buffer.space != 0) absl::StrAppend(&text_, " space=", buffer.space);
    hex("address", buffer.address);
    hex("size", buffer.size);
    text("name", buffer.name);
    text_ += '\n';
  }
  for (const Submission& s : dump.submissions) {
    absl::StrAppend(&text_, ".submission index=", s.index, " engine=", Quoted(s.engine));
    text("stream", s.stream);
    text("kind", s.kind);
    absl::StrAppend(&text_, " context=", s.context, " slot=", s.slot, " space=", s.space);
    if (s.own_space) absl::StrAppend(&text_, " own_space=", *s.own_space);
    absl::StrAppend(&text_, " address=", AddressText(s.batch_address));
    hex("length", s.batch_length);
    if (s.head) hex("head", *s.head);
    if (s.tail) hex("tail", *s.tail);
    if (s.acthd) hex("acthd", *s.acthd);
    if (s.ipehr) hex("ipehr", *s.ipehr);
    if (s.ring) {
      hex("ring_address", s.ring->address);
      hex("ring_size", s.ring->size);
    }
    if (s.unless_reached) text_ += " unless_reached=true";
    for (const Submission::Base& base : s.bases) {
      absl::StrAppend(&text_, " ", Quoted(base.name), "=", HexText(base.address));
    }
    text_ += '\n';
  }
}

// Which entries get a label.
void Writer::FindTargets(const packsmith::Dump& dump) {
  absl::flat_hash_set<uint64_t> begins;
  for (const Entry& entry : entries_) begins.insert(entry.address);
  for (const Submission& submission : dump.submissions) {
    if (begins.contains(submission.batch_address)) targets_.insert(submission.batch_address);
  }
  std::vector<uint8_t> bytes;
  for (const Entry& entry : entries_) {
    bytes.resize(entry.size);
    if (dump.memory.Copy(entry.space, entry.address, absl::MakeSpan(bytes)) != bytes.size()) {
      continue;
    }
    decode::ForEachField(tables_, tables_.container(entry.container), bytes,
                         [&](const FieldAt& at) {
                           if (at.leaf->type != tables::LeafType::kAddress || at.cut) return;
                           const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
                           const uint64_t address =
                               decode::DecodeValue(tables_, *at.leaf, at.width, raw).unsigned_value;
                           if (address != 0 && begins.contains(address)) targets_.insert(address);
                         });
  }
}

void Writer::Memory(const packsmith::Dump& dump) {
  std::vector<Run> runs;
  for (const packsmith::Memory::Segment& mapped : dump.memory.segments()) {
    const packsmith::Memory::Segment& segment = dump.memory.Resolve(mapped);
    if (segment.memory_size == 0) continue;
    if (!runs.empty() && runs.back().space == segment.space &&
        runs.back().begin + runs.back().size == segment.address) {
      runs.back().size += segment.memory_size;
    } else {
      runs.push_back({segment.space, segment.address, segment.memory_size});
    }
  }
  uint32_t space = 0;
  size_t next = 0;
  absl::flat_hash_set<uint64_t> labelled;
  std::vector<uint8_t> bytes;
  for (const Run& run : runs) {
    text_ += '\n';
    if (run.space != space) absl::StrAppend(&text_, ".space ", run.space, "\n");
    space = run.space;
    absl::StrAppend(&text_, ".org ", HexText(run.begin), "\n");
    uint64_t at = run.begin;
    const uint64_t last = run.begin + (run.size - 1);
    for (; next < entries_.size(); ++next) {
      const Entry& entry = entries_[next];
      if (std::pair(entry.space, entry.address) > std::pair(run.space, last)) break;
      if (entry.space != run.space || entry.address < at || last - entry.address < entry.size - 1) {
        continue;
      }
      Numbers(dump, space, at, entry.address - at);
      // Of one address in two spaces, either may have the label.
      if (targets_.contains(entry.address) && labelled.insert(entry.address).second) {
        absl::StrAppend(&text_, LabelOf(entry.address), ":\n");
      }
      bytes.resize(entry.size);
      dump.memory.Copy(entry.space, entry.address, absl::MakeSpan(bytes));
      Record(tables_.container(entry.container), bytes);
      at = entry.address + entry.size;
    }
    Numbers(dump, space, at, run.size - (at - run.begin));
  }
  // Entries without memory, or at its end, have no place for a label.
  std::vector<uint64_t> rest;
  for (const uint64_t target : targets_) {
    if (!labelled.contains(target)) rest.push_back(target);
  }
  std::sort(rest.begin(), rest.end());
  for (const uint64_t target : rest) {
    absl::StrAppend(&text_, LabelOf(target), " = ", HexText(target), "\n");
  }
}

std::string Writer::Dump(const packsmith::Dump& dump) {
  EntrySink sink;
  decode::Decoder decoder(tables_, sink);
  decoder.Decode(dump);
  decoder.Finish();
  entries_ = sink.Take();
  FindTargets(dump);
  Head(dump);
  Memory(dump);
  return std::move(text_);
}

}  // namespace

std::string WriteSource(const tables::Tables& tables, const Dump& dump) {
  return Writer(tables).Dump(dump);
}

std::string RecordSource(const tables::Tables& tables, const tables::Container& container,
                         absl::Span<const uint8_t> bytes) {
  Writer writer(tables);
  writer.Record(container, bytes);
  return std::move(writer).text();
}

}  // namespace packsmith::encode
