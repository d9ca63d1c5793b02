#include "runtime/decode/sinks/text_sink.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/unicode.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/masked_bytes.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/plan.h"
#include "runtime/decode/text/record_template.h"
#include "runtime/decode/text/trace_template.h"

namespace packsmith::decode {

std::string Counted(uint64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string Harmless(absl::string_view text) {
  std::string harmless;
  while (!text.empty()) {
    const CodePoint first = FirstCodePoint(text);
    if (!first.valid || (first.bytes == 1 && IsHidden(first.value))) {
      absl::StrAppendFormat(&harmless, "\\x%02x", first.value);
    } else if (first.bytes != 1 && IsHidden(first.value)) {
      if (first.value < 0x10000) {
        absl::StrAppendFormat(&harmless, "\\u%04x", first.value);
      } else {
        absl::StrAppendFormat(&harmless, "\\U%08x", first.value);
      }
    } else {
      absl::StrAppend(&harmless, text.substr(0, first.bytes));
    }
    text.remove_prefix(first.bytes);
  }
  return harmless;
}

namespace {

constexpr size_t kFieldIndent = 4;
// The approximate size of a record's text.
constexpr size_t kUsualText = 512;
constexpr size_t kNameWidth = 46;

// As many are written at once.
constexpr size_t kSpaces = 64;

// Lines are indented by skipping fewer of the spaces that names begin with.
constexpr size_t kMostIndent = 24;

char* Copy(absl::string_view text, char* to) {
  // Kept texts are followed by as many readable bytes, and the line has room.
  if (text.size() <= Texts::kReadable) {
    std::memcpy(to, text.data(), Texts::kReadable);
  } else {
    std::memcpy(to, text.data(), text.size());
  }
  return to + text.size();
}

class TextStyle : public FieldStyle {
 public:
  void Name(const PlannedField&, absl::string_view name, std::string& to) const override {
    MovingName(name, to);
  }
  void MovingName(absl::string_view name, std::string& to) const override {
    BeforeName(to);
    absl::StrAppend(&to, name);
    to.append(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' ');
  }
  void BeforeIndex(absl::string_view name, std::string& to) const override {
    BeforeName(to);
    absl::StrAppend(&to, name, "[");
  }
  void AfterIndex(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "]", name);
  }
  void ValueName(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, " (", name, ")");
  }
  void Unit(absl::string_view unit, std::string& to) const override {
    if (!unit.empty()) absl::StrAppend(&to, "  [", unit, "]");
  }

 private:
  static void BeforeName(std::string& to) { to.append(kMostIndent + kFieldIndent, ' '); }
};

class TextSink : public Sink {
 public:
  TextSink(Output& output, const TextOptions& options) : out_(output), options_(options) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    plans_ = std::make_unique<Plans>(tables, std::make_unique<TextStyle>());
  }

  void OnDevice(const Device& device, uint64_t) override {
    std::string text = absl::StrCat(Bold(), "device", Plain(), "  ", Harmless(tables_->title()));
    if (!device.platform.empty()) absl::StrAppend(&text, ", platform ", Harmless(device.platform));
    if (device.pci_id) absl::StrAppendFormat(&text, ", PCI id 0x%04x", *device.pci_id);
    if (device.chip_id) absl::StrAppendFormat(&text, ", chip id 0x%04x", *device.chip_id);
    if (!device.driver.empty()) absl::StrAppend(&text, ", driver ", Harmless(device.driver));
    absl::StrAppend(&text, "\n", options_.overview);
    out_.Put(text);
  }

  void OnDump(const Dump* dump) override {
    FinishRun();
    dump_ = dump;
    buffer_ = nullptr;
    registers_begun_ = false;
  }

  void OnInsert(absl::string_view text) override {
    FinishRun();
    out_.Put(text);
  }

  void OnSubmission(const Submission& s, uint64_t id) override {
    FinishRun();
    trace_texts_.Clear();
    path_.assign(1, {id, 0});
    own_space_ = s.space;
    std::string text = absl::StrCat("\n", Bold(), "submission ", s.index, Plain(), "  engine ",
                                    s.engine.empty() ? "not known" : Harmless(s.engine),
                                    ", context ", s.context, ", slot ", s.slot);
    if (options_.offsets) {
      absl::StrAppendFormat(&text, ", %s at 0x%x", s.kind.empty() ? "batch" : Harmless(s.kind),
                            s.batch_address);
    }
    absl::StrAppend(&text, ", ", ShowLength(s.batch_length));
    for (const Submission::Base& base : s.bases) {
      absl::StrAppendFormat(&text, ", %s from 0x%x on", Harmless(base.name), base.address);
    }
    out_.Put(text);
    if (options_.offsets) InBuffer(s.space, s.batch_address);
    out_.Put('\n');
  }

  void OnRecord(const Record& record) override {
    if (record.type == RecordType::kPacket && record.bytes.size() == 4 && record.faults.empty() &&
        record.stored.empty()) {
      AddToRun(record);
      return;
    }
    FinishRun();
    if (record.type == RecordType::kRegister) return Register(record);
    Show(record, 1, 0);
  }

