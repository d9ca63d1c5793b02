// Descriptions as JSON lines. docs/records.md describes the written form.
#ifndef PACKSMITH_RUNTIME_DESCRIBE_JSONL_H_
#define PACKSMITH_RUNTIME_DESCRIBE_JSONL_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/describe/history.h"
#include "runtime/describe/reference.h"

namespace packsmith::describe {

// A line for each version, the oldest first; with `generation`, only for the one it has.
std::string DescriptionJsonl(const History& history, absl::string_view generation = "");

// A line for each generation.
std::string ListJsonl(absl::Span<const Reference> references);

}  // namespace packsmith::describe

#endif  // PACKSMITH_RUNTIME_DESCRIBE_JSONL_H_
