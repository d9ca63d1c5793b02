// Packets, structures and data as text: their heads, the lines of their fields, rows and dwords.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_RECORD_TEXT_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_RECORD_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/data_text.h"
#include "runtime/decode/text/field_lines.h"
#include "runtime/decode/text/line_template.h"
#include "runtime/decode/text/plan.h"
#include "runtime/decode/text/template_cache.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class RecordText {
 public:
  // Both must outlive this.
  RecordText(ChunkWriter& out, const TextOptions& options);

  void Begin(const tables::Tables& tables);
  void BeginDump(const Dump* dump) { buffers_.Begin(dump); }
  // Addresses are in this space, unless their fields name another one.
  void BeginSubmission(uint32_t own_space);

  // Consecutive records that are the same: how many, and the address of the last one.
  struct Run {
    uint64_t count = 1;
    uint64_t last = 0;
  };
  // A record, but no register, as lines that are indented by `indent` characters.
  void Put(const Record& record, size_t indent, const Run& run);
  // A described record from its name on.
  void PutDescribed(const Record& record, size_t indent, const Run& run);
  // A trace whose first record is indented by that much; `indent_of(record)` is called for each
  // record in order if the text has to be made. False: its records must be written one by one.
  template <class IndentOf>
  bool Put(const RecordTrace& trace, size_t indent, const IndentOf& indent_of) {
    TraceTemplate& known = traces_.At(trace.number, indent);
    if (known.ready) {
      Fill(known.lines, trace.records);
      return true;
    }
    if (known.refused || !MayKeep(trace)) {
      known.refused = true;
      return false;
    }
    TemplateBuilder builder(out_, known.lines);
    for (size_t i = 0; i < trace.records.size(); ++i) {
      builder.Limit(TraceTemplates::kMostText, TraceTemplates::kMostRoom);
      PutPart(trace.records[i], trace.varying[i], indent_of(trace.records[i]), builder);
      builder.NextRecord();
    }
    known.ready = builder.Finish(TraceTemplates::kMostText, TraceTemplates::kMostRoom);
    if (!known.ready) known.Refuse();
    return true;
  }
  // In which buffer the address is, if the dump says so.
  void PutBuffer(uint32_t space, uint64_t address) { buffers_.Put(space, address, out_); }

 private:
  // Whether the record's text is that of its fields, which may be kept.
  bool MayKeep(const Record& record, const Run& run) const;
  bool MayKeep(const RecordTrace& trace) const;
  // One record of a trace. `varying`: its bits that vary.
  void PutPart(const Record& record, absl::Span<const uint8_t> varying, size_t indent,
               TemplateBuilder& builder);
  // The text of a template for these records.
  void Fill(const LineTemplate& lines, absl::Span<const Record> records);
  // A record and the lines of `fields_`. `is_part`: of a trace, whose template is for the same dump
  // only. `varies(i)`: field i is a hole.
  template <class Varies>
  void PutFields(const Record& record, size_t indent, bool is_part, const Varies& varies,
                 TemplateBuilder& builder);
  // What follows the fields: faults, and other remarks.
  void PutRemarks(const Record& record, size_t indent);
  void PutData(const Record& record, size_t indent);

  void PutStart(const Record& record, size_t indent);
  void PutName(const Record& record);
  // Fills fields_.
  void SelectFields(const Record& record);

  ChunkWriter& out_;
  const TextOptions& options_;
  const Colors colors_;
  const tables::Tables* tables_ = nullptr;
  std::unique_ptr<Plans> plans_;
  BufferNames buffers_;
  DataText data_;
  FieldLines lines_;
  std::vector<ShownField> fields_;  // of the record at hand
  ShapeTemplates shapes_;
  TraceTemplates traces_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_RECORD_TEXT_H_
