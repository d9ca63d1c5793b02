// The table of all generations, and what chooses from it: apart from the rest, which has no
// packets.
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/generation_driver.h"

namespace packsmith::intel {

extern const GenerationDriver kGfx8Driver, kGfx9Driver, kGfx11Driver, kGfx12Driver, kGfx125Driver,
    kXe2Driver, kXe3Driver;

namespace {

// The first of the generation's devices; of a generation without one, the last device before it.
RenderDevice SmallestOf(const GenerationDriver& generation) {
  // The columns of facts are in the order of generations.
  const GenerationFacts* const wanted = &FactsOf(generation.version);
  RenderDevice found = RenderDevices().front();
  for (const RenderDevice& device : RenderDevices()) {
    const GenerationFacts* const facts = &FactsOf(device.version);
    if (facts == wanted) return device;
    if (facts < wanted && facts >= &FactsOf(found.version)) found = device;
  }
  found.version = generation.version;
  return found;
}

}  // namespace

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

absl::StatusOr<std::unique_ptr<Context>> Context::Create(gpu::Device& device,
                                                         const ContextOptions& options) {
  const std::string name = options.generation.empty() ? device.generation() : options.generation;
  const absl::StatusOr<const GenerationDriver*> found = FindGenerationDriver(name);
  if (!found.ok()) return found.status();
  const GenerationDriver& generation = **found;
  const RenderDevice render_device = options.device ? *options.device : SmallestOf(generation);
  if (&FactsOf(render_device.version) != &FactsOf(generation.version)) {
    return absl::InvalidArgumentError(absl::StrCat("device \"", render_device.name,
                                                   "\" is of version ", render_device.version, "; ",
                                                   name, " has version ", generation.version));
  }
  std::unique_ptr<Context> context(new Context(device, generation, render_device, options));
  if (absl::Status status = context->CreateMemory(options); !status.ok()) return status;
  return context;
}

}  // namespace packsmith::intel
