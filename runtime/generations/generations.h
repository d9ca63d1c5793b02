// The generations whose descriptions are built in.
#ifndef PACKSMITH_RUNTIME_GENERATIONS_GENERATIONS_H_
#define PACKSMITH_RUNTIME_GENERATIONS_GENERATIONS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith {

// All of them, the oldest first.
absl::Span<const tables::Tables> BuiltInGenerations();

// Whether `name` is its name or one of its aliases, in either case.
bool IsCalled(const tables::Tables& tables, absl::string_view name);

// By name or alias ("gfx9", "9", "skl"), in either case. NotFound lists what there is.
absl::StatusOr<tables::Tables> FindGeneration(absl::string_view name);

// The generation of a PCI device. NotFound names the remedy.
absl::StatusOr<tables::Tables> FindGenerationOfPciId(uint32_t pci_id);

// The same of a chip that is no PCI device.
absl::StatusOr<tables::Tables> FindGenerationOfChipId(uint32_t chip_id);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_GENERATIONS_GENERATIONS_H_
