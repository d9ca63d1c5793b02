// Border colours: few places, at an address that short pointers can hold, shared by all users of
// the same colour.
//
//   auto colors = BorderColors::Create(buffers, {.zone = zone, .address = ...});
//   uint32_t dwords[16];
//   gfx9::SAMPLER_BORDER_COLOR_STATE{...}.pack(dwords);
//   absl::StatusOr<BorderColor> black = (*colors)->Acquire(dwords);
//   sampler.border_color_pointer = black->offset;

#ifndef PACKSMITH_RUNTIME_INTEL_MEMORY_BORDER_COLORS_H_
#define PACKSMITH_RUNTIME_INTEL_MEMORY_BORDER_COLORS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

struct BorderColor {
  uint32_t offset = 0;           // from the start of the buffer
  gpu::BufferHandle buffer = 0;  // that it is in
};

// Thread-safe.
class BorderColors {
 public:
  static constexpr uint64_t kEntrySize = 64;  // bytes
  using Entry = std::array<uint32_t, kEntrySize / 4>;

  struct Options {
    gpu::ZoneId zone = {};
    std::optional<uint64_t> address = {};  // of the buffer; nullopt: anywhere in the zone
    uint32_t entries = 4096;               // the first is never used, so that no offset is 0
  };

  // Errors of Buffers::Create(); InvalidArgument for fewer than two entries, or more than 2^26.
  // `buffers` must outlive the result.
  static absl::StatusOr<std::unique_ptr<BorderColors>> Create(gpu::Buffers& buffers,
                                                              const Options& options);
  ~BorderColors();

  // Returns where the colour is. Each must be released as often as it was acquired.
  // ResourceExhausted if all places are in use: the caller must choose another colour.
  absl::StatusOr<BorderColor> Acquire(const Entry& color);
  // The GPU must be done with it. NotFound if no colour in use is there.
  absl::Status Release(uint32_t offset);

  const gpu::Buffer& buffer() const { return buffer_; }
  uint32_t in_use() const;  // entries

  // For objects that refer to these colours.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  BorderColors(gpu::Buffers& buffers, const gpu::Buffer& buffer, uint32_t entries);

  mutable Lifetime lifetime_{"border colors"};
  const Reference<gpu::Buffers> buffers_;
  const gpu::Buffer buffer_;
  mutable Mutex mutex_;
  // By entry, so that the buffer is not read back.
  std::vector<Entry> colors_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Entry, uint32_t> places_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint32_t> users_ ABSL_GUARDED_BY(mutex_);   // of each entry
  std::vector<uint32_t> unused_ ABSL_GUARDED_BY(mutex_);  // entries, the next one last
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_MEMORY_BORDER_COLORS_H_
