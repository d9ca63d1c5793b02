#include "runtime/decode/sinks/jsonl_sink.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/line_template.h"
#include "runtime/decode/text/plan.h"
#include "runtime/decode/text/template_cache.h"

namespace packsmith::decode {
namespace {

// A chunk writer that hands its text to a string, for pieces that are written once.
class Escaped : public Output {
 public:
  explicit Escaped(std::string& to) : to_(to) {}
  void Append(absl::string_view text) override { to_.append(text.data(), text.size()); }

 private:
  std::string& to_;
};

// The text for between the quotes of a JSON string.
std::string InQuotes(absl::string_view text) {
  std::string quoted;
  {
    Escaped escaped(quoted);
    ChunkWriter(escaped).JsonString(text);
  }
  return quoted.substr(1, quoted.size() - 2);
}

class JsonlStyle : public FieldStyle {
 public:
  void Name(const PlannedField& field, absl::string_view name, std::string& to) const override {
    MovingName(name, to);
    absl::StrAppend(&to, field.bit + field.width - 1, ",", field.bit, "],\"value\":");
  }
  void MovingName(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "{\"name\":\"", InQuotes(name), "\",\"bits\":[");
  }
  void BeforeIndex(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "{\"name\":\"", InQuotes(name), "[");
  }
  void AfterIndex(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "]", InQuotes(name), "\",\"bits\":[");
  }
  void ValueName(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, ",\"enum\":\"", InQuotes(name), "\"");
  }
  void Unit(absl::string_view, std::string&) const override {}
};

