#include "runtime/dump/elf_notes.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace packsmith {
namespace {

// Deeper nesting than any version of the notes needs.
constexpr int kMaxDepth = 32;

// A number or a text; anything else is unset.
struct Value {
  std::optional<uint64_t> number;
  std::optional<absl::string_view> text;
};

// 1 to 20 decimal digits, or 0x and 1 to 16 hex digits.
std::optional<uint64_t> ParseNumber(absl::string_view text) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const uint64_t base = hex ? 16 : 10;
  if (hex) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    uint64_t digit;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint64_t>(c - '0');
    } else if (hex && c >= 'a' && c <= 'f') {
      digit = static_cast<uint64_t>(c - 'a' + 10);
    } else if (hex && c >= 'A' && c <= 'F') {
      digit = static_cast<uint64_t>(c - 'A' + 10);
    } else {
      return std::nullopt;
    }
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / base) return std::nullopt;
    value = value * base + digit;
  }
  return value;
}

// One object of a note, member by member.
class Record {
 public:
  virtual ~Record() = default;
  virtual void Begin() = 0;
  // False if the member is known and the value is invalid.
  virtual bool Member(absl::string_view name, const Value& value) = 0;
  // A text that says why the object was dropped or doubted, or nothing.
  virtual std::string End() = 0;

 protected:
  template <typename T>
  static bool Set(const Value& value, T& out) {
    std::optional<uint64_t> number = value.number;
    if (!number && value.text) number = ParseNumber(*value.text);
    if (!number || *number > static_cast<uint64_t>(std::numeric_limits<T>::max())) return false;
    out = static_cast<T>(*number);
    return true;
  }
  template <typename T>
  static bool Set(const Value& value, std::optional<T>& out) {
    T number;
    if (!Set(value, number)) return false;
    out = number;
    return true;
  }
  static bool Set(const Value& value, std::string& out) {
    if (!value.text) return false;
    out = ValidUtf8(*value.text);
    return true;
  }
};

class DeviceRecord : public Record {
 public:
  explicit DeviceRecord(Dump& dump) : dump_(dump) {}
  void Begin() override { device_ = Device(); }
  bool Member(absl::string_view name, const Value& value) override {
    if (name == "family") return Set(value, device_.family);
    if (name == "generation") return Set(value, device_.generation);
    if (name == "platform") return Set(value, device_.platform);
    if (name == "driver") return Set(value, device_.driver);
    if (name == "uapi") return Set(value, device_.uapi);
    if (name == "pci_id") return Set(value, device_.pci_id);
    if (name == "chip_id") return Set(value, device_.chip_id);
    if (name == "verx10") return Set(value, device_.verx10);
    return true;
  }
  std::string End() override {
    if (dump_.device != Device()) return "a second device note; the first one is used";
    dump_.device = std::move(device_);
    return "";
  }

 private:
  Dump& dump_;
  Device device_;
};

class SubmissionRecord : public Record {
 public:
  explicit SubmissionRecord(Dump& dump) : dump_(dump) {}
  void Begin() override {
    submission_ = Submission();
    has_batch_ = false;
    ring_address_.reset();
    ring_size_.reset();
  }
  bool Member(absl::string_view name, const Value& value) override {
    if (name == "index") return Set(value, submission_.index);
    if (name == "engine") return Set(value, submission_.engine);
    if (name == "context") return Set(value, submission_.context);
    if (name == "slot") return Set(value, submission_.slot);
    if (name == "space") return Set(value, submission_.space);
    if (name == "batch_address") return has_batch_ = Set(value, submission_.batch_address);
    if (name == "batch_length") return Set(value, submission_.batch_length);
    if (name == "head") return Set(value, submission_.head);
    if (name == "tail") return Set(value, submission_.tail);
    if (name == "acthd") return Set(value, submission_.acthd);
    if (name == "ipehr") return Set(value, submission_.ipehr);
    if (name == "stream") return Set(value, submission_.stream);
    if (name == "kind") return Set(value, submission_.kind);
    if (name == "own_space") return Set(value, submission_.own_space);
    if (name == "ring_address") return Set(value, ring_address_);
    if (name == "ring_size") return Set(value, ring_size_);
    if (absl::ConsumePrefix(&name, "base_")) {
      uint64_t address = 0;
      if (!Set(value, address)) return false;
      submission_.bases.push_back({std::string(name), address});
      return true;
    }
    if (name == "unless_reached") {
      uint32_t flag = 0;
      const bool good = Set(value, flag);
      submission_.unless_reached = flag != 0;
      return good;
    }
    return true;
  }
  std::string End() override {
    if (ring_address_ && ring_size_)
      submission_.ring = Submission::Ring{*ring_address_, *ring_size_};
    dump_.submissions.push_back(std::move(submission_));
    return has_batch_ ? "" : "a submission without batch_address; taken as 0";
  }

 private:
  Dump& dump_;
  Submission submission_;
  bool has_batch_ = false;
  std::optional<uint64_t> ring_address_, ring_size_;
};

