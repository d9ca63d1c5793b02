// The generation-independent part of MediaState: what threads are given, and constants in memory.

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_MEDIA_CORE_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_MEDIA_CORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

struct MediaKernel {
  uint32_t offset = 0;  // of the first instruction from the instruction base: a multiple of 64
  uint32_t buffer = 0;  // handle of the buffer with the instructions; 0: listed by the caller
  // Of the constants in memory, those that its threads get: in registers of 32 bytes.
  uint32_t first_constant = 0, constant_registers = 0;
  uint32_t bindings = 0;  // of its binding table, as packets have it
  uint32_t samplers = 0;  // offset of its samplers from the dynamic state base
  // Entries of these that are prefetched.
  uint32_t binding_table_entries = 0, sampler_count = 0;
};

// One thread.
struct MediaThread {
  uint32_t kernel = 0;                          // which of those that were set
  uint32_t x = 0, y = 0;                        // its place: up to 511
  absl::Span<const uint32_t> inline_data = {};  // for its registers
  // Gfx8 and Gfx9: it waits for threads at these of the scoreboard's distances, a bit for each.
  uint32_t waits_for = 0;
};

enum class MediaOrder : uint8_t { kRows, kColumns };

// A thread for each block of a picture, in this order.
struct MediaWalk {
  uint32_t kernel = 0;
  uint32_t width = 1, height = 1;  // blocks; Gfx8: up to 511, later 2047
  MediaOrder order = MediaOrder::kRows;
  absl::Span<const uint32_t> inline_data = {};  // the same for all threads
  uint32_t waits_for = 0;                       // as MediaThread's
};

// From a thread's block to one that must end before it: -8 to 7 each.
struct MediaDistance {
  int x = 0, y = 0;
};

struct MediaUrb {
  uint32_t entries = 32;          // for threads that wait to be dispatched: 1 to 255
  uint32_t entry_registers = 16;  // of 32 bytes, of each: room for a thread's inline data
};

class MediaCore {
 public:
  static constexpr uint32_t kMostConstants = 63 * 1024;  // bytes

  MediaCore(const MediaCore&) = delete;
  MediaCore& operator=(const MediaCore&) = delete;

  // The first error since the beginning, or since TakeStatus().
  const absl::Status& status() const { return status_; }
  absl::Status TakeStatus();

  // Constants of all kernels; replaces the earlier ones. False if there are more than
  // kMostConstants.
  bool SetConstants(absl::Span<const uint8_t> bytes);

 protected:
  MediaCore(const char* generation, gpu::StateStream& states)
      : generation_(generation), states_(states) {}
  ~MediaCore() = default;

  bool Refuse(absl::Status status);
  bool RefuseDevice(uint32_t threads, uint32_t subslices);
  bool RefuseCount(size_t kernels, size_t most);
  bool RefuseConstants(uint32_t kernel, uint32_t end);
  bool RefuseOffset(uint32_t kernel, uint32_t offset);
  bool RefuseKernel(uint32_t kernel, size_t count);
  bool RefuseInline(size_t dwords, size_t most);
  bool RefuseWalk(uint32_t width, uint32_t height, uint32_t most);
  bool RefuseScoreboard(uint32_t waits_for, size_t distances);
  bool RefuseScratch(uint32_t per_thread);
  // Memory for these bytes, in whole units of 64, with zeros behind; or false.
  bool WriteState(absl::Span<const uint8_t> bytes, gpu::State& to);

  std::vector<uint8_t> constants_;
  bool constants_changed_ = false;

 private:
  const char* const generation_;
  gpu::StateStream& states_;
  absl::Status status_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_MEDIA_CORE_H_
