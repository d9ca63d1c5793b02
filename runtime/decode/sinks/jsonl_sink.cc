#include "runtime/decode/sinks/jsonl_sink.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/field_json.h"
#include "runtime/decode/text/json_writer.h"

namespace packsmith::decode {
namespace {

class JsonlSink : public Sink {
 public:
  JsonlSink(Output& output, const JsonlOptions& options)
      : out_(output), json_(out_), fields_(out_), options_(options) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    fields_.Begin(tables);
    if (!options_.schema) return;
    Begin("schema", options_.first_id);
    json_.Member("version", uint64_t{1});
    json_.Member("program", "packsmith");
    json_.Member("family", tables.family());
    json_.Member("generation", tables.generation());
    json_.Member("xml_digest", tables.digest());
    End();
  }

  void OnDevice(const Device& device, uint64_t id) override {
    Begin("device", id);
    json_.Member("family",
                 device.family.empty() ? tables_->family() : absl::string_view(device.family));
    json_.Member("generation", tables_->generation());
    if (!device.platform.empty()) json_.Member("platform", device.platform);
    if (device.pci_id) json_.Member("pci_id", absl::StrCat("0x", absl::Hex(*device.pci_id)));
    if (device.chip_id) json_.Member("chip_id", absl::StrCat("0x", absl::Hex(*device.chip_id)));
    if (device.verx10 != 0) json_.Member("verx10", static_cast<uint64_t>(device.verx10));
    if (!device.driver.empty()) json_.Member("driver", device.driver);
    if (!device.uapi.empty()) json_.Member("uapi", device.uapi);
    End();
  }

  void OnSubmission(const Submission& s, uint64_t id) override {
    Begin("submission", id);
    json_.Member("index", uint64_t{s.index});
    json_.Member("engine", s.engine);
    if (!s.stream.empty()) json_.Member("stream", s.stream);
    json_.Member("context", uint64_t{s.context});
    json_.Member("slot", uint64_t{s.slot});
    if (!s.kind.empty()) json_.Member("kind", s.kind);
    json_.Member("space", uint64_t{s.space});
    if (s.own_space) json_.Member("own_space", uint64_t{*s.own_space});
    json_.MemberHex("batch_address", s.batch_address);
    json_.Member("batch_length", s.batch_length);
    if (s.head) json_.MemberHex("head", *s.head);
    if (s.tail) json_.MemberHex("tail", *s.tail);
    if (s.acthd) json_.MemberHex("acthd", *s.acthd);
    if (s.ipehr) json_.MemberHex("ipehr", *s.ipehr);
    if (s.ring) {
      out_.Put(",\"ring\":{\"address\":");
      json_.Hex(s.ring->address);
      json_.Member("size", s.ring->size);
      out_.Put('}');
    }
    if (!s.bases.empty()) {
      out_.Put(",\"bases\":{");
      for (size_t i = 0; i < s.bases.size(); ++i) {
        if (i != 0) out_.Put(',');
        json_.String(s.bases[i].name);
        out_.Put(':');
        json_.Hex(s.bases[i].address);
      }
      out_.Put('}');
    }
    End();
  }

