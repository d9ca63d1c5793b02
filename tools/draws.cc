#include "tools/draws.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/decode/sinks/draws_sink.h"
#include "runtime/decode/sinks/uses_sink.h"
#include "tools/payloads.h"

namespace packsmith::tools {

absl::Status DrawQuestions::Check() const {
  if (IsQuery()) {
    if (absl::Status status = query::ParseQuery(query, where).status(); !status.ok()) return status;
  }
  uint64_t address = 0;
  if (uses.empty() || ParseAddress(address)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--uses=", uses, " is not a hexadecimal number"));
}

std::vector<std::string> DrawQuestions::Fields() const {
  if (!IsQuery()) return {};
  const absl::StatusOr<query::Query> parsed = query::ParseQuery(query, where);
  if (!parsed.ok()) return {};
  std::vector<std::string> fields = parsed->fields;
  for (const query::Condition& condition : parsed->conditions) fields.push_back(condition.field);
  return fields;
}

void DrawQuestions::Ask(uint64_t draws_before, uint64_t dispatches_before,
                        decode::OverviewSink& overview) const {
  if (draw > draws_before) overview.WantDraw(draw - draws_before);
  if (dispatch > dispatches_before) overview.WantDispatch(dispatch - dispatches_before);
}

absl::Status DrawQuestions::Missing(uint64_t draws_seen, uint64_t dispatches_seen) const {
  return absl::InvalidArgumentError(
      draw != 0 ? absl::StrCat("--draw=", draw, ": there are only ", draws_seen, " draws")
                : absl::StrCat("--dispatch=", dispatch, ": there are only ", dispatches_seen,
                               " dispatches"));
}

void DrawQuestions::Set(decode::Options& options) const {
  options.leads = options.bound.each = IsList();
  options.bound.draw = draw;
  options.bound.dispatch = dispatch;
}

std::unique_ptr<decode::Sink> DrawQuestions::MakeSink(decode::Output& output, query::Rows* rows,
                                                      absl::string_view format) const {
  const bool jsonl = format == "jsonl";
  if (IsQuery()) {
    query::Query parsed = *query::ParseQuery(query, where);  // checked by Check()
    parsed.only_changes = changes;
    return query::MakeQuerySink(*rows, std::move(parsed));
  }
  if (draws) return decode::MakeDrawsSink(output, jsonl);
  if (payloads) return MakePayloadsSink(output, jsonl);
  uint64_t address = 0;
  (void)ParseAddress(address);  // checked by Check()
  return decode::MakeUsesSink(output, address, jsonl);
}

bool DrawQuestions::ParseAddress(uint64_t& address) const {
  return absl::SimpleHexAtoi(uses, &address);
}

}  // namespace packsmith::tools
