#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/driver/generation_driver.h"

namespace packsmith::intel {

extern const GenerationDriver kGfx8Driver, kGfx9Driver, kGfx11Driver, kGfx12Driver, kGfx125Driver,
    kXe2Driver, kXe3Driver;

absl::Span<const GenerationDriver* const> GenerationDrivers() {
  static constexpr const GenerationDriver* kAll[] = {
      &kGfx8Driver,   &kGfx9Driver, &kGfx11Driver, &kGfx12Driver,
      &kGfx125Driver, &kXe2Driver,  &kXe3Driver,
  };
  return kAll;
}

absl::StatusOr<const GenerationDriver*> FindGenerationDriver(absl::string_view name) {
  std::string names;
  for (const GenerationDriver* driver : GenerationDrivers()) {
    if (name == driver->name) return driver;
    absl::StrAppend(&names, names.empty() ? "" : ", ", driver->name);
  }
  return absl::NotFoundError(
      absl::StrCat("no command buffers for generation \"", name, "\"; there are for: ", names));
}

}  // namespace packsmith::intel
