// What a kernel driver says of its device, as plain data. What it does not say is 0 or empty.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_PROPERTIES_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_PROPERTIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/memory/device.h"

namespace packsmith::gpu {

struct DeviceProperties {
  std::string driver;  // "i915", "xe", "asahi"
  uint16_t pci_id = 0;
  uint16_t revision = 0;
  bool discrete = false;         // with memory of its own
  unsigned address_bits = 48;    // of a space; those of the GPU's canonical addresses
  uint64_t address_space = 0;    // bytes of a space
  uint64_t timestamp_hertz = 0;  // of the command streamers' timestamps
  uint64_t page = 4096;          // alignment and size of what is bound, in bytes

  // A way to submit: Job::engine, and how many engines of its kind there are.
  struct Engine {
    std::string name;  // "render"
    unsigned count = 0;
  };
  std::vector<Engine> engines;

  struct MemoryRegion {
    bool system = true;              // the machine's memory; else the GPU's own
    uint64_t size = 0, visible = 0;  // bytes; `visible`: that CPUs can map
  };
  std::vector<MemoryRegion> regions;

  // Slices, of each its subslices (Xe-cores; of AGX clusters), of each the number of EUs (cores).
  struct Slice {
    std::vector<unsigned> eus;  // of each subslice that is enabled
  };
  std::vector<Slice> slices;
  unsigned subslices() const {
    unsigned sum = 0;
    for (const Slice& slice : slices) sum += static_cast<unsigned>(slice.eus.size());
    return sum;
  }
  unsigned eus() const {
    unsigned sum = 0;
    for (const Slice& slice : slices) {
      for (const unsigned eus : slice.eus) sum += eus;
    }
    return sum;
  }

  bool has_heap[kHeaps] = {};  // by Heap: memory of which heaps can be created
  bool coherent = true;        // CPU caches see what the GPU writes to Heap::kSystem
  // Memory of Heap::kSystem that displays show is mapped through the CPU's caches, as all of the
  // heap is; otherwise it is write-combined.
  bool caches_scanout = false;
  bool has_priorities = false;
  bool moves_memory = false;  // jobs need Job::relocations
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_PROPERTIES_H_
