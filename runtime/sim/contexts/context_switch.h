// Restores contexts from their images into an engine's registers, and saves them.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_SWITCH_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_SWITCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/ring_runner.h"
#include "runtime/sim/memory_access.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

class ContextSwitch {
 public:
  struct Options {
    uint32_t engine_base = 0x2000;
    std::string engine = "render";  // whose commands context images consist of
    uint32_t space = 0;             // of images
    uint64_t image_bytes = 4096;    // that are read of an image, after its status page
  };

  // `memory` and `runner` must outlive this.
  ContextSwitch(const tables::Tables& tables, MemoryAccess& memory, RingRunner& runner,
                const Options& options)
      : tables_(tables), memory_(&memory), runner_(&runner), options_(options) {}

  // All take the address of an image. Errors: it is not in memory, or not an image.

  // Loads all registers, or those of the ring and the page tables if the image inhibits the rest.
  absl::Status Restore(uint64_t image);
  // Loads only the tail of the ring. True: it has moved.
  absl::StatusOr<bool> RestoreTail(uint64_t image);
  // Writes all registers to the image but the tail, which is the driver's. The image does not
  // inhibit restoring any more [inferred: drivers set the bit once and rely on later restores].
  absl::Status Save(uint64_t image);

 private:
  // The loads of an image, and where they are.
  struct Image {
    uint64_t address = 0;
    std::vector<uint8_t> list;
    ContextImage loads;

    // A field of a register; 0 if the image does not have it.
    uint64_t Get(const tables::Tables& tables, absl::string_view name,
                 absl::string_view field) const;
  };

  absl::StatusOr<Image> Read(uint64_t address, uint64_t bytes) const;
  absl::StatusOr<Image> ReadMain(uint64_t image) const;
  // The page that has the registers of the ring instead of the image; empty: the image has them.
  absl::StatusOr<std::optional<Image>> ReadRingPage(const Image& image) const;
  absl::Status SaveList(const Image& image);

  tables::Tables tables_;
  MemoryAccess* memory_;
  RingRunner* runner_;
  Options options_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_SWITCH_H_
