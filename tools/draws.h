// unpack's options about draws, dispatches and addresses.
#ifndef PACKSMITH_TOOLS_DRAWS_H_
#define PACKSMITH_TOOLS_DRAWS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"
#include "runtime/decode/sinks/overview_sink.h"
#include "runtime/query/query.h"

namespace packsmith::tools {

struct DrawQuestions {
  uint64_t draw = 0;               // --draw; 0: not asked
  uint64_t dispatch = 0;           // --dispatch
  bool draws = false;              // --draws
  bool payloads = false;           // --payloads
  std::string uses;                // --uses
  std::string query;               // --query
  std::vector<std::string> where;  // --where
  bool changes = false;            // --changes

  // Whether a list is written instead of records.
  bool IsList() const { return draws || payloads || !uses.empty() || IsQuery(); }
  bool IsQuery() const { return !query.empty() || !where.empty(); }
  // Whether one draw or dispatch was asked for.
  bool IsOne() const { return draw != 0 || dispatch != 0; }

  // InvalidArgument if the value of --uses is not an address, or --query or --where are wrong.
  absl::Status Check() const;
  // The patterns of fields in --query and --where; none if these are wrong.
  std::vector<std::string> Fields() const;
  // Tells the overview of a group of dumps what to look for, after `draws_before` draws and
  // `dispatches_before` dispatches of earlier groups.
  void Ask(uint64_t draws_before, uint64_t dispatches_before, decode::OverviewSink& overview) const;
  // The InvalidArgument error that the dumps have fewer draws or dispatches than asked for.
  absl::Status Missing(uint64_t draws_seen, uint64_t dispatches_seen) const;
  // Sets what the decoder reports.
  void Set(decode::Options& options) const;
  // For IsList(). `rows`: where a query's values go; null if it is none. `format` is that of
  // --format. `output` and `rows` must outlive the sink.
  std::unique_ptr<decode::Sink> MakeSink(decode::Output& output, query::Rows* rows,
                                         absl::string_view format) const;

 private:
  // Parses the value of --uses.
  [[nodiscard]] bool ParseAddress(uint64_t& address) const;
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_DRAWS_H_
