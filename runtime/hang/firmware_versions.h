// Versions of the GPU's firmware, as dumps of either driver say them.
#ifndef PACKSMITH_RUNTIME_HANG_FIRMWARE_VERSIONS_H_
#define PACKSMITH_RUNTIME_HANG_FIRMWARE_VERSIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/dump/error_state.h"

namespace packsmith::hang {

// "70.44.1"; empty: the dump does not say. GuC schedules contexts, HuC authenticates media.
struct FirmwareVersions {
  std::string guc, huc;
};
FirmwareVersions FirmwareVersionsOf(const ErrorState& state);

// The three numbers of "70.44.1"; empty: it has another form.
std::optional<std::array<uint32_t, 3>> ParseFirmwareVersion(absl::string_view version);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_FIRMWARE_VERSIONS_H_