  void OnTrace(const RecordTrace& trace) override {
    FinishRun();
    const Record& root = trace.records[0];
    const size_t indent = 2 * Depth(root);
    TraceTemplate& text = trace_texts_.At(trace.number, indent);
    if (text.ready) return Known(trace, text);
    if (!text.refused && TakesText(trace)) return Learn(trace, text);
    text.refused = true;
    path_.pop_back();
    for (const Record& record : trace.records) OnRecord(record);
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    FinishRun();
    out_.Put(is_problem ? Red() : "");
    out_.Put(absl::string_view(is_problem ? "problem: " : "note: "));
    out_.Put(Harmless(text));
    out_.Put(is_problem ? Plain() : "");
    out_.Put('\n');
  }

  void OnSummary(const Summary& s) override {
    FinishRun();
    std::string text = absl::StrCat(
        "\n", Bold(), "summary", Plain(), "  ", Counted(s.submissions, "submission"), ", ",
        Counted(s.packets, "packet"), ", ", Counted(s.structs, "structure"), ", ",
        Counted(s.draws, "draw"), ", ", s.dispatches,
        s.dispatches == 1 ? " dispatch; " : " dispatches; ",
        Counted(s.unknown_dwords, "unknown dword"), ", ", Counted(s.problems, "problem"));
    bool any = false;
    for (size_t i = 0; i < kFaultKinds; ++i) {
      if (s.faults[i] == 0) continue;
      absl::StrAppend(&text, any ? ", " : "; faults: ", s.faults[i], " ",
                      FaultKindName(static_cast<FaultKind>(i)));
      any = true;
    }
    absl::StrAppend(&text, any ? "\n" : ", no faults\n");
    out_.Put(text);
    out_.Flush();
  }

  void OnPause() override {
    FinishRun();
    out_.Flush();
  }

 private:
  absl::string_view Bold() const { return options_.color ? "\x1b[1m" : ""; }
  absl::string_view Red() const { return options_.color ? "\x1b[31m" : ""; }
  absl::string_view Plain() const { return options_.color ? "\x1b[0m" : ""; }

  // Equal packets of one dword wait here until something else comes.
  void AddToRun(const Record& record) {
    const auto dword = static_cast<uint32_t>(ReadBits(record.bytes, 0, 32));
    if (run_count_ != 0 && run_.container == record.container && run_dword_ == dword &&
        run_.depth == record.depth && run_.parent == record.parent && run_.space == record.space) {
      ++run_count_;
      run_.id = record.id;
      run_last_ = record.address;
      return;
    }
    FinishRun();
    // The only members that such packets have.
    run_.id = record.id;
    run_.parent = record.parent;
    run_.space = record.space;
    run_.address = record.address;
    run_.depth = record.depth;
    run_.draw = record.draw;
    run_.dispatch = record.dispatch;
    run_.container = record.container;
    run_.name = record.name;
    run_.shape = record.shape;
    run_parts_.assign(record.parts.begin(), record.parts.end());
    run_.parts = run_parts_;
    run_dword_ = dword;
    run_count_ = 1;
    run_last_ = record.address;
  }

  void FinishRun() {
    if (run_count_ == 0) return;
    uint8_t bytes[4];
    std::memcpy(bytes, &run_dword_, 4);
    run_.bytes = bytes;
    const uint64_t count = run_count_;
    run_count_ = 0;
    Show(run_, count, run_last_);
    run_.bytes = {};
  }

  void Show(const Record& record, uint64_t count, uint64_t last) {
    const size_t indent = 2 * Depth(record);
    if (TakesText(record, count)) {
      if (const RecordTemplate* const text = texts_.Find(record, indent)) {
        return Known(record, *text, indent);
      }
    }
    out_.Commit(Begin(record, indent, out_.Reserve(RoomOfBeginning(indent))));
    switch (record.type) {
      case RecordType::kPacket:
      case RecordType::kStruct:
        Described(record, indent, count, last);
        break;
      case RecordType::kData:
        DataHead(record);
        if (options_.offsets) InBuffer(record.space, record.address);
        out_.Put('\n');
        if (record.kernel != nullptr && options_.about_kernel) {
          Lines(options_.about_kernel(record), indent + kFieldIndent);
        } else if (record.elements.empty()) {
          Dwords(record, indent);
        } else {
          Rows(record, indent);
        }
        break;
      case RecordType::kUnknown:
        out_.Put(Red());
        out_.Put("unknown");
        out_.Put(Plain());
        out_.Put("  ");
        Size(record.bytes.size());
        out_.Put(" that no packet matches\n");
        Dwords(record, indent);
        break;
      case RecordType::kRegister:
        break;
    }
  }

  static size_t RoomOfBeginning(size_t indent) { return indent + kSpaces + kMostDigits; }
  // The beginning of a record's first line.
  char* Begin(const Record& record, size_t indent, char* to) const {
    std::memset(to, ' ', kSpaces);
    if (indent > kSpaces) std::memset(to, ' ', indent);
    to += indent;
    if (!options_.offsets) return to;
    to = WriteAddress(record.address, to);
    *to++ = ' ';
    *to++ = ' ';
    return to;
  }

