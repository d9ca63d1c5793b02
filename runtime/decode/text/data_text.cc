#include "runtime/decode/text/data_text.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_replace.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/field_lines.h"

namespace packsmith::decode {

void PutSize(size_t bytes, ChunkWriter& out) {
  const bool dwords = bytes % 4 == 0;
  const size_t count = dwords ? bytes / 4 : bytes;
  out.Decimal(count);
  out.Put(absl::string_view(dwords ? (count == 1 ? " dword" : " dwords")
                                   : (count == 1 ? " byte" : " bytes")));
}

void DataText::PutHead(const Record& record) {
  out_.Put(record.name);
  out_.Put(", ");
  out_.Decimal(record.data_size);
  out_.Put(" bytes");
  if (record.data_stride != 0) {
    out_.Put(", stride ");
    out_.Decimal(record.data_stride);
  }
  PutAbout(record);
}

void DataText::PutAbout(const Record& record) {
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

void DataText::PutLines(absl::string_view text, size_t indent) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out_.Fill(' ', indent);
    // Tabs are harmless, and common here.
    out_.Put(Harmless(absl::StrReplaceAll(text.substr(0, end), {{"\t", "    "}})));
    out_.Put('\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void DataText::PutRows(const Record& record, size_t indent) {
  constexpr uint64_t kMostUnnamed = 8;  // of rows with one unnamed component, in a line
  const bool dense = record.elements.size() == 1 &&
                     record.data_stride == record.elements[0].format->bits / 8 &&
                     tables_->components(*record.elements[0].format).size() == 1;
  uint64_t shown = 0, at = ~uint64_t{0};
  ForEachElement(record,
                 [&](uint64_t row, const DataElement& element, absl::Span<const uint8_t> bytes) {
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
                     const Value value = DecodeComponent(component, bytes);
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

void DataText::PutDwords(const Record& record, size_t indent) {
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

}  // namespace packsmith::decode
