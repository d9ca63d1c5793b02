#include "runtime/encode/json.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/encode/encoder.h"
#include "runtime/encode/json_scanner.h"

namespace packsmith::encode {
namespace {

using tables::kNone;

class JsonReader {
 public:
  JsonReader(const Source& source, const FindTables& find_tables, const JsonOptions& options)
      : source_(source), find_tables_(find_tables), options_(options), json_(source.text) {}

  absl::StatusOr<Packed> Read() {
    if (!options_.generation.empty()) UseGeneration(options_.generation, 0);
    while (!stopped_ && json_.More()) {
      Object();
      json_.ForgetStrings();
      if (json_.failed()) {
        problems_.Add(source_, json_.error_offset(), json_.error());
        break;
      }
      if (problems_.count() >= Problems::kMost) break;
    }
    if (problems_.any()) return problems_.status();
    return std::move(packed_);
  }

 private:
  // What is collected of a record, whatever its type.
  struct Seen {
    size_t offset = 0;  // of the object
    absl::string_view name;
    size_t name_offset = 0;
    std::optional<uint64_t> address;
    uint64_t space = 0;
    bool has_bytes = false, has_fields = false, is_view = false, lenient = false;
    bool of_register = false;
  };

  void Say(size_t offset, std::string text) { problems_.Add(source_, offset, std::move(text)); }

  void UseGeneration(absl::string_view name, size_t offset) {
    if (packed_.tables && packed_.tables->generation() == name) return;
    absl::StatusOr<tables::Tables> found = find_tables_(name);
    if (!found.ok()) {
      Say(offset, std::string(found.status().message()));
      stopped_ = true;
      return;
    }
    if (packed_.tables && packed_.tables->generation() != found->generation()) {
      Say(offset, absl::StrCat("these are records of another GPU (", name,
                               ") than those before; one dump has one GPU: pack them apart"));
      stopped_ = true;
      return;
    }
    if (packed_.tables) return;
    packed_.tables = *found;
    packed_.device.family = std::string(found->family());
    packed_.device.generation = std::string(found->generation());
    encoder_ = std::make_unique<Encoder>(*packed_.tables);
  }

  // The type of the object that begins here.
  bool TypeOf(absl::string_view& type) {
    const size_t begin = json_.offset();
    bool first = true;
    absl::string_view key;
    if (!json_.BeginObject()) return false;
    while (json_.NextKey(first, key)) {
      if (key == "type") {
        if (!json_.String(type)) return false;
        json_.Seek(begin);
        return true;
      }
      if (!json_.Skip()) return false;
    }
    return json_.FailAt(begin, "a record needs a \"type\"");
  }

  void Object() {
    absl::string_view type;
    const size_t offset = json_.offset();
    if (!TypeOf(type)) return;
    if (type == "packet" || type == "struct" || type == "data" || type == "unknown") {
      return MemoryRecord(offset, type);
    }
    if (type == "schema") return SchemaRecord();
    if (type == "device") return DeviceRecord();
    if (type == "submission") return SubmissionRecord();
    if (type == "register" && !said_registers_) {
      said_registers_ = true;
      packed_.remarks.emplace_back("registers are left out: a core has no place for them");
    }
    json_.Skip();
  }

  // A number, or the text "0x…".
  bool Unsigned(uint64_t& value) {
    const size_t offset = (json_.More(), json_.offset());
    if (json_.Peek() == '"') {
      absl::string_view text;
      if (!json_.String(text)) return false;
      return absl::SimpleHexAtoi(text, &value) ||
             json_.FailAt(offset, "a number or \"0x…\" is expected here");
    }
    JsonScanner::Number number;
    if (!json_.ReadNumber(number)) return false;
    value = number.integer;
    return (!number.is_real && !number.negative) ||
           json_.FailAt(offset, "a number without sign or fraction is expected here");
  }
  bool Unsigned32(uint32_t& value) {
    const size_t offset = (json_.More(), json_.offset());
    uint64_t wide = 0;
    if (!Unsigned(wide)) return false;
    value = static_cast<uint32_t>(wide);
    return wide == value || json_.FailAt(offset, "the number has more than 32 bits");
  }
  template <class T>
  bool Optional(std::optional<T>& value) {
    if constexpr (sizeof(T) == 4) {
      return Unsigned32(value.emplace());
    } else {
      return Unsigned(value.emplace());
    }
  }
  bool Text(std::string& text) {
    absl::string_view view;
    if (!json_.String(view)) return false;
    text = std::string(view);
    return true;
  }

