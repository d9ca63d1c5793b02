// Formats that dumps come in and that are not read: which one it is, and what to do.

#ifndef PACKSMITH_RUNTIME_DUMP_FOREIGN_H_
#define PACKSMITH_RUNTIME_DUMP_FOREIGN_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith {

struct Foreign {
  absl::string_view format;  // "an xz file"; empty: none of those that are known
  absl::string_view remedy;  // "unpack it first: xz -dc FILE | unpack -"
};

// By how the bytes begin. The formats' own signatures, as their specifications have them.
Foreign ForeignFormat(absl::Span<const uint8_t> bytes);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_FOREIGN_H_