class JsonlSink : public Sink {
 public:
  JsonlSink(Output& output, const JsonlOptions& options) : out_(output), options_(options) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    plans_ = std::make_unique<Plans>(tables, std::make_unique<JsonlStyle>());
    if (!options_.schema) return;
    Begin("schema", options_.first_id);
    Member("version", uint64_t{1});
    Member("program", "packsmith");
    Member("family", tables.family());
    Member("generation", tables.generation());
    Member("xml_digest", tables.digest());
    End();
  }

  void OnDevice(const Device& device, uint64_t id) override {
    Begin("device", id);
    Member("family", device.family.empty() ? tables_->family() : absl::string_view(device.family));
    Member("generation", tables_->generation());
    if (!device.platform.empty()) Member("platform", device.platform);
    if (device.pci_id) Member("pci_id", absl::StrCat("0x", absl::Hex(*device.pci_id)));
    if (device.chip_id) Member("chip_id", absl::StrCat("0x", absl::Hex(*device.chip_id)));
    if (device.verx10 != 0) Member("verx10", static_cast<uint64_t>(device.verx10));
    if (!device.driver.empty()) Member("driver", device.driver);
    if (!device.uapi.empty()) Member("uapi", device.uapi);
    End();
  }

  void OnSubmission(const Submission& s, uint64_t id) override {
    Begin("submission", id);
    Member("index", uint64_t{s.index});
    Member("engine", s.engine);
    if (!s.stream.empty()) Member("stream", s.stream);
    Member("context", uint64_t{s.context});
    Member("slot", uint64_t{s.slot});
    if (!s.kind.empty()) Member("kind", s.kind);
    Member("space", uint64_t{s.space});
    if (s.own_space) Member("own_space", uint64_t{*s.own_space});
    MemberHex("batch_address", s.batch_address);
    Member("batch_length", s.batch_length);
    if (s.head) MemberHex("head", *s.head);
    if (s.tail) MemberHex("tail", *s.tail);
    if (s.acthd) MemberHex("acthd", *s.acthd);
    if (s.ipehr) MemberHex("ipehr", *s.ipehr);
    if (s.ring) {
      out_.Put(",\"ring\":{\"address\":");
      Hex(s.ring->address);
      Member("size", s.ring->size);
      out_.Put('}');
    }
    if (!s.bases.empty()) {
      out_.Put(",\"bases\":{");
      for (size_t i = 0; i < s.bases.size(); ++i) {
        if (i != 0) out_.Put(',');
        out_.JsonString(s.bases[i].name);
        out_.Put(':');
        Hex(s.bases[i].address);
      }
      out_.Put('}');
    }
    End();
  }

  void OnRecord(const Record& record) override {
    constexpr const char* kTypes[] = {"packet", "struct", "data", "unknown", "register"};
    Begin(kTypes[static_cast<int>(record.type)], record.id);
    if (record.parent != kNoParent) Member("parent", record.parent);
    if (record.type != RecordType::kRegister) Member("submission", uint64_t{record.submission});
    if (record.draw != 0) Member("draw", record.draw);
    if (record.dispatch != 0) Member("dispatch", record.dispatch);
    if (record.bound) out_.Put(",\"bound\":true");
    if (record.type != RecordType::kUnknown) Member("name", record.name);
    if (record.type == RecordType::kRegister) {
      Dumped(record);
    } else {
      Member("space", uint64_t{record.space});
      MemberHex("address", record.address);
    }
    if (record.type == RecordType::kPacket || record.type == RecordType::kUnknown) {
      Member("depth", uint64_t{record.depth});
    }
    if (record.index >= 0) Member("index", static_cast<uint64_t>(record.index));
    if (record.register_offset >= 0) {
      MemberHex("register", static_cast<uint64_t>(record.register_offset));
    }
    if (record.type == RecordType::kData) {
      Member("size", record.data_size);
      if (record.data_stride != 0) Member("stride", record.data_stride);
      DataMembers(record);
    }
    Raw(record);
    if (record.container != nullptr) {
      out_.Put(",\"fields\":[");
      if (record.shape == 0) {
        Fields(record);
      } else if (const ShapeTemplate* const known = shapes_.Find(record, 0)) {
        Fill(known->lines, record);
      } else {
        Learn(record);
      }
      out_.Put(']');
    }
    if (!record.stored.empty()) StoredBits(record);
    if (!record.faults.empty()) Faults(record);
    if (options_.undescribed && record.container != nullptr) AddUndescribed(record);
    End();
  }

  void OnInsert(absl::string_view text) override { out_.Put(text); }

  void OnRemark(absl::string_view text, bool is_problem) override {
    out_.Put(absl::string_view(is_problem ? "{\"type\":\"problem\"" : "{\"type\":\"remark\""));
    Member("text", text);
    End();
  }

  void OnSummary(const Summary& s) override {
    out_.Put("{\"type\":\"summary\"");
    Member("submissions", s.submissions);
    Member("packets", s.packets);
    Member("structs", s.structs);
    Member("data", s.data);
    Member("draws", s.draws);
    Member("dispatches", s.dispatches);
    Member("unknown_dwords", s.unknown_dwords);
    Member("problems", s.problems);
    out_.Put(",\"faults\":{");
    bool first = true;
    for (size_t i = 0; i < kFaultKinds; ++i) {
      if (s.faults[i] == 0) continue;
      if (!first) out_.Put(',');
      first = false;
      out_.JsonString(FaultKindName(static_cast<FaultKind>(i)));
      out_.Put(':');
      out_.Decimal(s.faults[i]);
    }
    out_.Put('}');
    End();
    out_.Flush();
  }
  void OnPause() override { out_.Flush(); }

 private:
  // Keys are ours: no need to escape them.
  template <size_t n>
  void Key(const char (&key)[n]) {
    out_.Put(",\"");
    out_.Put(key);
    out_.Put("\":");
  }
  template <size_t n>
  void Member(const char (&key)[n], absl::string_view value) {
    Key(key);
    out_.JsonString(value);
  }
  template <size_t n>
  void Member(const char (&key)[n], uint64_t value) {
    Key(key);
    out_.Decimal(value);
  }
  template <size_t n>
  void MemberHex(const char (&key)[n], uint64_t value) {
    Key(key);
    Hex(value);
  }
  void Hex(uint64_t value) {
    out_.Put('"');
    out_.Hex(value);
    out_.Put('"');
  }

  void Begin(absl::string_view type, uint64_t id) {
    out_.Put("{\"type\":\"");
    out_.Put(type);
    out_.Put("\",\"id\":");
    out_.Decimal(id);
  }
  void End() { out_.Put("}\n"); }

  // A register as the dump has it.
  void Dumped(const Record& record) {
    if (!record.engine.empty()) Member("engine", record.engine);
    Member("dumped_as", record.dumped->name);
    MemberHex("dumped", record.dumped->value);
    if (record.dumped->extra.empty()) return;
    out_.Put(",\"brackets\":[");
    for (const uint64_t& extra : record.dumped->extra) {
      if (&extra != record.dumped->extra.data()) out_.Put(',');
      Hex(extra);
    }
    out_.Put(']');
  }

  void Raw(const Record& record) {
    absl::Span<const uint8_t> bytes = record.bytes;
    const bool dwords = bytes.size() % 4 == 0;
    out_.Put(absl::string_view(dwords ? ",\"dwords\":[" : ",\"bytes\":\""));
    while (!bytes.empty()) {
      // Room for some at a time.
      constexpr size_t kSome = 1024;
      absl::Span<const uint8_t> some = bytes.subspan(0, kSome);
      bytes.remove_prefix(some.size());
      char* to = out_.Reserve(3 * kSome + kMostDigits);
      if (dwords) {
        for (; !some.empty(); some.remove_prefix(4)) {
          uint32_t dword = 0;
          std::memcpy(&dword, some.data(), 4);
          *to++ = '"';
          to = WriteHex8(dword, to);
          *to++ = '"';
          if (some.size() > 4 || !bytes.empty()) *to++ = ',';
        }
      } else {
        for (const uint8_t byte : some) {
          const auto digits = static_cast<uint16_t>(HexDigits(byte) >> 48);
          std::memcpy(to, &digits, 2);
          to += 2;
        }
      }
      out_.Commit(to);
    }
    out_.Put(dwords ? ']' : '"');
  }

  void Fields(const Record& record) {
    bool first = true;
    ForEachShown(*tables_, *plans_, record.view(),
                 [&](const PlannedFields& fields, size_t i, uint64_t bit, uint32_t width,
                     uint64_t raw, int64_t index) {
                   const PlannedField& field = fields.fields[i];
                   if (!first) out_.Put(',');
                   first = false;
                   Name(field, bit, width, index);
                   Value(field, width, raw);
                   out_.Put('}');
                 });
  }

  // Fields() for a record whose shape has come before.
  void Fill(const LineTemplate& lines, const Record& record) {
    for (size_t i = 0; i < lines.holes.size(); ++i) {
      out_.Put(lines.Before(i));
      const ShownField& field = lines.fields[i];
      Value(*field.field, field.width, ReadBits(record.bytes, field.bit, field.width));
    }
    out_.Put(lines.Before(lines.holes.size()));
  }

  // The same, for one that has not, or whose fields have held other values.
  void Learn(const Record& record) {
    shown_.clear();
    ForEachShown(*tables_, *plans_, record.view(),
                 [&](const PlannedFields& fields, size_t i, uint64_t bit, uint32_t width,
                     uint64_t raw, int64_t index) {
                   shown_.push_back({&fields.fields[i], bit, raw, index, width, false});
                 });
    ShapeTemplate& made = shapes_.Learn(record, 0, shown_);
    TemplateBuilder builder(out_, made.lines);
    for (size_t i = 0; i < shown_.size(); ++i) {
      const ShownField& shown = shown_[i];
      builder.Literal([&] {
        if (i != 0) out_.Put(',');
        Name(*shown.field, shown.bit, shown.width, shown.index);
      });
      const auto write_value = [&] { Value(*shown.field, shown.width, shown.raw); };
      if (made.varies[i]) {
        builder.Hole(LineTemplate::Kind::kField, 0, 0, write_value);
        made.lines.fields.push_back(shown);
      } else {
        builder.Literal(write_value);
      }
      builder.Literal([&] { out_.Put('}'); });
    }
    const bool whole = builder.Finish(ShapeTemplates::kMostText, ShapeTemplates::kMostRoom);
    if (!whole) shapes_.Drop(made);
  }

  void Bits(uint64_t bit, uint64_t width) {
    out_.Put("\"bits\":[");
    out_.Decimal(bit + width - 1);
    out_.Put(',');
    out_.Decimal(bit);
    out_.Put(']');
  }

  void Name(const PlannedField& field, uint64_t bit, uint32_t width, int64_t index) {
    if (!field.moves && width != field.width) {
      // A packet's short form has only some of its bits.
      out_.Put(absl::StrCat("{\"name\":\"", InQuotes(tables_->string(field.leaf->name)),
                            InQuotes(tables_->string(field.leaf->name_suffix)), "\","));
      Bits(bit, width);
      out_.Put(",\"value\":");
      return;
    }
    out_.Put(field.name);
    if (!field.moves) return;
    if (index >= 0) {
      out_.Decimal(static_cast<uint64_t>(index));
      out_.Put(field.after_index);
    }
    out_.Decimal(bit + width - 1);
    out_.Put(',');
    out_.Decimal(bit);
    out_.Put("],\"value\":");
  }

  void Value(const PlannedField& field, uint32_t width, uint64_t raw) {
    uint64_t number = raw;
    switch (field.form) {
      case ValueForm::kBool:
        out_.Put(absl::string_view(raw != 0 ? "true" : "false"));
        break;
      case ValueForm::kUnsigned:
        number = raw << field.shift;
        out_.Decimal(number);
        break;
      case ValueForm::kAddress:
        number = raw << field.shift;
        Hex(number);
        break;
      case ValueForm::kOther:
        Other(field, width, raw);
        return;
    }
    if (field.names != nullptr) Named(field, number);
  }

  void Named(const PlannedField& field, uint64_t number) { out_.Put(field.names->Find(number)); }

  void Other(const PlannedField& field, uint32_t width, uint64_t raw) {
    const decode::Value value = DecodeValue(*tables_, *field.leaf, width, raw);
    switch (value.kind) {
      case ValueKind::kBool:
        out_.Put(absl::string_view(value.unsigned_value != 0 ? "true" : "false"));
        break;
      case ValueKind::kUnsigned:
        out_.Decimal(value.unsigned_value);
        break;
      case ValueKind::kSigned:
        if (width > 32) {
          Hex(raw);
        } else {
          out_.SignedDecimal(value.signed_value);
        }
        break;
      case ValueKind::kWide:
      case ValueKind::kAddress:
        Hex(value.unsigned_value);
        break;
      case ValueKind::kReal:
        if (std::isfinite(value.real)) {
          out_.JsonReal(value.real);
        } else {
          out_.Put("null");
        }
        break;
    }
    if (field.names != nullptr) Named(field, NumberOf(value, raw));
    if (value.needs_raw) MemberHex("raw", raw);
  }

  // The properties of a program, or the elements and values of the rows of typed data.
  void DataMembers(const Record& record) {
    if (record.kernel != nullptr) {
      Member("format", "code");
      if (!record.kernel->stage.empty()) Member("stage", record.kernel->stage);
      if (record.kernel->simd != 0) Member("simd", uint64_t{record.kernel->simd});
      Member("ends", record.kernel->ends);
      return;
    }
    Member("format", record.elements.empty() ? "raw" : "typed");
    if (record.elements.empty()) return;
    if (record.slot >= 0) Member("slot", static_cast<uint64_t>(record.slot));
    Member("rows", record.data_rows);
    Member("first", record.data_first);
    if (record.per_instance) Member("step", uint64_t{record.step});
    out_.Put(",\"elements\":[");
    for (const DataElement& element : record.elements) {
      if (&element != record.elements.begin()) out_.Put(',');
      out_.Put("{\"number\":");
      out_.Decimal(element.number);
      Member("offset", element.offset);
      if (!element.name.empty()) Member("format", element.name);
      out_.Put(",\"components\":[");
      bool first = true;
      for (const tables::Component& component : tables_->components(*element.format)) {
        if (component.type == tables::ComponentType::kUnused) continue;
        if (!first) out_.Put(',');
        first = false;
        out_.JsonString(tables_->string(component.name));
      }
      out_.Put("]}");
    }
    out_.Put("],\"values\":[");
    bool first_row = true, first_element = true;
    uint64_t at = 0;
    ForEachElement(
        record, [&](uint64_t row, const DataElement& element, absl::Span<const uint8_t> bytes) {
          if (first_row || row != at) {
            out_.Put(absl::string_view(first_row ? "[" : "],["));
            first_element = true;
          }
          first_row = false;
          at = row;
          if (!first_element) out_.Put(',');
          first_element = false;
          out_.Put('[');
          bool first = true;
          for (const tables::Component& component : tables_->components(*element.format)) {
            if (component.type == tables::ComponentType::kUnused) continue;
            if (!first) out_.Put(',');
            first = false;
            const decode::Value value = DecodeComponent(component, bytes);
            switch (value.kind) {
              case ValueKind::kReal:
                if (std::isfinite(value.real)) {
                  out_.JsonReal(value.real);
                } else {
                  out_.Put("null");
                }
                break;
              case ValueKind::kSigned:
                out_.SignedDecimal(value.signed_value);
                break;
              case ValueKind::kWide:
                Hex(value.unsigned_value);
                break;
              default:
                out_.Decimal(value.unsigned_value);
            }
          }
          out_.Put(']');
        });
    out_.Put(absl::string_view(first_row ? "]" : "]]"));
  }

  void StoredBits(const Record& record) {
    out_.Put(",\"stored\":[");
    for (const Stored& stored : record.stored) {
      if (&stored != record.stored.begin()) out_.Put(',');
      out_.Put('{');
      Bits(stored.bit, stored.width);
      MemberHex("value", stored.value);
      Member("by", stored.by);
      out_.Put('}');
    }
    out_.Put(']');
  }

  void Faults(const Record& record) {
    out_.Put(",\"faults\":[");
    bool first = true;
    for (const Fault& fault : record.faults) {
      if (!first) out_.Put(',');
      first = false;
      out_.Put("{\"kind\":");
      out_.JsonString(FaultKindName(fault.kind));
      out_.Put(',');
      Bits(fault.bit, fault.width);
      MemberHex("value", fault.value);
      Member("text", fault.text);
      out_.Put('}');
    }
    out_.Put(']');
  }

  void AddUndescribed(const Record& record) {
    bool first = true;
    for (const BitRun& run : Undescribed(*tables_, record.view())) {
      out_.Put(absl::string_view(first ? ",\"undescribed\":[{" : ",{"));
      first = false;
      CountUndescribed(record, options_.undescribed_seen);
      Bits(run.bit, run.width);
      MemberHex("value", run.value);
      out_.Put('}');
    }
    if (!first) out_.Put(']');
  }

  ChunkWriter out_;
  JsonlOptions options_;
  const tables::Tables* tables_ = nullptr;
  std::unique_ptr<Plans> plans_;
  ShapeTemplates shapes_;
  std::vector<ShownField> shown_;  // of the record at hand
};

}  // namespace

std::unique_ptr<Sink> MakeJsonlSink(Output& output, const JsonlOptions& options) {
  return std::make_unique<JsonlSink>(output, options);
}

}  // namespace packsmith::decode
