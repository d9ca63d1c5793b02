#include "runtime/decode/text/record_text.h"

#include <algorithm>
#include <cstring>

#include "absl/base/attributes.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/masked_bytes.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::decode {
namespace {

using Kind = LineTemplate::Kind;

// Bytes that WriteNumber() may write.
constexpr size_t kRoomOfNumber = 3 * kMostDigits;

// The number of a draw or dispatch, or the range of `count` of them that begins with it.
char* WriteNumber(const Record& record, uint64_t count, char* to) {
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

// The number of a structure in its table.
char* WriteIndex(const Record& record, char* to) {
  if (record.index < 0) return to;
  *to++ = '[';
  to = WriteDecimal(static_cast<uint64_t>(record.index), to);
  *to++ = ']';
  return to;
}

}  // namespace

RecordText::RecordText(ChunkWriter& out, const TextOptions& options)
    : out_(out),
      options_(options),
      colors_(options.color),
      data_(out),
      lines_(out, buffers_, options.hide_zero_fields) {}

void RecordText::Begin(const tables::Tables& tables) {
  tables_ = &tables;
  plans_ = std::make_unique<Plans>(tables, MakeTextStyle());
  lines_.Begin(tables);
  data_.Begin(tables);
}

void RecordText::BeginSubmission(uint32_t own_space) {
  traces_.Clear();
  lines_.SetSpace(own_space);
}

bool RecordText::MayKeep(const Record& record, const Run& run) const {
  return record.shape != 0 && run.count == 1 && record.faults.empty() && record.stored.empty() &&
         !options_.undescribed;
}

bool RecordText::MayKeep(const RecordTrace& trace) const {
  if (options_.undescribed) return false;
  // Packets of one dword that come several times in a row are shown once.
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

void RecordText::Put(const Record& record, size_t indent, const Run& run) {
  if (MayKeep(record, run)) {
    if (const ShapeTemplate* const known = shapes_.Find(record, indent)) {
      return Fill(known->lines, absl::MakeConstSpan(&record, 1));
    }
    if (shapes_.IsWorth(record)) {
      SelectFields(record);
      ShapeTemplate& made = shapes_.Learn(record, indent, fields_);
      TemplateBuilder builder(out_, made.lines);
      PutFields(
          record, indent, false, [&](size_t i) { return made.varies[i]; }, builder);
      const bool whole = builder.Finish(ShapeTemplates::kMostText, ShapeTemplates::kMostRoom);
      if (!whole) shapes_.Drop(made);
      return;
    }
  }
  PutStart(record, indent);
  switch (record.type) {
    case RecordType::kPacket:
    case RecordType::kStruct:
      return PutDescribed(record, indent, run);
    case RecordType::kData:
      return PutData(record, indent);
    case RecordType::kUnknown:
      out_.Put(colors_.red);
      out_.Put("unknown");
      out_.Put(colors_.plain);
      out_.Put("  ");
      PutSize(record.bytes.size(), out_);
      out_.Put(" that no packet matches\n");
      return data_.PutDwords(record, indent);
    case RecordType::kRegister:
      return;
  }
}

void RecordText::PutPart(const Record& record, absl::Span<const uint8_t> varying, size_t indent,
                         TemplateBuilder& builder) {
  if (record.type != RecordType::kData) {
    SelectFields(record);
    const auto varies = [&](size_t i) {
      const ShownField& shown = fields_[i];
      // The buffer that has an address may depend on other bits.
      if (buffers_.any() && shown.field->leaf->type == tables::LeafType::kAddress) return true;
      return HasBits(shown.bit, shown.width, varying);
    };
    return PutFields(record, indent, true, varies, builder);
  }
  builder.Literal([&] { out_.Fill(' ', indent); });
  if (options_.offsets) {
    builder.Hole(Kind::kAddress, indent, kMostDigits, [&] { out_.Address(record.address); });
    builder.Literal([&] { out_.Put("  "); });
  }
  builder.Literal([&] { data_.PutHead(record); });
  if (options_.offsets && buffers_.any()) {
    builder.Hole(Kind::kBuffer, indent, 0, [&] { PutBuffer(record.space, record.address); });
  }
  builder.Literal([&] { out_.Put('\n'); });
  if (std::any_of(varying.begin(), varying.end(), [](uint8_t b) { return b != 0; })) {
    builder.Hole(Kind::kDwords, indent, 0, [&] { data_.PutDwords(record, indent); });
  } else {
    builder.Literal([&] { data_.PutDwords(record, indent); });
  }
}

template <class Varies>
void RecordText::PutFields(const Record& record, size_t indent, bool is_part, const Varies& varies,
                           TemplateBuilder& builder) {
  LineTemplate& kept = builder.kept();
  builder.Literal([&] { out_.Fill(' ', indent); });
  if (options_.offsets) {
    builder.Hole(Kind::kAddress, indent, kMostDigits, [&] { out_.Address(record.address); });
    builder.Literal([&] { out_.Put("  "); });
  }
  builder.Literal([&] { PutName(record); });
  const auto put_index = [&] { out_.Commit(WriteIndex(record, out_.Reserve(kMostDigits))); };
  // Packets are in no table.
  if (is_part || record.type == RecordType::kPacket) {
    builder.Literal(put_index);
  } else {
    builder.Hole(Kind::kIndex, indent, kMostDigits, put_index);
  }
  builder.Literal([&] {
    out_.Put("  ");
    PutSize(record.bytes.size(), out_);
  });
  if (record.container->role != tables::Role::kOther) {
    builder.Hole(Kind::kNumber, indent, kRoomOfNumber,
                 [&] { out_.Commit(WriteNumber(record, 1, out_.Reserve(kRoomOfNumber))); });
  }
  const auto first = static_cast<uint32_t>(kept.fields.size());
  uint64_t zeros = 0, hidden = 0;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const bool hides = lines_.Hides(fields_[i], fields_[i].raw);
    hidden += hides;
    if (varies(i)) {
      kept.fields.push_back(fields_[i]);
    } else {
      zeros += hides;
    }
  }
  const uint32_t count = static_cast<uint32_t>(kept.fields.size()) - first;
  if (lines_.hides_zero() && count != 0) {
    LineTemplate::Hole& hole = builder.Hole(Kind::kHidden, indent, FieldLines::kRoomOfHidden,
                                            [&] { lines_.PutHidden(hidden); });
    hole.field = first;
    hole.fields = count;
    hole.zeros = zeros;
  } else {
    builder.Literal([&] { lines_.PutHidden(hidden); });
  }
  if (record.type == RecordType::kStruct && options_.offsets && (!is_part || buffers_.any())) {
    builder.Hole(Kind::kBuffer, indent, 0, [&] { PutBuffer(record.space, record.address); });
  }
  builder.Literal([&] { out_.Put('\n'); });
  uint32_t next = first;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const ShownField& shown = fields_[i];
    const bool hides = lines_.Hides(shown, shown.raw);
    const auto put = [&] {
      if (!hides) lines_.Put(record, shown, indent);
    };
    if (!varies(i)) {
      builder.Literal(put);
      continue;
    }
    if (is_part && lines_.IsOnlyItsValue(shown, indent)) {
      const absl::string_view name = shown.field->name.substr(kMostIndent - indent);
      builder.Keep(name);
      LineTemplate::Hole& hole = builder.Hole(Kind::kPointer, indent, kMostDigits, put);
      hole.field = next++;
      hole.name = name.size();
      continue;
    }
    builder.Hole(Kind::kField, indent, FieldLines::RoomOf(*shown.field, indent), put).field =
        next++;
  }
}