class BufferRecord : public Record {
 public:
  explicit BufferRecord(Dump& dump) : dump_(dump) {}
  void Begin() override {
    buffer_ = Buffer();
    has_address_ = has_size_ = false;
  }
  bool Member(absl::string_view name, const Value& value) override {
    if (name == "space") return Set(value, buffer_.space);
    if (name == "address") return has_address_ = Set(value, buffer_.address);
    if (name == "size") return has_size_ = Set(value, buffer_.size);
    if (name == "name") return Set(value, buffer_.name);
    return true;
  }
  std::string End() override {
    if (!has_address_ || !has_size_) return "a buffer without address or size; left out";
    dump_.buffers.push_back(std::move(buffer_));
    return "";
  }

 private:
  Dump& dump_;
  Buffer buffer_;
  bool has_address_ = false;
  bool has_size_ = false;
};

class MemoryRecord : public Record {
 public:
  explicit MemoryRecord(Dump& dump) : dump_(dump) {}
  void Begin() override {}
  bool Member(absl::string_view name, const Value& value) override {
    if (name == "physical") return Set(value, dump_.physical_space);
    if (name != "complete") return true;
    uint32_t flag = 0;
    const bool good = Set(value, flag);
    dump_.memory_is_complete = flag != 0;
    return good;
  }
  std::string End() override { return ""; }

 private:
  Dump& dump_;
};

class RunRecord : public Record {
 public:
  void Begin() override {}
  bool Member(absl::string_view name, const Value& value) override {
    return name != "run" || Set(value, run_);
  }
  std::string End() override { return ""; }
  const std::string& run() const { return run_; }

 private:
  std::string run_;
};

// Feeds a Record with the members of the outermost object, or of each object in the outermost
// list. Values nested deeper are skipped: whatever a later version puts there costs no memory.
class Handler {
 public:
  using Ch = char;

  Handler(Record& record, const rapidjson::MemoryStream& stream, uint64_t offset, Dump& dump)
      : record_(record), stream_(stream), offset_(offset), dump_(dump) {}

  bool Null() { return Scalar({}); }
  bool Bool(bool) { return Scalar({}); }
  bool Int(int i) { return Int64(i); }
  bool Uint(unsigned u) { return Uint64(u); }
  bool Int64(int64_t i) { return i < 0 ? Scalar({}) : Uint64(static_cast<uint64_t>(i)); }
  bool Uint64(uint64_t u) {
    Value value;
    value.number = u;
    return Scalar(value);
  }
  bool Double(double) { return Scalar({}); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return Scalar({}); }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    Value value;
    value.text = absl::string_view(text, size);
    return Scalar(value);
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (depth_ == record_depth_) key_.assign(text, size);
    return true;
  }
  bool StartObject() {
    if (depth_ == 0) record_depth_ = 1;
    if (++depth_ > kMaxDepth) return false;
    if (depth_ == record_depth_) {
      record_.Begin();
      open_ = true;
    } else if (depth_ == record_depth_ + 1 && open_) {
      return Wrong();
    }
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    if (depth_ == record_depth_) Finish();
    --depth_;
    return true;
  }
  bool StartArray() {
    if (depth_ == 0) record_depth_ = 2;
    if (++depth_ > kMaxDepth) return false;
    if (depth_ == record_depth_ + 1 && open_) return Wrong();
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    --depth_;
    return true;
  }

  // Ends an object in which the text broke off.
  void Finish() {
    if (!open_) return;
    open_ = false;
    if (std::string text = record_.End(); !text.empty()) Report(std::move(text));
  }
  bool too_deep() const { return depth_ > kMaxDepth; }

 private:
  void Report(std::string text) {
    dump_.AddProblem(offset_ + stream_.Tell(), "note: " + std::move(text));
  }
  // A list or an object as the value of a member. Unknown members may be anything.
  bool Wrong() {
    if (!record_.Member(key_, {})) ReportMember();
    return true;
  }
  void ReportMember() {
    Report(absl::StrFormat("the value of \"%s\" is of the wrong kind or too large; ignored",
                           ValidUtf8(absl::string_view(key_).substr(0, 64))));
  }
  bool Scalar(const Value& value) {
    if (depth_ == record_depth_ && open_) {
      if (!record_.Member(key_, value)) ReportMember();
    } else if (depth_ < 2 && depth_ + 1 >= record_depth_) {
      Report("a value instead of an object; ignored");
    }
    return true;
  }

  Record& record_;
  const rapidjson::MemoryStream& stream_;
  const uint64_t offset_;
  Dump& dump_;
  std::string key_;
  int depth_ = 0;
  int record_depth_ = 1;
  bool open_ = false;
};

