#include "runtime/decode/text_sink.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields.h"
#include "runtime/decode/value.h"

namespace packsmith::decode {
namespace {

constexpr size_t kNameWidth = 46;

// Strings of a dump may hold what a terminal takes for orders: control characters, those of UTF-8's
// C1 block too.
std::string Harmless(absl::string_view text) {
  std::string harmless;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c1 =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&harmless, "\\x%02x", c);
    } else if (c1) {
      absl::StrAppendFormat(&harmless, "\\u%04x", static_cast<unsigned char>(text[++i]));
    } else {
      harmless += text[i];
    }
  }
  return harmless;
}

// Each record is built in one string and handed over whole.
class TextSink : public Sink {
 public:
  TextSink(Output& output, const TextOptions& options) : output_(output), options_(options) {}

  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }

  void OnDevice(const Device& device, uint64_t) override {
    absl::StrAppend(&text_, Bold(), "device", Plain(), "  ", tables_->title());
    if (!device.platform.empty()) absl::StrAppend(&text_, ", platform ", Harmless(device.platform));
    if (device.pci_id) absl::StrAppendFormat(&text_, ", PCI id 0x%04x", *device.pci_id);
    if (!device.driver.empty()) absl::StrAppend(&text_, ", driver ", Harmless(device.driver));
    text_ += "\n";
    Flush();
  }

  void OnSubmission(const Submission& s, uint64_t id) override {
    path_.assign(1, {id, 0});
    absl::StrAppend(&text_, "\n", Bold(), "submission ", s.index, Plain(), "  engine ",
                    s.engine.empty() ? "not known" : Harmless(s.engine), ", context ", s.context,
                    ", slot ", s.slot);
    absl::StrAppendFormat(&text_, ", batch at 0x%x, %d bytes\n", s.batch_address, s.batch_length);
    Flush();
  }

  void OnRecord(const Record& record) override {
    const size_t depth = Depth(record);
    const std::string indent(2 * depth, ' ');
    absl::StrAppendFormat(&text_, "%s0x%012x  ", indent, record.address);
    switch (record.type) {
      case RecordType::kPacket:
      case RecordType::kStruct:
        Described(record, indent);
        break;
      case RecordType::kData:
        absl::StrAppend(&text_, record.name, ", ", record.data_size, " bytes");
        if (record.data_stride != 0) absl::StrAppend(&text_, ", stride ", record.data_stride);
        text_ += "\n";
        Dwords(record, indent);
        break;
      case RecordType::kUnknown:
        absl::StrAppend(&text_, Red(), "unknown", Plain(), "  ", record.bytes.size() / 4,
                        " dwords that no packet matches\n");
        Dwords(record, indent);
        break;
    }
    Flush();
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    absl::StrAppend(&text_, is_problem ? Red() : "",
                    is_problem ? "problem: " : "note: ", Harmless(text), is_problem ? Plain() : "",
                    "\n");
    Flush();
  }

  void OnSummary(const Summary& s) override {
    absl::StrAppend(&text_, "\n", Bold(), "summary", Plain(), "  ", s.submissions, " submissions, ",
                    s.packets, " packets, ", s.structs, " structures, ", s.draws, " draws, ",
                    s.dispatches, " dispatches; ", s.unknown_dwords, " unknown dwords, ",
                    s.problems, " problems");
    bool any = false;
    for (size_t i = 0; i < kFaultKinds; ++i) {
      if (s.faults[i] == 0) continue;
      absl::StrAppend(&text_, any ? ", " : "; faults: ", s.faults[i], " ",
                      FaultKindName(static_cast<FaultKind>(i)));
      any = true;
    }
    absl::StrAppend(&text_, any ? "\n" : ", no faults\n");
    Flush();
  }

 private:
  absl::string_view Bold() const { return options_.color ? "\x1b[1m" : ""; }
  absl::string_view Red() const { return options_.color ? "\x1b[31m" : ""; }
  absl::string_view Plain() const { return options_.color ? "\x1b[0m" : ""; }

  void Flush() {
    output_.Append(text_);
    text_.clear();
  }

  // Packets indent by call, what they lead to stands below them.
  size_t Depth(const Record& record) {
    // A record comes right after its parent or after another one that its parent led to.
    while (!path_.empty() && path_.back().first != record.parent) path_.pop_back();
    const bool below = record.type == RecordType::kStruct || record.type == RecordType::kData;
    const size_t depth = !below ? record.depth : path_.empty() ? 1 : path_.back().second + 1;
    path_.emplace_back(record.id, depth);
    return depth;
  }

  void Described(const Record& record, const std::string& indent) {
    absl::StrAppend(&text_, Bold(), record.name, Plain());
    if (record.index >= 0) absl::StrAppend(&text_, "[", record.index, "]");
    if (record.register_offset >= 0) {
      absl::StrAppendFormat(&text_, "  register 0x%x", record.register_offset);
    }
    absl::StrAppend(&text_, "  ",
                    record.bytes.size() % 4 == 0 ? absl::StrCat(record.bytes.size() / 4, " dwords")
                                                 : absl::StrCat(record.bytes.size(), " bytes"));
    const size_t head = text_.size();
    text_ += "\n";
    size_t hidden = 0;
    ForEachField(*tables_, *record.container, record.bytes, [&](const FieldAt& at) {
      const tables::Leaf& leaf = *at.leaf;
      constexpr uint16_t kNoField = tables::kForced | tables::kMustBeZero | tables::kMustBeOne;
      if ((leaf.flags & kNoField) != 0) return;
      if (at.cut && record.container->variants.count == 0) return;
      const uint64_t raw = ReadBits(record.bytes, at.bit, at.width);
      if (raw == 0 && options_.hide_zero_fields && (leaf.flags & tables::kLength) == 0) {
        ++hidden;
        return;
      }
      text_ += indent;
      text_ += "    ";
      const size_t start = text_.size();
      AppendFieldName(at.name, text_);
      const size_t length = text_.size() - start;
      text_.append(length < kNameWidth ? kNameWidth - length : 1, ' ');
      AppendValue(leaf, at.width, raw);
      text_ += "\n";
    });
    if (hidden != 0) text_.insert(head, absl::StrCat(", ", hidden, " fields zero"));
    for (const Fault& fault : record.faults) {
      absl::StrAppendFormat(&text_, "%s    %sfault: %s, bits %d:%d: %s%s\n", indent, Red(),
                            FaultKindName(fault.kind), fault.bit + fault.width - 1, fault.bit,
                            fault.text, Plain());
    }
  }

  void AppendValue(const tables::Leaf& leaf, uint32_t width, uint64_t raw) {
    const Value value = DecodeValue(*tables_, leaf, width, raw);
    switch (value.kind) {
      case ValueKind::kBool:
        text_ += value.unsigned_value != 0 ? "true" : "false";
        break;
      case ValueKind::kUnsigned:
        absl::StrAppend(&text_, value.unsigned_value);
        break;
      case ValueKind::kSigned:
        absl::StrAppend(&text_, value.signed_value);
        break;
      case ValueKind::kReal:
        if (std::isfinite(value.real)) {
          absl::StrAppendFormat(&text_, "%.9g", value.real);
        } else {
          absl::StrAppendFormat(&text_, "%f (0x%x)", value.real, raw);
        }
        break;
      case ValueKind::kWide:
      case ValueKind::kAddress:
        absl::StrAppendFormat(&text_, "0x%x", value.unsigned_value);
        break;
    }
    const absl::string_view named = tables_->ValueName(leaf, NumberOf(value, raw));
    if (!named.empty()) absl::StrAppend(&text_, " (", named, ")");
    if (leaf.extra != tables::kNone) {
      const absl::string_view unit = tables_->string(tables_->extra(leaf.extra).unit);
      if (!unit.empty()) absl::StrAppend(&text_, "  [", unit, "]");
    }
  }

  void Dwords(const Record& record, const std::string& indent) {
    for (size_t i = 0; i < record.bytes.size(); i += 32) {
      absl::StrAppend(&text_, indent, "   ");
      for (size_t j = i; j < std::min(record.bytes.size(), i + 32); j += 4) {
        const size_t n = std::min<size_t>(4, record.bytes.size() - j);
        absl::StrAppendFormat(&text_, " %0*x", static_cast<int>(2 * n),
                              ReadBits(record.bytes, j * 8, static_cast<uint32_t>(8 * n)));
      }
      text_ += "\n";
    }
    if (record.type == RecordType::kData && record.bytes.size() < record.data_size) {
      absl::StrAppend(&text_, indent, "    and ", record.data_size - record.bytes.size(),
                      " bytes more\n");
    }
  }

  Output& output_;
  TextOptions options_;
  const tables::Tables* tables_ = nullptr;
  // From the submission to the record at hand: id and depth of each.
  std::vector<std::pair<uint64_t, size_t>> path_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Sink> MakeTextSink(Output& output, const TextOptions& options) {
  return std::make_unique<TextSink>(output, options);
}

}  // namespace packsmith::decode