// Lines of fields are most of the text, and each is written here for traces.
ABSL_ATTRIBUTE_NOINLINE void RecordText::Fill(const LineTemplate& lines,
                                              absl::Span<const Record> records) {
  char* to = out_.Reserve(lines.room);
  const char* const text = lines.text.data();
  size_t at = 0;
  for (const LineTemplate::Hole& hole : lines.holes) {
    to = CopyPadded({text + at, hole.text_end - at}, to);
    at = hole.text_end;
    const Record& record = records[hole.record];
    switch (hole.kind) {
      case Kind::kAddress:
        to = WriteAddress(record.address, to);
        break;
      case Kind::kIndex:
        to = WriteIndex(record, to);
        break;
      case Kind::kNumber:
        to = WriteNumber(record, 1, to);
        break;
      case Kind::kField: {
        const ShownField& field = lines.fields[hole.field];
        const uint64_t raw = ReadBits(record.bytes, field.bit, field.width);
        if (!lines_.Hides(field, raw)) {
          to = lines_.Line(record, field, raw, hole.indent, to, lines.room);
        }
        break;
      }
      case Kind::kPointer: {
        const ShownField& field = lines.fields[hole.field];
        const uint64_t raw = ReadBits(record.bytes, field.bit, field.width);
        if (lines_.Hides(field, raw)) {
          to -= hole.name;
          break;
        }
        to = WriteHex(raw << field.field->shift, to);
        *to++ = '\n';
        break;
      }
      case Kind::kHidden: {
        uint64_t hidden = hole.zeros;
        for (uint32_t i = 0; i < hole.fields; ++i) {
          const ShownField& field = lines.fields[hole.field + i];
          hidden += lines_.Hides(field, ReadBits(record.bytes, field.bit, field.width));
        }
        to = FieldLines::Hidden(hidden, to);
        break;
      }
      case Kind::kBuffer:
        if (!buffers_.any()) break;
        out_.Commit(to);
        PutBuffer(record.space, record.address);
        to = out_.Reserve(lines.room);
        break;
      case Kind::kDwords:
        out_.Commit(to);
        data_.PutDwords(record, hole.indent);
        to = out_.Reserve(lines.room);
        break;
    }
  }
  out_.Commit(CopyPadded({text + at, lines.text_size - at}, to));
}