void Read(Record& record, absl::string_view json, uint64_t offset, Dump& dump) {
  rapidjson::MemoryStream stream(json.data(), json.size());
  Handler handler(record, stream, offset, dump);
  rapidjson::Reader reader;
  // Iterative: with recursion, nested lists of the input would decide how deep the stack is.
  const rapidjson::ParseResult result =
      reader.Parse<rapidjson::kParseIterativeFlag>(stream, handler);
  if (result.IsError()) {
    dump.AddProblem(
        offset + result.Offset(),
        absl::StrFormat(
            "note: %s The part before this was used",
            handler.too_deep() ? "Nested too deep." : rapidjson::GetParseError_En(result.Code())));
  }
  handler.Finish();
}

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void Put(Writer& writer, const char* key, const std::string& value) {
  if (value.empty()) return;
  const std::string text = ValidUtf8(value);
  writer.Key(key);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void PutHex(Writer& writer, const char* key, uint64_t value) {
  writer.Key(key);
  writer.String(absl::StrFormat("0x%x", value).c_str());
}

void PutUint(Writer& writer, const char* key, uint64_t value) {
  writer.Key(key);
  writer.Uint64(value);
}

std::string TextOf(const rapidjson::StringBuffer& out) {
  return std::string(out.GetString(), out.GetSize());
}

}  // namespace

void ReadNote(uint32_t type, absl::string_view json, uint64_t offset, Dump& dump) {
  if (type == kDeviceNote) {
    DeviceRecord record(dump);
    Read(record, json, offset, dump);
  } else if (type == kSubmissionNote) {
    SubmissionRecord record(dump);
    Read(record, json, offset, dump);
  } else if (type == kBuffersNote) {
    BufferRecord record(dump);
    Read(record, json, offset, dump);
  } else if (type == kMemoryNote) {
    MemoryRecord record(dump);
    Read(record, json, offset, dump);
  }
}

std::string ReadRunNote(absl::string_view json, uint64_t offset, Dump& dump) {
  RunRecord record;
  Read(record, json, offset, dump);
  return record.run();
}

std::string DeviceToJson(const Device& device) {
  rapidjson::StringBuffer out;
  Writer writer(out);
  writer.StartObject();
  Put(writer, "family", device.family);
  Put(writer, "generation", device.generation);
  Put(writer, "platform", device.platform);
  Put(writer, "driver", device.driver);
  Put(writer, "uapi", device.uapi);
  if (device.pci_id) PutHex(writer, "pci_id", *device.pci_id);
  if (device.chip_id) PutHex(writer, "chip_id", *device.chip_id);
  if (device.verx10 > 0) PutUint(writer, "verx10", static_cast<uint64_t>(device.verx10));
  writer.EndObject();
  return TextOf(out);
}

std::string SubmissionToJson(const Submission& submission) {
  rapidjson::StringBuffer out;
  Writer writer(out);
  writer.StartObject();
  PutUint(writer, "index", submission.index);
  Put(writer, "engine", submission.engine);
  PutUint(writer, "context", submission.context);
  PutUint(writer, "slot", submission.slot);
  if (submission.space != 0) PutUint(writer, "space", submission.space);
  PutHex(writer, "batch_address", submission.batch_address);
  PutUint(writer, "batch_length", submission.batch_length);
  if (submission.head) PutHex(writer, "head", *submission.head);
  if (submission.tail) PutHex(writer, "tail", *submission.tail);
  if (submission.acthd) PutHex(writer, "acthd", *submission.acthd);
  if (submission.ipehr) PutHex(writer, "ipehr", *submission.ipehr);
  Put(writer, "stream", submission.stream);
  Put(writer, "kind", submission.kind);
  if (submission.own_space) PutUint(writer, "own_space", *submission.own_space);
  if (submission.ring) {
    PutHex(writer, "ring_address", submission.ring->address);
    PutUint(writer, "ring_size", submission.ring->size);
  }
  for (const Submission::Base& base : submission.bases) {
    PutHex(writer, absl::StrCat("base_", ValidUtf8(base.name)).c_str(), base.address);
  }
  if (submission.unless_reached) PutUint(writer, "unless_reached", 1);
  writer.EndObject();
  return TextOf(out);
}

std::string BuffersToJson(absl::Span<const Buffer> buffers) {
  rapidjson::StringBuffer out;
  Writer writer(out);
  writer.StartArray();
  for (const Buffer& buffer : buffers) {
    writer.StartObject();
    if (buffer.space != 0) PutUint(writer, "space", buffer.space);
    PutHex(writer, "address", buffer.address);
    PutUint(writer, "size", buffer.size);
    Put(writer, "name", buffer.name);
    writer.EndObject();
  }
  writer.EndArray();
  return TextOf(out);
}

std::string MemoryToJson(const Dump& dump) {
  rapidjson::StringBuffer out;
  Writer writer(out);
  writer.StartObject();
  PutUint(writer, "complete", dump.memory_is_complete ? 1 : 0);
  if (dump.physical_space) PutUint(writer, "physical", *dump.physical_space);
  writer.EndObject();
  return TextOf(out);
}

std::string RunToJson(absl::string_view run) {
  rapidjson::StringBuffer out;
  Writer writer(out);
  writer.StartObject();
  Put(writer, "run", std::string(run));
  writer.EndObject();
  return TextOf(out);
}

}  // namespace packsmith
