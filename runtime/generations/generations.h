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

// Sixteen hexadecimal digits that tell versions of them apart: a hash of all their tables, in
// order. Reads all of them.
std::string BuiltInDigest();

// Whether `name` is its name or one of its aliases, in either case.
bool IsCalled(const tables::Tables& tables, absl::string_view name);

// By name or alias ("gfx9", "9", "skl"), in either case. NotFound lists the known generations.
absl::StatusOr<tables::Tables> FindGeneration(absl::string_view name);

// The generation of a PCI device. NotFound names the remedy.
absl::StatusOr<tables::Tables> FindGenerationOfPciId(uint32_t pci_id);

// The generation that follows from a dump whose PCI id is in no description.
struct LikelyGeneration {
  tables::Tables tables;
  std::string by;  // "platform \"SKYLAKE\"": what named it
};

// The generation of `family` that has a platform of the name `platform`, ignoring case and blanks;
// else the generation whose number times ten is `verx10`, or the nearest below it with the same
// integer part (12.5 for 127). Empty and 0: the dump does not say. NotFound if neither names one.
absl::StatusOr<LikelyGeneration> FindLikelyGeneration(absl::string_view family,
                                                      absl::string_view platform, int verx10);

// The generation of a chip that is not a PCI device.
absl::StatusOr<tables::Tables> FindGenerationOfChipId(uint32_t chip_id);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_GENERATIONS_GENERATIONS_H_
