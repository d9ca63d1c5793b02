// The records of unpack --format=jsonl as memory: docs/records.md describes them, docs/pack.md what
// is made of them.
#ifndef PACKSMITH_RUNTIME_ENCODE_JSON_H_
#define PACKSMITH_RUNTIME_ENCODE_JSON_H_

#include "absl/status/statusor.h"
#include "runtime/encode/packed.h"
#include "runtime/encode/problems.h"

namespace packsmith::encode {

struct JsonOptions {
  // Of a record that has both, `fields` are packed, and `dwords` only state its size. Otherwise
  // those fields are packed over the dwords that say something else.
  bool fields_only = false;
  // The generation of records before any that names one; empty: there must be none.
  std::string generation = {};
};

// A record is a JSON object, usually one a line. Packets, structures, data and unknown dwords
// become memory; `schema` names the generation, `device` and `submission` become what they are;
// others are ignored. InvalidArgument with all problems, each with line, column and a caret
// (problems.h).
absl::StatusOr<Packed> ReadJson(const Source& source, const FindTables& find_tables,
                                const JsonOptions& options = {});

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_JSON_H_
