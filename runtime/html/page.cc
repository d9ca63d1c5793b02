#include "runtime/html/page.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/walk/settings.h"
#include "runtime/html/messages.h"
#include "runtime/html/page_writer.h"
#include "runtime/html/pictures.h"
#include "runtime/html/shapes.h"

namespace packsmith::html {
namespace {

using decode::Record;
using decode::RecordType;

// Bits of a record's flags; page/read.js has the same.
enum Flags : uint64_t {
  kHasDraw = 1,
  kHasDispatch = 2,
  kHasPicture = 4,
  kHasFaults = 8,
  kHasIndex = 16,
  kIsRegister = 32,
  kHasShape = 64,
};

// Messages are gathered up to this size.
constexpr size_t kChunk = size_t{1} << 18;

class Json {
 public:
  explicit Json(absl::string_view type) : writer_(buffer_) {
    writer_.StartObject();
    Text("type", type);
  }
  void Text(const char* key, absl::string_view value) {
    writer_.Key(key);
    Put(decode::Harmless(value));
  }
  void Number(const char* key, uint64_t value) {
    writer_.Key(key);
    writer_.Uint64(value);
  }
  // Numbers that a double may not hold.
  void Hex(const char* key, uint64_t value) {
    writer_.Key(key);
    Put(absl::StrFormat("0x%x", value));
  }
  // Several lines, which stay lines.
  void Lines(const char* key, absl::string_view text) {
    writer_.Key(key);
    std::string harmless;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      absl::StrAppend(&harmless, decode::Harmless(text.substr(0, end)));
      if (end == absl::string_view::npos) break;
      harmless += '\n';
      text.remove_prefix(end + 1);
    }
    Put(harmless);
  }
  void Array(const char* key) {
    writer_.Key(key);
    writer_.StartArray();
  }
  void EndArray() { writer_.EndArray(); }
  void Object() { writer_.StartObject(); }
  void EndObject() { writer_.EndObject(); }
  void Put(absl::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  absl::string_view Finish() {
    writer_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_;
};

class PageSink : public Page {
 public:
  PageSink(decode::Output& output, PageOptions options)
      : writer_(output), options_(std::move(options)) {
    Json files("files");
    files.Array("names");
    for (const std::string& name : options_.files) files.Put(decode::Harmless(name));
    files.EndArray();
    Fact(files);
  }

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    rules_ = std::make_unique<decode::SettingRules>(tables);
    shapes_ = std::make_unique<Shapes>(tables, messages_, shape_count_, field_count_, enum_count_);
    kinds_.clear();
    keys_.clear();
    Json schema("schema");
    schema.Text("family", tables.family());
    schema.Text("generation", tables.generation());
    schema.Text("title", tables.title());
    schema.Text("digest", tables.digest());
    Fact(schema);
  }

  void OnDevice(const Device& device, uint64_t) override {
    Json json("device");
    for (const auto& [key, value] :
         {std::pair("platform", &device.platform), std::pair("driver", &device.driver),
          std::pair("uapi", &device.uapi)}) {
      if (!value->empty()) json.Text(key, *value);
    }
    if (device.pci_id) json.Hex("pci_id", *device.pci_id);
    if (device.chip_id) json.Hex("chip_id", *device.chip_id);
    Fact(json);
  }

  void OnDump(const Dump* dump) override {
    dump_ = dump;
    path_.clear();
    known_bytes_.clear();
    pictures_.OnDump(dump);
    if (dump == nullptr) return;
    ++dumps_;
    Json json("dump");
    json.Array("memory");
    for (const Memory::Segment& mapped : dump->memory.segments()) {
      json.Object();
      Extent(mapped.space, mapped.address, mapped.memory_size, json);
      json.EndObject();
    }
    json.EndArray();
    json.Array("buffers");
    for (const Buffer& buffer : dump->buffers) {
      json.Object();
      Extent(buffer.space, buffer.address, buffer.size, json);
      if (!buffer.name.empty()) json.Text("name", buffer.name);
      if (!buffer.tiling.empty()) json.Text("tiling", buffer.tiling);
      if (!buffer.access.empty()) json.Text("access", buffer.access);
      if (!buffer.flags.empty()) json.Text("flags", buffer.flags);
      json.EndObject();
    }
    json.EndArray();
    Fact(json);
  }

  void OnSubmission(const Submission& s, uint64_t id) override {
    path_.assign(1, {id, kNoOrdinal, 0});
    ++submissions_;
    Json json("submission");
    json.Number("index", s.index);
    json.Number("dump", dumps_);
    json.Text("engine", s.engine);
    json.Text("kind", s.kind.empty() ? "batch" : s.kind);
    json.Number("context", s.context);
    json.Number("slot", s.slot);
    json.Number("space", s.space);
    json.Hex("address", s.batch_address);
    json.Hex("length", s.batch_length);
    if (s.acthd) json.Hex("acthd", *s.acthd);
    if (s.head) json.Hex("head", *s.head);
    if (s.tail) json.Hex("tail", *s.tail);
    json.Array("bases");
    for (const Submission::Base& base : s.bases) {
      json.Object();
      json.Text("name", base.name);
      json.Hex("address", base.address);
      json.EndObject();
    }
    json.EndArray();
    Fact(json);
  }

  void OnLead(const decode::Lead& lead) override {
    leads_.push_back({lead.at->bit, lead.at->leaf, lead.space, lead.address, lead.size});
  }

  void OnRecord(const Record& record) override {
    const Place place = PlaceOf(record);
    const Shapes::Shape* const shape = record.container == nullptr ? nullptr : &shapes_->Of(record);
    const std::optional<uint32_t> picture = pictures_.Of(*tables_, record, messages_);
    const uint32_t kind = KindOf(record);
    uint64_t flags = 0;
    if (record.draw != 0) flags |= kHasDraw;
    if (record.dispatch != 0) flags |= kHasDispatch;
    if (picture) flags |= kHasPicture;
    if (!record.faults.empty()) flags |= kHasFaults;
    if (record.index >= 0) flags |= kHasIndex;
    if (record.type == RecordType::kRegister) flags |= kIsRegister;
    if (shape != nullptr) flags |= kHasShape;
    record_.Clear();
    record_.Number(kind);
    record_.Number(flags);
    record_.Number(place.parent == kNoOrdinal ? 0 : records_ - place.parent);
    record_.Number(place.depth);
    record_.Number(record.depth);
    // Registers belong to no submission.
    record_.Number(record.type == RecordType::kRegister ? 0 : submissions_);
    record_.Number(record.space);
    record_.Wide(record.type == RecordType::kRegister
                     ? static_cast<uint64_t>(std::max<int64_t>(record.register_offset, 0))
                     : record.address);
    record_.Number(record.bytes.size());
    if (record.draw != 0) record_.Number(record.draw);
    if (record.dispatch != 0) record_.Number(record.dispatch);
    if (picture) record_.Number(*picture);
    if (record.index >= 0) record_.Number(static_cast<uint64_t>(record.index));
    if (shape != nullptr) record_.Number(shape->number);
    PutLeads(shape);
    PutKeys(record);
    PutFaults(record);
    PutNotes(record);
    PutBytes(record);
    messages_.Add(MessageKind::kRecord, record_);
    path_.push_back({record.id, records_, place.depth});
    ++records_;
    Gather();
  }

  void OnInsert(absl::string_view text) override {
    Json json("report");
    json.Lines("text", text);
    Fact(json);
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    Json json(is_problem ? "problem" : "remark");
    json.Text("text", text);
    Fact(json);
  }

  void OnSummary(const decode::Summary& s) override {
    Json json("summary");
    json.Number("submissions", s.submissions);
    json.Number("packets", s.packets);
    json.Number("structs", s.structs);
    json.Number("data", s.data);
    json.Number("draws", s.draws);
    json.Number("dispatches", s.dispatches);
    json.Number("unknown_dwords", s.unknown_dwords);
    json.Number("problems", s.problems);
    json.Array("faults");
    for (size_t i = 0; i < decode::kFaultKinds; ++i) {
      if (s.faults[i] == 0) continue;
      json.Object();
      json.Text("kind", decode::FaultKindName(static_cast<decode::FaultKind>(i)));
      json.Number("count", s.faults[i]);
      json.EndObject();
    }
    json.EndArray();
    Fact(json);
  }

  void Finish() override {
    writer_.Append(messages_.Take());
    writer_.Finish();
  }

 private:
  static constexpr uint64_t kNoOrdinal = ~uint64_t{0};

  // A record on the way from the submission to the one at hand.
  struct Step {
    uint64_t id;
    uint64_t ordinal;  // among records; kNoOrdinal: the submission
    uint64_t depth;    // as it is shown
  };
  struct Place {
    uint64_t parent;  // ordinal
    uint64_t depth;
  };
  struct KnownLead {
    uint64_t bit;
    const tables::Leaf* leaf;
    uint32_t space;
    uint64_t address, size;
  };

  static void Extent(uint32_t space, uint64_t address, uint64_t size, Json& json) {
    json.Number("space", space);
    json.Hex("address", address);
    json.Hex("size", size);
  }

  void Fact(Json& json) {
    Message message;
    message.Bytes(json.Finish());
    messages_.Add(MessageKind::kFact, message);
    Gather();
  }

  void Gather() {
    if (messages_.size() >= kChunk) writer_.Append(messages_.Take());
  }

  // Packets are indented by call, and their targets below them.
  Place PlaceOf(const Record& record) {
    // A record comes right after its parent or after another target of its parent.
    while (!path_.empty() && path_.back().id != record.parent) path_.pop_back();
    const bool below =
        record.type == RecordType::kStruct || record.type == RecordType::kData || record.bound;
    Place place{kNoOrdinal, record.depth};
    if (path_.empty()) return place;
    place.parent = path_.back().ordinal;
    if (below) place.depth = path_.back().depth + 1;
    return place;
  }

  uint32_t KindOf(const Record& record) {
    const auto type = static_cast<uint64_t>(record.type);
    const absl::string_view name = record.type == RecordType::kUnknown ? "unknown" : record.name;
    uint32_t& kind = kinds_[{type, std::string(name)}];
    if (kind != 0) return kind - 1;
    Message message;
    message.Number(messages_.Text(name));
    message.Number(type);
    message.Number(record.container == nullptr ? 0 : static_cast<uint64_t>(record.container->role));
    message.Number(record.container == nullptr ? 0 : record.container->serves);
    messages_.Add(MessageKind::kKind, message);
    kind = ++kind_count_;
    return kind - 1;
  }

  void PutLeads(const Shapes::Shape* shape) {
    record_.Number(leads_.size());
    for (const KnownLead& lead : leads_) {
      const int64_t field = shape == nullptr ? -1 : shape->Find(lead.bit, lead.leaf);
      record_.Number(static_cast<uint64_t>(field + 1));
      record_.Number(lead.space);
      record_.Wide(lead.address);
      record_.Wide(lead.size);
    }
    leads_.clear();
  }

  // What a packet sets, so that the page finds the last of each before a draw.
  void PutKeys(const Record& record) {
    set_.clear();
    if (record.type == RecordType::kPacket && rules_->HasWork(record.stream) &&
        record.container->role == tables::Role::kOther) {
      rules_->ForEach(tables_->IndexOf(*record.container), record.bytes,
                      dump_ == nullptr ? nullptr : &dump_->memory, record.space,
                      [&](const decode::SettingKey& key) {
                        uint32_t& number = keys_[{record.stream, key}];
                        if (number == 0) number = ++key_count_;
                        set_.push_back(number);
                      });
    }
    record_.Number(set_.size());
    for (const uint32_t key : set_) record_.Number(key);
  }

  void PutFaults(const Record& record) {
    record_.Number(record.faults.size());
    for (const decode::Fault& fault : record.faults) {
      record_.Number(messages_.Text(decode::FaultKindName(fault.kind)));
      record_.Number(fault.bit);
      record_.Number(fault.width);
      record_.Inline(decode::Harmless(fault.text));
    }
  }

  // Facts about a record that are not its fields.
  void PutNotes(const Record& record) {
    notes_.clear();
    const auto note = [&](absl::string_view name, std::string text) {
      notes_.emplace_back(messages_.Text(name), std::move(text));
    };
    for (const decode::Stored& stored : record.stored) {
      note("stored", absl::StrFormat("bits %u:%u are 0x%x by the time this is read",
                                     stored.bit + stored.width - 1, stored.bit, stored.value));
    }
    if (record.type == RecordType::kRegister) {
      note("engine", record.engine.empty() ? "the whole device" : std::string(record.engine));
      note("dumped as", record.dumped->name);
      for (const uint64_t extra : record.dumped->extra) {
        note("brackets", absl::StrFormat("0x%x", extra));
      }
      if (record.container == nullptr) note("description", "none");
    }
    if (record.register_offset >= 0) {
      note("register", absl::StrFormat("0x%x", record.register_offset));
    }
    if (record.type == RecordType::kData) AddDataNotes(record, note);
    record_.Number(notes_.size());
    for (const auto& [name, text] : notes_) {
      record_.Number(name);
      record_.Inline(decode::Harmless(text));
    }
  }

  template <class Note>
  void AddDataNotes(const Record& record, const Note& note) const {
    note("size", absl::StrCat(record.data_size, " bytes"));
    if (record.data_stride != 0) note("stride", absl::StrCat(record.data_stride, " bytes"));
    if (record.slot >= 0) note("slot", absl::StrCat(record.slot));
    if (record.per_instance) {
      note("step", record.step == 0 ? "one row for all instances"
                                    : absl::StrCat("a row for every ", record.step, " instances"));
    }
    if (record.kernel != nullptr) {
      if (!record.kernel->stage.empty()) note("stage", std::string(record.kernel->stage));
      if (record.kernel->simd != 0) note("SIMD", absl::StrCat(record.kernel->simd));
      note("ends", std::string(record.kernel->ends));
    }
    if (record.elements.empty()) return;
    std::string row_text;
    uint64_t at = ~uint64_t{0};
    decode::ForEachElement(record, [&](uint64_t row, const decode::DataElement& element,
                                       absl::Span<const uint8_t> bytes) {
      if (row != at) {
        if (at != ~uint64_t{0}) note(absl::StrCat("[", at, "]"), std::exchange(row_text, ""));
        at = row;
      } else {
        absl::StrAppend(&row_text, ", ");
      }
      bool first = true;
      for (const tables::Component& component : tables_->components(*element.format)) {
        if (component.type == tables::ComponentType::kUnused) continue;
        const decode::Value value = decode::DecodeComponent(component, bytes);
        if (!first) row_text += ' ';
        first = false;
        if (value.kind == decode::ValueKind::kReal) {
          absl::StrAppend(&row_text, value.real);
        } else if (value.kind == decode::ValueKind::kSigned) {
          absl::StrAppend(&row_text, value.signed_value);
        } else {
          absl::StrAppend(&row_text, value.unsigned_value);
        }
      }
      if (!element.name.empty()) absl::StrAppend(&row_text, " (", element.name, ")");
    });
    if (at != ~uint64_t{0}) note(absl::StrCat("[", at, "]"), row_text);
    const uint64_t shown = decode::RowsShown(record);
    if (shown < record.data_rows) {
      note("rows", absl::StrCat("and ", record.data_rows - shown, " more"));
    }
  }

  // The same memory is often pointed to many times: it is in the page once.
  void PutBytes(const Record& record) {
    constexpr size_t kWorthIt = 64;
    if (record.type == RecordType::kData && record.bytes.size() > kWorthIt) {
      const auto [known, is_new] = known_bytes_.try_emplace(
          std::tuple(record.space, record.address, record.bytes.size()), records_);
      record_.Number(records_ - known->second);
      if (!is_new) return;
    } else {
      record_.Number(0);
    }
    record_.Bytes({reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()});
  }

  PageWriter writer_;
  const PageOptions options_;
  Messages messages_;
  Message record_;  // the one at hand
  const tables::Tables* tables_ = nullptr;
  const Dump* dump_ = nullptr;
  std::unique_ptr<decode::SettingRules> rules_;
  std::unique_ptr<Shapes> shapes_;
  Pictures pictures_;
  // How many there are in the page so far.
  uint32_t shape_count_ = 0, field_count_ = 0, enum_count_ = 0, kind_count_ = 0, key_count_ = 0;
  uint64_t records_ = 0, submissions_ = 0, dumps_ = 0;
  std::vector<Step> path_;
  // Numbers from 1 on.
  absl::flat_hash_map<std::pair<uint64_t, std::string>, uint32_t> kinds_;
  absl::flat_hash_map<std::pair<uint32_t, decode::SettingKey>, uint32_t> keys_;
  absl::flat_hash_map<std::tuple<uint32_t, uint64_t, size_t>, uint64_t> known_bytes_;
  // Of the record at hand.
  std::vector<KnownLead> leads_;
  std::vector<uint32_t> set_;
  std::vector<std::pair<uint32_t, std::string>> notes_;
};

}  // namespace

std::unique_ptr<Page> MakePage(decode::Output& output, PageOptions options) {
  return std::make_unique<PageSink>(output, std::move(options));
}

}  // namespace packsmith::html
