// Hangs that a user asks for.
//
//   absl::StatusOr<PlannedHang> hang = ParsePlannedHang("3:shader@0x800040");
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_PLANNED_HANG_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_PLANNED_HANG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/capture/drm/work.h"
#include "runtime/capture/execute/hang_place.h"

namespace packsmith::capture {

struct PlannedHang {
  uint64_t submission = 0;  // Work::number
  HangKind kind = HangKind::kCommand;
  std::string unit = {};                 // of kPipeline
  std::optional<uint64_t> address = {};  // of the command that the engine hangs at
};

// "N[:KIND][@ADDRESS]", where KIND is `command`, `refused`, `shader`, `not-started`,
// `not-yielding`, `reset`, `reset-by-other`, or the name of a unit. InvalidArgument says what is
// wrong.
absl::StatusOr<PlannedHang> ParsePlannedHang(absl::string_view text);

// Where a work hung: `found`, if it was executed, with what is planned for it there. If it hung by
// itself at another address than the planned one, only `found` counts. Empty: neither.
std::optional<HangPlace> PlannedPlace(absl::Span<const PlannedHang> plans, const Work& work,
                                      std::optional<HangPlace> found);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_PLANNED_HANG_H_
