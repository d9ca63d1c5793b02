#include "runtime/command/pack_status.h"

#include "absl/strings/str_cat.h"
#include "packsmith/names.h"

namespace packsmith {

absl::Status PackStatus(const char* structure, const error& e) {
  return absl::InvalidArgumentError(absl::StrCat(structure, ": ", to_text(e)));
}

}  // namespace packsmith
