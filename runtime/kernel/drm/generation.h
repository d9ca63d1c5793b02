// Which generation's packets a device takes.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_GENERATION_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_GENERATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::gpu {

// The generation's name in the XML. `found`: that of the device's id, or why there is none.
// `wanted`: what the device must be, by name or alias; empty: any. A device whose id is not known
// is what is wanted. FailedPrecondition if it is another one.
absl::StatusOr<std::string> GenerationOf(absl::string_view path, const std::string& wanted,
                                         const absl::StatusOr<tables::Tables>& found);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_GENERATION_H_
