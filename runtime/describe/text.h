// Descriptions as text for a terminal.
#ifndef PACKSMITH_RUNTIME_DESCRIBE_TEXT_H_
#define PACKSMITH_RUNTIME_DESCRIBE_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/describe/find.h"
#include "runtime/describe/history.h"
#include "runtime/describe/reference.h"

namespace packsmith::describe {

struct TextOptions {
  bool color = false;
  // Path of the one field to describe; empty: all of it.
  std::string field;
};

// The version of `history` that `references[generation]` has, dword by dword as in a manual, then
// what changed from generation to generation. `references` are all generations.
std::string DescriptionText(absl::Span<const Reference> references, size_t generation,
                            const History& history, const TextOptions& options);

// "gfx8 to gfx12, xe2": names in the order of `references`; three and more neighbours as a range.
std::string GenerationsText(absl::Span<const Reference> references,
                            absl::Span<const absl::string_view> names);

// What is supported: each generation's names, engines, platforms and number of descriptions.
std::string ListText(absl::Span<const Reference> references, bool color);

// All names of one generation, by kind, each with its size and the first sentence of its doc.
std::string NamesText(const Reference& reference, bool color);

}  // namespace packsmith::describe

#endif  // PACKSMITH_RUNTIME_DESCRIBE_TEXT_H_
