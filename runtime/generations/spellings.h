// How generated headers of the built-in generations spell names, for programs that write sources.
#ifndef PACKSMITH_RUNTIME_GENERATIONS_SPELLINGS_H_
#define PACKSMITH_RUNTIME_GENERATIONS_SPELLINGS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith {

// What source::Spelling opens, for tables of a built-in generation. NotFound for others: their
// headers are not known here.
absl::StatusOr<absl::Span<const uint8_t>> FindSpelling(const tables::Tables& tables);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_GENERATIONS_SPELLINGS_H_