  void OnRecord(const Record& record) override {
    constexpr const char* kTypes[] = {"packet", "struct", "data", "unknown", "register"};
    Begin(kTypes[static_cast<int>(record.type)], record.id);
    if (record.parent != kNoParent) json_.Member("parent", record.parent);
    if (record.type != RecordType::kRegister) {
      json_.Member("submission", uint64_t{record.submission});
    }
    if (record.draw != 0) json_.Member("draw", record.draw);
    if (record.dispatch != 0) json_.Member("dispatch", record.dispatch);
    if (record.bound) out_.Put(",\"bound\":true");
    if (record.type != RecordType::kUnknown) json_.Member("name", record.name);
    if (record.type == RecordType::kRegister) {
      Dumped(record);
    } else {
      json_.Member("space", uint64_t{record.space});
      json_.MemberHex("address", record.address);
    }
    if (record.type == RecordType::kPacket || record.type == RecordType::kUnknown) {
      json_.Member("depth", uint64_t{record.depth});
    }
    if (record.index >= 0) json_.Member("index", static_cast<uint64_t>(record.index));
    if (record.register_offset >= 0) {
      json_.MemberHex("register", static_cast<uint64_t>(record.register_offset));
    }
    if (record.type == RecordType::kData) {
      json_.Member("size", record.data_size);
      if (record.data_stride != 0) json_.Member("stride", record.data_stride);
      DataMembers(record);
    }
    Raw(record);
    if (record.container != nullptr) {
      out_.Put(",\"fields\":[");
      fields_.Put(record);
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
    json_.Member("text", text);
    End();
  }

  void OnSummary(const Summary& s) override {
    out_.Put("{\"type\":\"summary\"");
    json_.Member("submissions", s.submissions);
    json_.Member("packets", s.packets);
    json_.Member("structs", s.structs);
    json_.Member("data", s.data);
    json_.Member("draws", s.draws);
    json_.Member("dispatches", s.dispatches);
    json_.Member("unknown_dwords", s.unknown_dwords);
    json_.Member("problems", s.problems);
    out_.Put(",\"faults\":{");
    bool first = true;
    for (size_t i = 0; i < kFaultKinds; ++i) {
      if (s.faults[i] == 0) continue;
      if (!first) out_.Put(',');
      first = false;
      json_.String(FaultKindName(static_cast<FaultKind>(i)));
      out_.Put(':');
      out_.Decimal(s.faults[i]);
    }
    out_.Put('}');
    End();
    out_.Flush();
  }
  void OnPause() override { out_.Flush(); }

 private:
  void Begin(absl::string_view type, uint64_t id) {
    out_.Put("{\"type\":\"");
    out_.Put(type);
    out_.Put("\",\"id\":");
    out_.Decimal(id);
  }
  void End() { out_.Put("}\n"); }

  // A register as the dump has it.
  void Dumped(const Record& record) {
    if (!record.engine.empty()) json_.Member("engine", record.engine);
    json_.Member("dumped_as", record.dumped->name);
    json_.MemberHex("dumped", record.dumped->value);
    if (record.dumped->extra.empty()) return;
    out_.Put(",\"brackets\":[");
    for (const uint64_t& extra : record.dumped->extra) {
      if (&extra != record.dumped->extra.data()) out_.Put(',');
      json_.Hex(extra);
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

  // The properties of a program, or the elements and values of the rows of typed data.
  void DataMembers(const Record& record) {
    if (record.kernel != nullptr) {
      json_.Member("format", "code");
      if (!record.kernel->stage.empty()) json_.Member("stage", record.kernel->stage);
      if (record.kernel->simd != 0) json_.Member("simd", uint64_t{record.kernel->simd});
      json_.Member("ends", record.kernel->ends);
      return;
    }
    json_.Member("format", record.elements.empty() ? "raw" : "typed");
    if (record.elements.empty()) return;
    if (record.slot >= 0) json_.Member("slot", static_cast<uint64_t>(record.slot));
    json_.Member("rows", record.data_rows);
    json_.Member("first", record.data_first);
    if (record.per_instance) json_.Member("step", uint64_t{record.step});
    out_.Put(",\"elements\":[");
    for (const DataElement& element : record.elements) {
      if (&element != record.elements.begin()) out_.Put(',');
      out_.Put("{\"number\":");
      out_.Decimal(element.number);
      json_.Member("offset", element.offset);
      if (!element.name.empty()) json_.Member("format", element.name);
      out_.Put(",\"components\":[");
      bool first = true;
      for (const tables::Component& component : tables_->components(*element.format)) {
        if (component.type == tables::ComponentType::kUnused) continue;
        if (!first) out_.Put(',');
        first = false;
        json_.String(tables_->string(component.name));
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
            const Value value = DecodeComponent(component, bytes);
            switch (value.kind) {
              case ValueKind::kReal:
                if (std::isfinite(value.real)) {
                  json_.Real(value.real);
                } else {
                  out_.Put("null");
                }
                break;
              case ValueKind::kSigned:
                out_.SignedDecimal(value.signed_value);
                break;
              case ValueKind::kWide:
                json_.Hex(value.unsigned_value);
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
      PutJsonBits(stored.bit, stored.width, out_);
      json_.MemberHex("value", stored.value);
      json_.Member("by", stored.by);
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
      json_.String(FaultKindName(fault.kind));
      out_.Put(',');
      PutJsonBits(fault.bit, fault.width, out_);
      json_.MemberHex("value", fault.value);
      json_.Member("text", fault.text);
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
      PutJsonBits(run.bit, run.width, out_);
      json_.MemberHex("value", run.value);
      out_.Put('}');
    }
    if (!first) out_.Put(']');
  }

  ChunkWriter out_;
  JsonWriter json_;
  FieldJson fields_;
  JsonlOptions options_;
  const tables::Tables* tables_ = nullptr;
};

}  // namespace

std::unique_ptr<Sink> MakeJsonlSink(Output& output, const JsonlOptions& options) {
  return std::make_unique<JsonlSink>(output, options);
}

}  // namespace packsmith::decode