  void SchemaRecord() {
    bool first = true;
    absl::string_view key, generation, digest;
    size_t at = json_.offset();
    json_.BeginObject();
    while (json_.NextKey(first, key)) {
      if (key == "generation") {
        at = (json_.More(), json_.offset());
        if (!json_.String(generation)) return;
      } else if (key == "xml_digest") {
        if (!json_.String(digest)) return;
      } else if (!json_.Skip()) {
        return;
      }
    }
    if (json_.failed()) return;
    UseGeneration(generation, at);
    if (!stopped_ && !said_digest_ && !digest.empty() && packed_.tables->digest() != digest) {
      said_digest_ = true;
      packed_.remarks.emplace_back(
          "the records were made with another description of this generation");
    }
  }

  void DeviceRecord() {
    Device device;
    bool first = true;
    absl::string_view key;
    size_t at = json_.offset();
    json_.BeginObject();
    bool good = true;
    while (good && json_.NextKey(first, key)) {
      if (key == "family") {
        good = Text(device.family);
      } else if (key == "generation") {
        at = (json_.More(), json_.offset());
        good = Text(device.generation);
      } else if (key == "platform") {
        good = Text(device.platform);
      } else if (key == "driver") {
        good = Text(device.driver);
      } else if (key == "uapi") {
        good = Text(device.uapi);
      } else if (key == "pci_id") {
        good = Optional(device.pci_id);
      } else if (key == "chip_id") {
        good = Optional(device.chip_id);
      } else if (key == "verx10") {
        uint32_t number = 0;
        good = Unsigned32(number);
        device.verx10 = static_cast<int>(number & 0x7fffffff);
      } else {
        good = json_.Skip();
      }
    }
    if (json_.failed()) return;
    if (!device.generation.empty()) UseGeneration(device.generation, at);
    if (device.generation.empty()) device.generation = packed_.device.generation;
    if (device.family.empty()) device.family = packed_.device.family;
    packed_.device = std::move(device);
  }

  void SubmissionRecord() {
    Submission s;
    bool first = true, good = true;
    absl::string_view key;
    json_.BeginObject();
    while (good && json_.NextKey(first, key)) {
      if (key == "index") {
        good = Unsigned32(s.index);
      } else if (key == "engine") {
        good = Text(s.engine);
      } else if (key == "stream") {
        good = Text(s.stream);
      } else if (key == "kind") {
        good = Text(s.kind);
      } else if (key == "context") {
        good = Unsigned32(s.context);
      } else if (key == "slot") {
        good = Unsigned32(s.slot);
      } else if (key == "space") {
        good = Unsigned32(s.space);
      } else if (key == "own_space") {
        good = Optional(s.own_space);
      } else if (key == "batch_address") {
        good = Unsigned(s.batch_address);
      } else if (key == "batch_length") {
        good = Unsigned(s.batch_length);
      } else if (key == "head") {
        good = Optional(s.head);
      } else if (key == "tail") {
        good = Optional(s.tail);
      } else if (key == "acthd") {
        good = Optional(s.acthd);
      } else if (key == "ipehr") {
        good = Optional(s.ipehr);
      } else if (key == "ring") {
        s.ring = Submission::Ring{};
        good = Ring(*s.ring);
      } else if (key == "bases") {
        good = Bases(s.bases);
      } else {
        good = json_.Skip();
      }
    }
    if (!json_.failed()) packed_.submissions.push_back(std::move(s));
  }

  bool Ring(Submission::Ring& ring) {
    bool first = true, good = true;
    absl::string_view key;
    json_.BeginObject();
    while (good && json_.NextKey(first, key)) {
      good = key == "address" ? Unsigned(ring.address)
             : key == "size"  ? Unsigned(ring.size)
                              : json_.Skip();
    }
    return !json_.failed();
  }

  bool Bases(std::vector<Submission::Base>& bases) {
    bool first = true, good = true;
    absl::string_view key;
    json_.BeginObject();
    while (good && json_.NextKey(first, key)) {
      good = Unsigned(bases.emplace_back(Submission::Base{std::string(key)}).address);
    }
    return !json_.failed();
  }

