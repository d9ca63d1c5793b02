// The generations whose descriptions are built in.
#ifndef PACKSMITH_RUNTIME_GENERATIONS_GENERATIONS_H_
#define PACKSMITH_RUNTIME_GENERATIONS_GENERATIONS_H_

#include <cstdint>
#include <string>

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

// What a dump says of its GPU beside an id that no description has.
struct LikelyGeneration {
  tables::Tables tables;
  std::string by;  // "platform \"SKYLAKE\"": what named it
};

// Of the generations of `family` the one with a platform that is called `platform`, whatever the
// case and the blanks; else the one of that number times ten, or the nearest below it of the same
// whole number (12.5 for 127). Empty and 0: the dump does not say. NotFound if neither says one.
absl::StatusOr<LikelyGeneration> FindLikelyGeneration(absl::string_view family,
                                                      absl::string_view platform, int verx10);

// The same of a chip that is no PCI device.
absl::StatusOr<tables::Tables> FindGenerationOfChipId(uint32_t chip_id);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_GENERATIONS_GENERATIONS_H_
