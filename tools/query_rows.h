// What unpack --query prints: text, CSV or JSON lines.
#ifndef PACKSMITH_TOOLS_QUERY_ROWS_H_
#define PACKSMITH_TOOLS_QUERY_ROWS_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"
#include "runtime/query/query.h"

namespace packsmith::tools {

// `format`: "text", "csv" or "jsonl". Writes the heading of CSV at once. `output` must outlive the
// rows.
std::unique_ptr<query::Rows> MakeQueryRows(decode::Output& output, absl::string_view format);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_QUERY_ROWS_H_
