// Which instructions of a program reach a surface: <reaches where="6:0=0x31 and …"
// index="103:96"/>.
#ifndef PACKSMITH_GEN_MODEL_AST_REACH_H_
#define PACKSMITH_GEN_MODEL_AST_REACH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::model {

using tables::SurfaceUse;

// An instruction that reaches an element of the program's binding table.
struct Reach {
  // Bits of the instruction are `value` where `mask` is set; dword by dword.
  uint32_t mask[4] = {};
  uint32_t value[4] = {};
  uint32_t bit = 0;  // of the instruction: the element's number
  uint32_t width = 0;
  SurfaceUse use = SurfaceUse::kAny;
};

// `where`: what bits of the first 128 of an instruction are, "HIGH:LOW=VALUE" or "BIT=VALUE",
// joined by " and ". `index`: the bits with the number of the element, "HIGH:LOW", at most 32 of
// them. Errors: InvalidArgument that says what is wrong.
absl::StatusOr<Reach> ReachOf(absl::string_view where, absl::string_view index);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_AST_REACH_H_
