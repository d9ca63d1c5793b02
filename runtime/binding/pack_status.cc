#include "runtime/binding/pack_status.h"

#include "absl/strings/str_cat.h"
#include "packsmith/names.h"

namespace packsmith::gpu {

absl::Status PackStatus(const char* structure, const error& e) {
  return absl::InvalidArgumentError(absl::StrCat(structure, ": ", to_text(e)));
}

}  // namespace packsmith::gpu
