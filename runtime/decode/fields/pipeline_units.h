// The units of a GPU, by the fields of registers that report them idle (`means="idle"`).
//
//   for (const PipelineUnit& unit : PipelineUnits(tables)) ...  // "VFG", "VS", ..., front to back
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_PIPELINE_UNITS_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_PIPELINE_UNITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

struct PipelineUnit {
  std::string name;
  uint16_t place = 0;  // in the pipeline, from 1 on; several units may share one

  friend bool operator==(const PipelineUnit&, const PipelineUnit&) = default;
};

// The name of the unit that a field reports: the field's without the word that it is set for idle
// units ("Done", "Idle"). "CS" of "CS Done", "IZBE 0" of "IZBE Done 0".
std::string UnitOfField(absl::string_view field);

// The units of the description's 3D pipeline, front to back, each once.
std::vector<PipelineUnit> PipelineUnits(const tables::Tables& tables);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_PIPELINE_UNITS_H_
