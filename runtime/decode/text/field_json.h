// The fields of records as JSON: an object for each, with commas between them.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_FIELD_JSON_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_FIELD_JSON_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/decode/record.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/json_writer.h"
#include "runtime/decode/text/line_template.h"
#include "runtime/decode/text/plan.h"
#include "runtime/decode/text/template_cache.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// "bits":[high,low].
void PutJsonBits(uint64_t bit, uint64_t width, ChunkWriter& out);

class FieldJson {
 public:
  // `out` must outlive this.
  explicit FieldJson(ChunkWriter& out) : out_(out), json_(out) {}

  void Begin(const tables::Tables& tables);
  // Of a record with a container.
  void Put(const Record& record);

 private:
  void PutAll(const Record& record);
  // The same for a record whose shape has come before.
  void Fill(const LineTemplate& lines, const Record& record);
  // The same, for one that has not, or whose fields have held other values.
  void Learn(const Record& record);
  // From the beginning of a field's object up to its value.
  void PutName(const PlannedField& field, uint64_t bit, uint32_t width, int64_t index);
  void PutValue(const PlannedField& field, uint32_t width, uint64_t raw);
  // Values that are not written in one of the usual ways.
  void PutOther(const PlannedField& field, uint32_t width, uint64_t raw);

  ChunkWriter& out_;
  JsonWriter json_;
  const tables::Tables* tables_ = nullptr;
  std::unique_ptr<Plans> plans_;
  ShapeTemplates shapes_;
  std::vector<ShownField> shown_;  // of the record at hand
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_FIELD_JSON_H_
