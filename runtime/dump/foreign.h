// Formats that dumps may be in but that are not read: how to recognise them, and the remedy.

#ifndef PACKSMITH_RUNTIME_DUMP_FOREIGN_H_
#define PACKSMITH_RUNTIME_DUMP_FOREIGN_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith {

struct Foreign {
  absl::string_view format;  // "an xz file"; empty: none of the known ones
  absl::string_view remedy;  // "unpack it first: xz -dc FILE | unpack -"
};

// Recognised by the first bytes: the formats' signatures, from their specifications.
Foreign ForeignFormat(absl::Span<const uint8_t> bytes);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_FOREIGN_H_