  // As in the dump, then by its description.
  void Register(const Record& record) {
    if (!registers_begun_ || record.engine != registers_of_) {
      registers_begun_ = true;
      registers_of_ = std::string(record.engine);
      out_.Put(absl::StrCat("\n", Bold(), "registers of ",
                            registers_of_.empty() ? "the device" : Harmless(registers_of_), Plain(),
                            "\n"));
    }
    const ErrorRegister& one = *record.dumped;
    out_.Put(absl::StrFormat("  %s 0x%0*x", Harmless(one.name), one.is_64 ? 16 : 8, one.value));
    for (size_t i = 0; i < one.extra.size(); ++i) {
      out_.Put(absl::StrFormat("%s0x%x", i == 0 ? " [" : ", ", one.extra[i]));
    }
    if (!one.extra.empty()) out_.Put(']');
    if (record.container == nullptr) {
      out_.Put(", which is not described\n");
      return;
    }
    out_.Put("  ");
    Described(record, 2, 1, 0);
  }

  // Packets are indented by call, and their targets below them.
  size_t Depth(const Record& record) {
    // A record comes right after its parent or after another target of its parent.
    while (!path_.empty() && path_.back().first != record.parent) path_.pop_back();
    const bool below =
        record.type == RecordType::kStruct || record.type == RecordType::kData || record.bound;
    const size_t depth = !below ? record.depth : path_.empty() ? 1 : path_.back().second + 1;
    path_.emplace_back(record.id, depth);
    return depth;
  }

  void Size(size_t bytes) {
    const bool dwords = bytes % 4 == 0;
    const size_t count = dwords ? bytes / 4 : bytes;
    out_.Decimal(count);
    out_.Put(absl::string_view(dwords ? (count == 1 ? " dword" : " dwords")
                                      : (count == 1 ? " byte" : " bytes")));
  }

  // The buffer that has an address, if the dump names one.
  void InBuffer(uint32_t space, uint64_t address) {
    if (dump_ == nullptr || dump_->buffers.empty()) return;
    // The same address often comes again.
    if (buffer_ == nullptr || address != buffer_address_ || space != buffer_space_) {
      buffer_ = dump_->FindBuffer(space, address);
      buffer_address_ = address;
      buffer_space_ = space;
      if (buffer_ != nullptr) buffer_name_ = Harmless(buffer_->name);
    }
    if (buffer_ == nullptr) return;
    out_.Put("  in ");
    out_.Put(buffer_name_.empty() ? absl::string_view("a buffer") : buffer_name_);
    out_.Put('+');
    out_.Hex(address - buffer_->address);
  }

  uint32_t SpaceOf(const Record& record, const PlannedField& field, uint64_t bit) const {
    if (field.leaf->extra == tables::kNone) return own_space_;
    const uint32_t index = tables_->extra(field.leaf->extra).pointer;
    if (index == tables::kNone) return own_space_;
    const tables::Pointer& pointer = tables_->pointer(index);
    if (pointer.space == 0) return own_space_;
    // A field of a part, or of an item of the tail, depends on others of the same.
    const uint64_t base = bit - field.bit;
    const absl::Span<const tables::Leaf> tail = tables_->leaves(record.container->tail_leaves);
    const bool in_tail = std::any_of(tail.begin(), tail.end(),
                                     [&](const tables::Leaf& leaf) { return &leaf == field.leaf; });
    const Scope scope(*tables_, *record.container, record.bytes, in_tail ? 0 : base,
                      in_tail ? base : 0);
    return decode::SpaceOf(pointer, scope, own_space_);
  }

