// unpack --query: values of fields at each draw and dispatch, as a table.
//
//   const absl::StatusOr<Query> query = ParseQuery("3DSTATE_PS.*", {"Surface Format=*UNORM"});
//   const std::unique_ptr<decode::Sink> sink = MakeQuerySink(output, *query, QueryFormat::kCsv);
#ifndef PACKSMITH_TOOLS_QUERY_H_
#define PACKSMITH_TOOLS_QUERY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/record.h"

namespace packsmith::tools {

// A field's name, or RECORD.FIELD, either with * and ?, in any case. A field of a repetition or of
// a nested structure is also found by its own name: "Buffer Pitch" for "Vertex Buffer
// State[0].Buffer Pitch".
using FieldPattern = std::string;

struct Condition {
  FieldPattern field;
  std::string value;  // a number, or a value's name with * and ?
};

struct Query {
  std::vector<FieldPattern> fields;
  // A draw is listed if each of them holds for one of the fields that it finds set.
  std::vector<Condition> conditions;
  bool only_changes = false;  // omit what equals the last listed draw's
};

// `fields`: patterns, separated by commas; empty: those of the conditions. A condition is
// PATTERN=VALUE. InvalidArgument: there is no pattern, or a condition has no =.
absl::StatusOr<Query> ParseQuery(absl::string_view fields,
                                 absl::Span<const std::string> conditions);

enum class QueryFormat { kText, kCsv, kJsonLines };

// For Options::leads with Options::bound.each. `output` must outlive the sink.
std::unique_ptr<decode::Sink> MakeQuerySink(decode::Output& output, Query query,
                                            QueryFormat format);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_QUERY_H_