  // "bits":[high,low]
  bool Bits(BitRange& range) {
    bool first = true;
    uint64_t high = 0, low = 0;
    const size_t offset = (json_.More(), json_.offset());
    if (!json_.BeginArray() || !json_.NextItem(first) || !Unsigned(high) ||
        !json_.NextItem(first) || !Unsigned(low)) {
      return json_.FailAt(offset, "[high, low] is expected here");
    }
    if (json_.NextItem(first) || json_.failed() || high < low || high - low >= 64 ||
        high >= kMostRecordBytes * 8) {
      return json_.FailAt(offset, "[high, low] of at most 64 bits is expected here");
    }
    range = {low, static_cast<uint32_t>(high - low + 1)};
    return true;
  }

  bool Value(Given& given) {
    switch (json_.Peek()) {
      case 't':
      case 'f': {
        bool truth = false;
        if (!json_.Bool(truth)) return false;
        given = Given::Bool(truth);
        return true;
      }
      case 'n':
        given = {};
        return json_.Null();
      case '"': {
        absl::string_view text;
        if (!json_.String(text)) return false;
        uint64_t number = 0;
        const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
        given =
            hex && absl::SimpleHexAtoi(text, &number) ? Given::Integer(number) : Given::Name(text);
        return true;
      }
      default: {
        JsonScanner::Number number;
        if (!json_.ReadNumber(number)) return false;
        given = number.is_real    ? Given::Real(number.real)
                : number.negative ? Given::Signed(static_cast<int64_t>(number.integer))
                                  : Given::Integer(number.integer);
        return true;
      }
    }
  }

  bool Fields() {
    bool first = true;
    if (!json_.BeginArray()) return false;
    while (json_.NextItem(first)) {
      Field field;
      size_t offset = json_.offset();
      bool in = true, good = true;
      absl::string_view key;
      if (!json_.BeginObject()) return false;
      while (good && json_.NextKey(in, key)) {
        if (key == "name") {
          good = json_.String(field.name);
        } else if (key == "bits") {
          good = Bits(field.at.emplace());
        } else if (key == "value") {
          json_.More();
          offset = json_.offset();
          good = Value(field.value);
        } else if (key == "enum") {
          good = json_.String(field.value_name);
        } else if (key == "raw") {
          good = Unsigned(field.raw.emplace());
        } else {
          good = json_.Skip();
        }
      }
      if (json_.failed()) return false;
      if (field.name.empty()) return json_.FailAt(offset, "the field needs a \"name\"");
      fields_.push_back(field);
      offsets_.push_back(offset);
    }
    return !json_.failed();
  }

  // Faults and undescribed bits: what fields alone do not say.
  bool OtherBits(Seen& seen) {
    bool first = true;
    if (!json_.BeginArray()) return false;
    while (json_.NextItem(first)) {
      const size_t offset = json_.offset();
      Field field;
      absl::string_view key, kind;
      uint64_t value = 0;
      bool in = true, good = true;
      if (!json_.BeginObject()) return false;
      while (good && json_.NextKey(in, key)) {
        if (key == "kind") {
          good = json_.String(kind);
        } else if (key == "bits") {
          good = kind.empty() || kind == "reserved" || kind == "forced" ? Bits(field.at.emplace())
                                                                        : json_.Skip();
        } else if (key == "value") {
          good = Unsigned(value);
        } else {
          good = json_.Skip();
        }
      }
      if (json_.failed()) return false;
      if (!kind.empty()) seen.lenient = true;
      if (!field.at || (!kind.empty() && kind != "reserved" && kind != "forced")) continue;
      field.value = Given::Raw(value);
      others_.push_back(field);
      other_offsets_.push_back(offset);
    }
    return !json_.failed();
  }

  bool Dwords() {
    bool first = true;
    if (!json_.BeginArray()) return false;
    while (json_.NextItem(first)) {
      absl::string_view text;
      const size_t offset = json_.offset();
      if (!json_.String(text)) return false;
      uint32_t dword = 0;
      if (text.size() > 8) return json_.FailAt(offset, "a dword has at most eight hex digits");
      for (const char c : text) {
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return json_.FailAt(offset, "a dword is written as hex digits");
        dword = dword << 4 | static_cast<uint32_t>(digit);
      }
      for (int shift = 0; shift < 32; shift += 8) {
        base_.push_back(static_cast<uint8_t>(dword >> shift));
      }
    }
    return !json_.failed();
  }