  void Described(const Record& record, size_t indent, uint64_t count, uint64_t last) {
    if (TakesText(record, count) && texts_.IsWorth(record)) return Learn(record, indent);
    Name(record);
    if (record.register_offset >= 0) {
      out_.Put("  register ");
      out_.Hex(static_cast<uint64_t>(record.register_offset));
    }
    out_.Put("  ");
    Size(record.bytes.size());
    out_.Commit(Number(record, count, out_.Reserve(kRoomOfNumber)));
    if (record.bound) {
      out_.Put("  bound, from submission ");
      out_.Decimal(record.submission);
    }
    if (count > 1) {
      out_.Put(", ");
      out_.Decimal(count);
      out_.Put(" times");
      if (options_.offsets) {
        out_.Put(", the last at ");
        out_.Hex(last);
      }
    }
    if (options_.hide_zero_fields) SelectFields(record);
    if (record.type == RecordType::kStruct && record.register_offset < 0 && options_.offsets) {
      InBuffer(record.space, record.address);
    }
    out_.Put('\n');
    if (options_.hide_zero_fields) {
      for (const ShownField& shown : selected_) Field(record, shown, indent);
    } else {
      ForEachShown(*tables_, *plans_, record.view(),
                   [&](const PlannedFields& fields, size_t i, uint64_t bit, uint32_t width,
                       uint64_t raw, int64_t index) {
                     Field(record, {&fields.fields[i], bit, raw, index, width, false}, indent);
                   });
    }
    if (options_.undescribed) {
      for (const BitRun& run : Undescribed(*tables_, record.view())) {
        CountUndescribed(record, options_.undescribed_seen);
        out_.Fill(' ', indent + kFieldIndent);
        out_.Put(absl::StrFormat("bits %d:%d are set, and not described: 0x%x\n",
                                 run.bit + run.width - 1, run.bit, run.value));
      }
    }
    for (const Stored& stored : record.stored) {
      out_.Fill(' ', indent + kFieldIndent);
      out_.Put(absl::StrFormat("stored by an earlier packet: bits %d:%d are 0x%x\n",
                               stored.bit + stored.width - 1, stored.bit, stored.value));
    }
    for (const Fault& fault : record.faults) {
      out_.Fill(' ', indent + kFieldIndent);
      out_.Put(absl::StrFormat("%sfault: %s, bits %d:%d: %s%s\n", Red(), FaultKindName(fault.kind),
                               fault.bit + fault.width - 1, fault.bit, Harmless(fault.text),
                               Plain()));
    }
  }

  // Whether the record's text is that of its fields, which may be cached.
  bool TakesText(const Record& record, uint64_t count) const {
    return record.shape != 0 && count == 1 && record.faults.empty() && record.stored.empty() &&
           !options_.undescribed;
  }

  void Name(const Record& record) {
    if (options_.color) out_.Put(Bold());
    out_.Put(record.name);
    if (options_.color) out_.Put(Plain());
    if (record.index >= 0) {
      out_.Put('[');
      out_.Decimal(static_cast<uint64_t>(record.index));
      out_.Put(']');
    }
  }

  // Bytes that Number() may write.
  static constexpr size_t kRoomOfNumber = 3 * kMostDigits;
  // The number of a draw or dispatch, or the range of `count` of them that begins with it.
  static char* Number(const Record& record, uint64_t count, char* to) {
    const bool draws = record.container->role == tables::Role::kDraw;
    if (record.type != RecordType::kPacket || record.container->role == tables::Role::kOther) {
      return to;
    }
    const auto put = [&](absl::string_view text) { to += text.copy(to, text.size()); };
    put(draws ? (count == 1 ? "  draw " : "  draws ")
              : (count == 1 ? "  dispatch " : "  dispatches "));
    const uint64_t first = draws ? record.draw : record.dispatch;
    to = WriteDecimal(first, to);
    if (count == 1) return to;
    put(" to ");
    return WriteDecimal(first + count - 1, to);
  }

