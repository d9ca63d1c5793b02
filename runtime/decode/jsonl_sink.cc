#include "runtime/decode/jsonl_sink.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/decode/fields.h"
#include "runtime/decode/value.h"

namespace packsmith::decode {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

class JsonlSink : public Sink {
 public:
  explicit JsonlSink(Output& output) : output_(output), json_(buffer_) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    Begin("schema", 0);
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
    Member("space", uint64_t{s.space});
    MemberHex("batch_address", s.batch_address);
    Member("batch_length", s.batch_length);
    if (s.head) MemberHex("head", *s.head);
    if (s.tail) MemberHex("tail", *s.tail);
    if (s.acthd) MemberHex("acthd", *s.acthd);
    if (s.ipehr) MemberHex("ipehr", *s.ipehr);
    End();
  }

  void OnRecord(const Record& record) override {
    constexpr const char* kTypes[] = {"packet", "struct", "data", "unknown"};
    Begin(kTypes[static_cast<int>(record.type)], record.id);
    if (record.parent != kNoParent) Member("parent", record.parent);
    if (record.type != RecordType::kUnknown) Member("name", record.name);
    Member("space", uint64_t{record.space});
    MemberHex("address", record.address);
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
      Member("format", "raw");
    }
    Raw(record);
    if (record.container != nullptr) {
      Key("fields");
      json_.StartArray();
      ForEachField(*tables_, *record.container, record.bytes,
                   [&](const FieldAt& at) { Field(record, at); });
      json_.EndArray();
    }
    if (!record.faults.empty()) Faults(record);
    End();
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    json_.Reset(buffer_);
    json_.StartObject();
    Member("type", is_problem ? "problem" : "remark");
    Member("text", text);
    End();
  }

  void OnSummary(const Summary& s) override {
    json_.Reset(buffer_);
    json_.StartObject();
    Member("type", "summary");
    Member("submissions", s.submissions);
    Member("packets", s.packets);
    Member("structs", s.structs);
    Member("data", s.data);
    Member("draws", s.draws);
    Member("dispatches", s.dispatches);
    Member("unknown_dwords", s.unknown_dwords);
    Member("problems", s.problems);
    Key("faults");
    json_.StartObject();
    for (size_t i = 0; i < kFaultKinds; ++i) {
      if (s.faults[i] != 0) Member(FaultKindName(static_cast<FaultKind>(i)), s.faults[i]);
    }
    json_.EndObject();
    End();
  }

 private:
  void Key(absl::string_view key) {
    json_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  }
  void Text(absl::string_view text) {
    json_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void Member(absl::string_view key, absl::string_view value) {
    Key(key);
    Text(value);
  }
  void Member(absl::string_view key, uint64_t value) {
    Key(key);
    json_.Uint64(value);
  }
  void Hex(uint64_t value) {
    char text[20];
    const int n = std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
    Text({text, static_cast<size_t>(n)});
  }
  void MemberHex(absl::string_view key, uint64_t value) {
    Key(key);
    Hex(value);
  }

  void Begin(absl::string_view type, uint64_t id) {
    json_.Reset(buffer_);
    json_.StartObject();
    Member("type", type);
    Member("id", id);
  }
  void End() {
    json_.EndObject();
    buffer_.Put('\n');
    output_.Append({buffer_.GetString(), buffer_.GetSize()});
    buffer_.Clear();
  }

  void Raw(const Record& record) {
    if (record.bytes.size() % 4 != 0) {
      Key("bytes");
      Text(absl::BytesToHexString(absl::string_view(
          reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size())));
      return;
    }
    Key("dwords");
    json_.StartArray();
    for (size_t i = 0; i < record.bytes.size(); i += 4) {
      char text[9];
      std::snprintf(text, sizeof(text), "%08x",
                    static_cast<unsigned>(ReadBits(record.bytes, i * 8, 32)));
      Text({text, 8});
    }
    json_.EndArray();
  }

  void Bits(uint64_t bit, uint64_t width) {
    Key("bits");
    json_.StartArray();
    json_.Uint64(bit + width - 1);
    json_.Uint64(bit);
    json_.EndArray();
  }

  void Field(const Record& record, const FieldAt& at) {
    const tables::Leaf& leaf = *at.leaf;
    constexpr uint16_t kNoField = tables::kForced | tables::kMustBeZero | tables::kMustBeOne;
    if ((leaf.flags & kNoField) != 0) return;
    // What the packet's length cuts off is a fault, not a value; a variant's short form is whole.
    if (at.cut && record.container->variants.count == 0) return;
    const uint64_t raw = ReadBits(record.bytes, at.bit, at.width);
    const Value value = DecodeValue(*tables_, leaf, at.width, raw);
    json_.StartObject();
    name_.clear();
    AppendFieldName(at.name, name_);
    Member("name", name_);
    Bits(at.bit, at.width);
    Key("value");
    switch (value.kind) {
      case ValueKind::kBool:
        json_.Bool(value.unsigned_value != 0);
        break;
      case ValueKind::kUnsigned:
        json_.Uint64(value.unsigned_value);
        break;
      case ValueKind::kSigned:
        if (at.width > 32) {
          Hex(raw);
        } else {
          json_.Int64(value.signed_value);
        }
        break;
      case ValueKind::kWide:
      case ValueKind::kAddress:
        Hex(value.unsigned_value);
        break;
      case ValueKind::kReal:
        if (std::isfinite(value.real)) {
          json_.Double(value.real);
        } else {
          json_.Null();
        }
        break;
    }
    const absl::string_view named = tables_->ValueName(leaf, NumberOf(value, raw));
    if (!named.empty()) Member("enum", named);
    if (value.needs_raw) MemberHex("raw", raw);
    json_.EndObject();
  }

  void Faults(const Record& record) {
    Key("faults");
    json_.StartArray();
    for (const Fault& fault : record.faults) {
      json_.StartObject();
      Member("kind", FaultKindName(fault.kind));
      Bits(fault.bit, fault.width);
      MemberHex("value", fault.value);
      Member("text", fault.text);
      json_.EndObject();
    }
    json_.EndArray();
  }

  Output& output_;
  rapidjson::StringBuffer buffer_;
  Writer json_;
  const tables::Tables* tables_ = nullptr;
  std::string name_;
};

}  // namespace

std::unique_ptr<Sink> MakeJsonlSink(Output& output) { return std::make_unique<JsonlSink>(output); }

}  // namespace packsmith::decode
