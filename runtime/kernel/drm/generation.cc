#include "runtime/kernel/drm/generation.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/generations/generations.h"

namespace packsmith::gpu {

absl::StatusOr<std::string> GenerationOf(absl::string_view path, const std::string& wanted,
                                         const absl::StatusOr<tables::Tables>& found) {
  if (wanted.empty()) {
    if (!found.ok()) {
      return absl::Status(found.status().code(),
                          absl::StrCat(path, ": ", found.status().message()));
    }
    return std::string(found->generation());
  }
  const absl::StatusOr<tables::Tables> given = FindGeneration(wanted);
  if (!given.ok()) {
    return absl::Status(given.status().code(), absl::StrCat(path, ": ", given.status().message()));
  }
  if (found.ok() && found->generation() != given->generation()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is a GPU of ", found->generation(), ", not of ", given->generation()));
  }
  return std::string(given->generation());
}

}  // namespace packsmith::gpu