  // For a record whose shape has come before.
  void Known(const Record& record, const RecordTemplate& text, size_t indent) {
    const size_t count = text.varying.size();
    raws_.resize(std::max(raws_.size(), count));
    uint64_t hidden = text.zeros;
    for (size_t i = 0; i < count; ++i) {
      const ShownField& field = text.varying[i].field;
      raws_[i] = ReadBits(record.bytes, field.bit, field.width);
      hidden += Hides(field, raws_[i]);
    }
    char* to = Begin(record, indent, out_.Reserve(text.room));
    const absl::string_view head = text.head;
    if (record.index >= 0) {
      to = Copy(head.substr(0, text.name_end), to);
      *to++ = '[';
      to = WriteDecimal(static_cast<uint64_t>(record.index), to);
      *to++ = ']';
      to = Copy(head.substr(text.name_end, text.head_end - text.name_end), to);
    } else {
      to = Copy(head.substr(0, text.head_end), to);
    }
    if (record.container->role != tables::Role::kOther) to = Number(record, 1, to);
    to = Hidden(hidden, to);
    if (record.type == RecordType::kStruct && options_.offsets && dump_ != nullptr &&
        !dump_->buffers.empty()) {
      out_.Commit(to);
      InBuffer(record.space, record.address);
      to = out_.Reserve(text.room);
    }
    *to++ = '\n';
    const char* const lines = text.text.data();
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
      const RecordTemplate::Varying& varying = text.varying[i];
      to = Copy({lines + at, varying.text_end - at}, to);
      at = varying.text_end;
      if (Hides(varying.field, raws_[i])) continue;
      to = Line(record, varying.field, raws_[i], indent, to, text.room);
    }
    out_.Commit(Copy({lines + at, text.text_size - at}, to));
  }

  // The same, for one that has not, or whose fields have held other values.
  ABSL_ATTRIBUTE_NOINLINE void Learn(const Record& record, size_t indent) {
    SelectAll(record);
    uint64_t hidden = 0;
    for (const ShownField& shown : selected_) hidden += Hides(shown, shown.raw);
    RecordTemplate& text = texts_.Learn(record, indent, selected_);
    text.text.reserve(kUsualText);
    Name(record);
    text.head = absl::StrCat(Bold(), record.name, Plain());
    text.name_end = text.head.size();
    bool whole = out_.Written(
        [&] {
          out_.Put("  ");
          Size(record.bytes.size());
        },
        text.head);
    text.head_end = text.head.size();
    text.head.append(Texts::kReadable, ' ');
    out_.Commit(Number(record, 1, out_.Reserve(kRoomOfNumber)));
    Hidden(hidden);
    if (record.type == RecordType::kStruct && options_.offsets) {
      InBuffer(record.space, record.address);
    }
    out_.Put('\n');
    for (size_t i = 0; i < selected_.size(); ++i) {
      const ShownField& shown = selected_[i];
      const bool hides = Hides(shown, shown.raw);
      if (text.varies[i]) {
        text.varying.push_back({shown, text.text.size()});
        text.room += RoomOf(*shown.field, indent) + Texts::kReadable;
        if (!hides) Field(record, shown, indent);
      } else if (hides) {
        ++text.zeros;
      } else {
        whole &= out_.Written([&] { Field(record, shown, indent); }, text.text);
      }
    }
    if (!whole || text.text.size() > RecordTemplates::kMostText) return texts_.Drop(text);
    text.text_size = text.text.size();
    text.text.append(Texts::kReadable, ' ');
    text.room += text.text.size() + text.head.size() + RoomOfBeginning(indent) + 4 * kMostDigits +
                 kRoomOfNumber;
  }

  bool TakesText(const RecordTrace& trace) const {
    if (options_.undescribed) return false;
    const auto may_run = [](const Record& record) {
      return record.type == RecordType::kPacket && record.bytes.size() == 4;
    };
    const Record* before = nullptr;
    for (const Record& record : trace.records) {
      if (record.kernel != nullptr && options_.about_kernel) return false;
      if (may_run(record) &&
          (before == nullptr || (before->container == record.container && may_run(*before)))) {
        return false;
      }
      before = &record;
    }
    return true;
  }

  // Line() writes the name, an address and nothing else.
  bool IsOnlyItsValue(const ShownField& shown, size_t indent) const {
    const PlannedField& field = *shown.field;
    return field.form == ValueForm::kAddress && field.names == nullptr && field.unit.empty() &&
           shown.index < 0 && indent <= kMostIndent && (dump_ == nullptr || dump_->buffers.empty());
  }

  // For a trace whose text is cached.
  ABSL_ATTRIBUTE_NOINLINE void Known(const RecordTrace& trace, const TraceTemplate& text) {
    char* to = out_.Reserve(text.room);
    const char* const lines = text.text.data();
    size_t at = 0;
    for (const TraceTemplate::Step& step : text.steps) {
      to = Copy({lines + at, step.text_end - at}, to);
      at = step.text_end;
      const Record& record = trace.records[step.record];
      switch (step.kind) {
        case TraceTemplate::Kind::kAddress:
          to = WriteAddress(record.address, to);
          break;
        case TraceTemplate::Kind::kField: {
          const ShownField& field = text.fields[step.field];
          const uint64_t raw = ReadBits(record.bytes, field.bit, field.width);
          if (!Hides(field, raw)) to = Line(record, field, raw, step.indent, to, text.room);
          break;
        }
        case TraceTemplate::Kind::kPointer: {
          const ShownField& field = text.fields[step.field];
          const uint64_t raw = ReadBits(record.bytes, field.bit, field.width);
          if (Hides(field, raw)) {
            to -= step.name;
            break;
          }
          to = WriteHex(raw << field.field->shift, to);
          *to++ = '\n';
          break;
        }
        case TraceTemplate::Kind::kHidden: {
          uint64_t hidden = step.zeros;
          for (uint32_t i = 0; i < step.fields; ++i) {
            const ShownField& field = text.fields[step.field + i];
            hidden += Hides(field, ReadBits(record.bytes, field.bit, field.width));
          }
          to = Hidden(hidden, to);
          break;
        }
        case TraceTemplate::Kind::kBuffer:
          out_.Commit(to);
          InBuffer(record.space, record.address);
          to = out_.Reserve(text.room);
          break;
        case TraceTemplate::Kind::kDwords:
          out_.Commit(to);
          Dwords(record, step.indent);
          to = out_.Reserve(text.room);
          break;
      }
    }
    out_.Commit(Copy({lines + at, text.text_size - at}, to));
  }

  // Writes a trace and keeps the text.
  ABSL_ATTRIBUTE_NOINLINE void Learn(const RecordTrace& trace, TraceTemplate& text) {
    bool whole = true;
    text.text.reserve(trace.records.size() * kUsualText);
    text.steps.reserve(trace.records.size() * 4);
    text.room = 2 * Texts::kReadable;
    path_.pop_back();
    for (uint32_t i = 0; i < trace.records.size(); ++i) {
      const Record& record = trace.records[i];
      const absl::Span<const uint8_t> varying = trace.varying[i];
      const size_t indent = 2 * Depth(record);
      const auto put = [&](const auto& write) { whole &= out_.Written(write, text.text); };
      if (text.text.size() > TraceTemplates::kMostText || text.room > TraceTemplates::kMostRoom) {
        whole = false;
        text.text.clear();
        text.steps.clear();
        text.fields.clear();
        text.room = 0;
      }
      const auto step = [&](TraceTemplate::Kind kind, size_t room) -> TraceTemplate::Step& {
        text.steps.push_back({kind, i, text.text.size(), indent});
        text.room += room + Texts::kReadable;
        return text.steps.back();
      };
      const auto in_buffer = [&] {
        if (!options_.offsets || dump_ == nullptr || dump_->buffers.empty()) return;
        step(TraceTemplate::Kind::kBuffer, 0);
        InBuffer(record.space, record.address);
      };
      put([&] { out_.Fill(' ', indent); });
      if (options_.offsets) {
        step(TraceTemplate::Kind::kAddress, kMostDigits);
        out_.Address(record.address);
        put([&] { out_.Put("  "); });
      }
      if (record.type == RecordType::kData) {
        put([&] { DataHead(record); });
        in_buffer();
        put([&] { out_.Put('\n'); });
        if (std::any_of(varying.begin(), varying.end(), [](uint8_t b) { return b != 0; })) {
          step(TraceTemplate::Kind::kDwords, 0);
          Dwords(record, indent);
        } else {
          put([&] { Dwords(record, indent); });
        }
        continue;
      }
      put([&] {
        Name(record);
        out_.Put("  ");
        Size(record.bytes.size());
      });
      const uint32_t first = static_cast<uint32_t>(text.fields.size());
      uint64_t zeros = 0, hidden = 0;
      const bool in_buffers = dump_ != nullptr && !dump_->buffers.empty();
      const auto varies = [&](const ShownField& shown) {
        // The buffer that has an address may depend on other bits.
        if (in_buffers && shown.field->leaf->type == tables::LeafType::kAddress) return true;
        return HasBits(shown.bit, shown.width, varying);
      };
      SelectAll(record);
      for (const ShownField& shown : selected_) {
        hidden += Hides(shown, shown.raw);
        if (varies(shown)) {
          text.fields.push_back(shown);
        } else {
          zeros += Hides(shown, shown.raw);
        }
      }
      if (options_.hide_zero_fields && text.fields.size() != first) {
        TraceTemplate::Step& count = step(TraceTemplate::Kind::kHidden, 3 * kMostDigits);
        count.field = first;
        count.fields = static_cast<uint32_t>(text.fields.size()) - first;
        count.zeros = zeros;
        Hidden(hidden);
      } else {
        put([&] { Hidden(hidden); });
      }
      if (record.type == RecordType::kStruct) in_buffer();
      put([&] { out_.Put('\n'); });
      uint32_t next = first;
      for (const ShownField& shown : selected_) {
        const bool hides = Hides(shown, shown.raw);
        if (varies(shown) && IsOnlyItsValue(shown, indent)) {
          const absl::string_view name = shown.field->name.substr(kMostIndent - indent);
          text.text.append(name.data(), name.size());
          TraceTemplate::Step& pointer = step(TraceTemplate::Kind::kPointer, kMostDigits);
          pointer.field = next++;
          pointer.name = name.size();
          if (!hides) Field(record, shown, indent);
        } else if (varies(shown)) {
          step(TraceTemplate::Kind::kField, RoomOf(*shown.field, indent)).field = next++;
          if (!hides) Field(record, shown, indent);
        } else if (!hides) {
          put([&] { Field(record, shown, indent); });
        }
      }
    }
    text.room += text.text.size();
    text.ready = whole && text.text.size() <= TraceTemplates::kMostText &&
                 text.room <= TraceTemplates::kMostRoom;
    if (!text.ready) return text.Refuse();
    text.text_size = text.text.size();
    text.text.append(Texts::kReadable, ' ');
  }

  bool Hides(const ShownField& field, uint64_t raw) const {
    return options_.hide_zero_fields && raw == 0 && !field.is_length;
  }

  void Hidden(uint64_t hidden) { out_.Commit(Hidden(hidden, out_.Reserve(3 * kMostDigits))); }
  static char* Hidden(uint64_t hidden, char* to) {
    if (hidden == 0) return to;
    *to++ = ',';
    *to++ = ' ';
    to = WriteDecimal(hidden, to);
    std::memcpy(to, hidden == 1 ? " field zero " : " fields zero", 12);
    return to + (hidden == 1 ? 11 : 12);
  }

  void SelectAll(const Record& record) {
    selected_.clear();
    ForEachShown(*tables_, *plans_, record.view(),
                 [&](const PlannedFields& fields, size_t i, uint64_t bit, uint32_t width,
                     uint64_t raw, int64_t index) {
                   selected_.push_back(
                       {&fields.fields[i], bit, raw, index, width, fields.bits[i].is_length});
                 });
  }
  // Selects the fields that are not hidden, and counts the hidden ones.
  void SelectFields(const Record& record) {
    uint64_t hidden = 0;
    selected_.clear();
    ForEachShown(*tables_, *plans_, record.view(),
                 [&](const PlannedFields& fields, size_t i, uint64_t bit, uint32_t width,
                     uint64_t raw, int64_t index) {
                   if (raw == 0 && !fields.bits[i].is_length) {
                     ++hidden;
                   } else {
                     selected_.push_back({&fields.fields[i], bit, raw, index, width, false});
                   }
                 });
    Hidden(hidden);
  }

  // Bytes that Line() may write: the texts, numbers, padding of the name, and bytes copied in
  // excess.
  static size_t RoomOf(const PlannedField& field, size_t indent) {
    return indent + field.text_bytes + 4 * kMostDigits + kNameWidth + Texts::kReadable;
  }

  void Field(const Record& record, const ShownField& shown, size_t indent) {
    const size_t room = RoomOf(*shown.field, indent);
    out_.Commit(Line(record, shown, shown.raw, indent, out_.Reserve(room), room));
  }

  // Writes a line to `to`, the end of what is written, and returns its end. There are `room` bytes
  // after that, too. Inline: there are many, and `shown` need not pass through memory.
  ABSL_ATTRIBUTE_ALWAYS_INLINE char* Line(const Record& record, const ShownField& shown,
                                          uint64_t raw, size_t indent, char* to, size_t room) {
    const PlannedField& field = *shown.field;
    if (indent > kMostIndent) {
      std::memset(to, ' ', indent - kMostIndent);
      to += indent - kMostIndent;
      indent = kMostIndent;
    }
    to = Copy(field.name.substr(kMostIndent - indent), to);
    if (shown.index >= 0) {
      const char* const begin = to - (field.name.size() - kMostIndent - kFieldIndent);
      to = Copy(field.after_index, WriteDecimal(static_cast<uint64_t>(shown.index), to));
      const auto length = static_cast<size_t>(to - begin);
      const size_t spaces = length < kNameWidth ? kNameWidth - length : 1;
      std::memset(to, ' ', spaces);
      to += spaces;
    }
    uint64_t number = raw;
    switch (field.form) {
      case ValueForm::kBool:
        std::memcpy(to, raw != 0 ? "true " : "false", 5);
        to += raw != 0 ? 4 : 5;
        break;
      case ValueForm::kUnsigned:
        number = raw << field.shift;
        to = WriteDecimal(number, to);
        break;
      case ValueForm::kAddress:
        number = raw << field.shift;
        to = WriteHex(number, to);
        break;
      case ValueForm::kOther:
        to = Other(field, shown.width, raw, number, to);
        break;
    }
    if (field.names != nullptr) {
      const absl::string_view named = field.names->Find(number);
      if (!named.empty()) to = Copy(named, to);
    }
    if (!field.unit.empty()) to = Copy(field.unit, to);
    if (field.leaf->type == tables::LeafType::kAddress && raw != 0 && dump_ != nullptr &&
        !dump_->buffers.empty()) {
      out_.Commit(to);
      InBuffer(SpaceOf(record, field, shown.bit), number);
      to = out_.Reserve(room);
    }
    *to = '\n';
    return to + 1;
  }

  // Values that are not written in one of the usual ways; `number` is the key of their names.
  char* Other(const PlannedField& field, uint32_t width, uint64_t raw, uint64_t& number, char* to) {
    const decode::Value value = DecodeValue(*tables_, *field.leaf, width, raw);
    number = NumberOf(value, raw);
    switch (value.kind) {
      case ValueKind::kBool:
        std::memcpy(to, value.unsigned_value != 0 ? "true " : "false", 5);
        return to + (value.unsigned_value != 0 ? 4 : 5);
      case ValueKind::kUnsigned:
        return WriteDecimal(value.unsigned_value, to);
      case ValueKind::kSigned:
        return WriteSignedDecimal(value.signed_value, to);
      case ValueKind::kReal: {
        if (std::isfinite(value.real)) return WriteReal(value.real, to);
        const std::string text = absl::StrFormat("%f (0x%x)", value.real, raw);
        return to + text.copy(to, kMostDigits);
      }
      case ValueKind::kWide:
      case ValueKind::kAddress:
        return WriteHex(value.unsigned_value, to);
    }
    return to;
  }

  void DataHead(const Record& record) {
    out_.Put(record.name);
    out_.Put(", ");
    out_.Decimal(record.data_size);
    out_.Put(" bytes");
    if (record.data_stride != 0) {
      out_.Put(", stride ");
      out_.Decimal(record.data_stride);
    }
    About(record);
  }

  // What is known of data except its size.
  void About(const Record& record) {
    if (record.slot >= 0) {
      out_.Put(", slot ");
      out_.Decimal(static_cast<uint64_t>(record.slot));
    }
    if (record.per_instance && record.step == 0) {
      out_.Put(", one row for all instances");
    } else if (record.per_instance) {
      out_.Put(", a row for every ");
      out_.Decimal(record.step);
      out_.Put(absl::string_view(record.step == 1 ? " instance" : " instances"));
    }
    if (record.kernel == nullptr) return;
    if (!record.kernel->stage.empty()) {
      out_.Put(", ");
      out_.Put(record.kernel->stage);
    }
    if (record.kernel->simd != 0) {
      out_.Put(", SIMD");
      out_.Decimal(record.kernel->simd);
    }
    if (record.kernel->ends != "end") {
      out_.Put(", end not found: up to the ");
      out_.Put(record.kernel->ends);
    }
  }

  // Text from elsewhere.
  void Lines(absl::string_view text, size_t indent) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      out_.Fill(' ', indent);
      // Tabs are harmless, and common here.
      out_.Put(Harmless(absl::StrReplaceAll(text.substr(0, end), {{"\t", "    "}})));
      out_.Put('\n');
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // A line for each row of typed data: its number, then each element's components.
  void Rows(const Record& record, size_t indent) {
    constexpr uint64_t kMostUnnamed = 8;  // of rows with one unnamed component, in a line
    const bool dense = record.elements.size() == 1 &&
                       record.data_stride == record.elements[0].format->bits / 8 &&
                       tables_->components(*record.elements[0].format).size() == 1;
    uint64_t shown = 0, at = ~uint64_t{0};
    ForEachElement(
        record, [&](uint64_t row, const DataElement& element, absl::Span<const uint8_t> bytes) {
          if (row != at) {
            if (!dense || shown % kMostUnnamed == 0) {
              if (shown != 0) out_.Put('\n');
              out_.Fill(' ', indent + kFieldIndent);
              out_.Put('[');
              out_.Decimal(row);
              out_.Put("]");
            }
            ++shown;
            at = row;
          } else {
            out_.Put(',');
          }
          for (const tables::Component& component : tables_->components(*element.format)) {
            if (component.type == tables::ComponentType::kUnused) continue;
            const decode::Value value = DecodeComponent(component, bytes);
            out_.Put(' ');
            switch (value.kind) {
              case ValueKind::kReal:
                out_.Real(value.real);
                break;
              case ValueKind::kSigned:
                out_.SignedDecimal(value.signed_value);
                break;
              default:
                out_.Decimal(value.unsigned_value);
            }
          }
          if (!dense && !element.name.empty()) {
            out_.Put(" (");
            out_.Put(element.name);
            out_.Put(')');
          }
        });
    if (shown != 0) out_.Put('\n');
    if (shown < record.data_rows) {
      out_.Fill(' ', indent + kFieldIndent);
      out_.Put("and ");
      out_.Decimal(record.data_rows - shown);
      out_.Put(" more rows\n");
    }
  }

  void Dwords(const Record& record, size_t indent) {
    for (size_t i = 0; i < record.bytes.size(); i += 32) {
      out_.Fill(' ', indent + 3);
      absl::Span<const uint8_t> line = record.bytes.subspan(i, 32);
      char* to = out_.Reserve(128);
      uint32_t dword = 0;
      for (; line.size() >= 4; line.remove_prefix(4)) {
        std::memcpy(&dword, line.data(), 4);
        *to++ = ' ';
        to = WriteHex8(dword, to);
      }
      if (!line.empty()) {
        // The last bytes, if they are not a whole dword.
        const size_t n = line.size();
        dword = 0;
        for (size_t k = 0; k < n; ++k) dword |= uint32_t{line[k]} << 8 * k;
        char digits[8];
        WriteHex8(dword, digits);
        *to++ = ' ';
        std::memcpy(to, digits + 8 - 2 * n, 2 * n);
        to += 2 * n;
      }
      *to++ = '\n';
      out_.Commit(to);
    }
    if (record.type == RecordType::kData && record.bytes.size() < record.data_size) {
      out_.Fill(' ', indent + kFieldIndent);
      out_.Put("and ");
      out_.Decimal(record.data_size - record.bytes.size());
      out_.Put(" more bytes\n");
    }
  }

  ChunkWriter out_;
  TextOptions options_;
  const tables::Tables* tables_ = nullptr;
  std::unique_ptr<Plans> plans_;
  const Dump* dump_ = nullptr;
  uint32_t own_space_ = 0;
  bool registers_begun_ = false;
  std::string registers_of_;
  // The last buffer that was looked up.
  const Buffer* buffer_ = nullptr;
  uint64_t buffer_address_ = 0;
  uint32_t buffer_space_ = 0;
  std::string buffer_name_;
  // From the submission to the record at hand: id and depth of each.
  std::vector<std::pair<uint64_t, size_t>> path_;
  std::vector<ShownField> selected_;  // of the record at hand
  RecordTemplates texts_;
  TraceTemplates trace_texts_;
  std::vector<uint64_t> raws_;
  Record run_;
  std::vector<PlacedPart> run_parts_;
  uint32_t run_dword_ = 0;
  uint64_t run_count_ = 0;
  uint64_t run_last_ = 0;
};

}  // namespace

std::unique_ptr<Sink> MakeTextSink(Output& output, const TextOptions& options) {
  return std::make_unique<TextSink>(output, options);
}

}  // namespace packsmith::decode