  bool HexBytes() {
    absl::string_view text;
    json_.More();
    const size_t offset = json_.offset();
    if (!json_.String(text)) return false;
    if (text.size() % 2 != 0) return json_.FailAt(offset, "bytes have two hex digits each");
    for (size_t i = 0; i < text.size(); i += 2) {
      uint32_t byte = 0;
      if (!absl::SimpleHexAtoi(text.substr(i, 2), &byte)) {
        return json_.FailAt(offset, "bytes are written as hex digits");
      }
      base_.push_back(static_cast<uint8_t>(byte));
    }
    return true;
  }

  void MemoryRecord(size_t offset, absl::string_view type) {
    Seen seen;
    seen.offset = offset;
    fields_.clear();
    offsets_.clear();
    others_.clear();
    other_offsets_.clear();
    base_.clear();
    bool first = true, good = true;
    absl::string_view key;
    const bool described = type == "packet" || type == "struct";
    json_.BeginObject();
    while (good && json_.NextKey(first, key)) {
      if (key == "name" && described) {
        json_.More();
        seen.name_offset = json_.offset();
        good = json_.String(seen.name);
      } else if (key == "address") {
        good = Unsigned(seen.address.emplace());
      } else if (key == "space") {
        good = Unsigned(seen.space);
      } else if (key == "dwords") {
        seen.has_bytes = true;
        good = Dwords();
      } else if (key == "bytes") {
        seen.has_bytes = true;
        good = HexBytes();
      } else if (key == "fields" && described) {
        seen.has_fields = true;
        good = Fields();
      } else if ((key == "faults" || key == "undescribed") && described) {
        good = OtherBits(seen);
      } else if (key == "bound") {
        good = json_.Bool(seen.is_view);
      } else if (key == "register" && described) {
        seen.of_register = true;
        good = json_.Skip();
      } else {
        good = json_.Skip();
      }
    }
    if (json_.failed()) return;
    // Shown once more; and what the packet before it writes to a register.
    if (seen.is_view || (seen.of_register && (options_.fields_only || !seen.has_bytes))) return;
    Put(seen, described && seen.has_fields);
  }

  void Put(const Seen& seen, bool encode) {
    if (!seen.address) return Say(seen.offset, "the record needs an \"address\"");
    if (seen.space > 0xffffffffu) return Say(seen.offset, "\"space\" has more than 32 bits");
    absl::Span<const uint8_t> bytes = base_;
    if (encode) {
      if (encoder_ == nullptr) {
        stopped_ = true;
        return Say(seen.offset,
                   "the generation is not known: a record {\"type\":\"schema\",\"generation\":…} "
                   "comes first, or --gen names it");
      }
      EncodeRequest request;
      request.container = encoder_->Find(seen.name);
      if (request.container == kNone) {
        return Say(seen.name_offset, encoder_->UnknownContainer(seen.name));
      }
      if (!seen.has_bytes || options_.fields_only) {
        if (seen.has_bytes) request.bytes = base_.size();
        fields_.insert(fields_.end(), others_.begin(), others_.end());
        offsets_.insert(offsets_.end(), other_offsets_.begin(), other_offsets_.end());
        request.lenient = seen.lenient;
      } else {
        request.base = base_;
      }
      request.fields = fields_;
      found_.clear();
      const bool done = encoder_->Encode(request, encoded_, found_);
      for (FieldProblem& problem : found_) {
        Say(problem.field == kNone ? seen.offset : offsets_[problem.field],
            std::move(problem.text));
      }
      if (!done) return;
      bytes = encoded_;
    } else if (!seen.has_bytes) {
      return Say(seen.offset, "the record needs \"fields\" or \"dwords\"");
    }
    const absl::Status status =
        packed_.image.Put(static_cast<uint32_t>(seen.space), *seen.address, bytes);
    if (!status.ok()) {
      Say(seen.offset, std::string(status.message()));
      stopped_ = stopped_ || absl::IsResourceExhausted(status);
    }
  }

  const Source& source_;
  const FindTables& find_tables_;
  const JsonOptions& options_;
  JsonScanner json_;
  Packed packed_;
  Problems problems_;
  std::unique_ptr<Encoder> encoder_;
  bool stopped_ = false, said_registers_ = false, said_digest_ = false;
  // Of the record at hand.
  std::vector<Field> fields_, others_;
  std::vector<size_t> offsets_, other_offsets_;
  std::vector<uint8_t> base_, encoded_;
  std::vector<FieldProblem> found_;
};

}  // namespace

absl::StatusOr<Packed> ReadJson(const Source& source, const FindTables& find_tables,
                                const JsonOptions& options) {
  return JsonReader(source, find_tables, options).Read();
}

}  // namespace packsmith::encode
