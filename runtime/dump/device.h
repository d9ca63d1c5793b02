// The GPU of a dump. Part of dump.h, for code that needs no more of it.

#ifndef PACKSMITH_RUNTIME_DUMP_DEVICE_H_
#define PACKSMITH_RUNTIME_DUMP_DEVICE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace packsmith {

// The GPU that a dump comes from. Empty or zero: the dump does not say.
// Strings come from the input, see dump.h.
struct Device {
  std::string family = {};      // "intel", "agx"
  std::string generation = {};  // what the XML calls it: "gfx9", "gfx125"
  std::string platform = {};    // "skl"
  std::string driver = {};      // "iris"
  std::string uapi = {};        // "i915", "xe"
  std::optional<uint32_t> pci_id = {};
  std::optional<uint32_t> chip_id = {};  // of a GPU that is not a PCI device: 0x8103
  int verx10 = 0;                        // Intel: generation times ten
  // Intel: the same, from what the kernel wrote next to the PCI id, which may omit the digit after
  // the point: 120 for Gfx12 and Gfx12.5. 0: nothing.
  int kernel_verx10 = 0;

  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_DEVICE_H_
