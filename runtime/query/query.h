// Values of fields at each draw and dispatch of dumps, as a table.
//
//   absl::StatusOr<Query> query = ParseQuery("3DSTATE_PS.*", {"Surface Format=*UNORM"});
//   const std::unique_ptr<decode::Sink> sink = MakeQuerySink(rows, *std::move(query));
//   decode::Options options;
//   options.leads = options.bound.each = true;
//   decode::Decoder decoder(tables, *sink, options);
#ifndef PACKSMITH_RUNTIME_QUERY_QUERY_H_
#define PACKSMITH_RUNTIME_QUERY_QUERY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/record.h"

namespace packsmith::query {

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
// PATTERN=VALUE. InvalidArgument, in the words of unpack's options: there is no pattern, or a
// condition has no =.
absl::StatusOr<Query> ParseQuery(absl::string_view fields,
                                 absl::Span<const std::string> conditions);

// The value of a field at a draw or dispatch.
struct Row {
  bool is_draw = true;       // else a dispatch
  uint64_t number = 0;       // of the draws, or of the dispatches, from 1 on
  uint32_t submission = 0;   // its index
  uint64_t address = 0;      // of the draw's packet
  absl::string_view record;  // the way from the packet: "3DSTATE_PS_POINTERS > SAMPLER_STATE[0]"
  absl::string_view field;
  absl::string_view value;
  absl::string_view name;  // of the value; empty: it has none
};

class Rows {
 public:
  virtual ~Rows() = default;
  // The texts live until it returns.
  virtual void OnRow(const Row& row) = 0;
  // What in the streams could not be decoded.
  virtual void OnProblem(absl::string_view text) = 0;
};

// For Options::leads with Options::bound.each. `rows` must outlive the sink.
std::unique_ptr<decode::Sink> MakeQuerySink(Rows& rows, Query query);

}  // namespace packsmith::query

#endif  // PACKSMITH_RUNTIME_QUERY_QUERY_H_