void RecordText::PutStart(const Record& record, size_t indent) {
  out_.Fill(' ', indent);
  if (!options_.offsets) return;
  out_.Address(record.address);
  out_.Put("  ");
}

void RecordText::PutName(const Record& record) {
  if (options_.color) out_.Put(colors_.bold);
  out_.Put(record.name);
  if (options_.color) out_.Put(colors_.plain);
}

void RecordText::PutDescribed(const Record& record, size_t indent, const Run& run) {
  PutName(record);
  out_.Commit(WriteIndex(record, out_.Reserve(kMostDigits)));
  if (record.register_offset >= 0) {
    out_.Put("  register ");
    out_.Hex(static_cast<uint64_t>(record.register_offset));
  }
  out_.Put("  ");
  PutSize(record.bytes.size(), out_);
  out_.Commit(WriteNumber(record, run.count, out_.Reserve(kRoomOfNumber)));
  if (record.bound) {
    out_.Put("  bound, from submission ");
    out_.Decimal(record.submission);
  }
  if (run.count > 1) {
    out_.Put(", ");
    out_.Decimal(run.count);
    out_.Put(" times");
    if (options_.offsets) {
      out_.Put(", the last at ");
      out_.Hex(run.last);
    }
  }
  SelectFields(record);
  if (lines_.hides_zero()) {
    const auto hides = [&](const ShownField& field) { return lines_.Hides(field, field.raw); };
    const auto end = std::remove_if(fields_.begin(), fields_.end(), hides);
    lines_.PutHidden(static_cast<uint64_t>(fields_.end() - end));
    fields_.erase(end, fields_.end());
  }
  if (record.type == RecordType::kStruct && record.register_offset < 0 && options_.offsets) {
    PutBuffer(record.space, record.address);
  }
  out_.Put('\n');
  for (const ShownField& field : fields_) lines_.Put(record, field, indent);
  PutRemarks(record, indent);
}

void RecordText::PutRemarks(const Record& record, size_t indent) {
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
    out_.Put(absl::StrFormat("%sfault: %s, bits %d:%d: %s%s\n", colors_.red,
                             FaultKindName(fault.kind), fault.bit + fault.width - 1, fault.bit,
                             Harmless(fault.text), colors_.plain));
  }
}

void RecordText::PutData(const Record& record, size_t indent) {
  data_.PutHead(record);
  if (options_.offsets) PutBuffer(record.space, record.address);
  out_.Put('\n');
  if (record.kernel != nullptr && options_.about_kernel) {
    data_.PutLines(options_.about_kernel(record), indent + kFieldIndent);
  } else if (record.elements.empty()) {
    data_.PutDwords(record, indent);
  } else {
    data_.PutRows(record, indent);
  }
}

void RecordText::SelectFields(const Record& record) {
  fields_.clear();
  ForEachShown(
      *tables_, *plans_, record.view(),
      [&](const PlannedFields& fields, size_t i, uint64_t bit, uint32_t width, uint64_t raw,
          int64_t index) {
        fields_.push_back({&fields.fields[i], bit, raw, index, width, fields.bits[i].is_length});
      });
}

}  // namespace packsmith::decode
