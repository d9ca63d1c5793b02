// A capture as if the GPU had hung in it: with a ring that wraps, requests that wait, and the
// registers that the kernel would have saved.
#ifndef PACKSMITH_TESTS_HANG_HUNG_H_
#define PACKSMITH_TESTS_HANG_HUNG_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/dump/dump.h"

namespace packsmith::hang {

// Where the ring of the example lies, and its size. The request at fault begins shortly before its
// end; one more waits after it.
inline constexpr uint64_t kRing = 0x100000;
inline constexpr uint64_t kRingSize = 0x4000;
inline constexpr uint64_t kRequest = 0x3fd0;
// The address of the packet that starts the batch, and of what follows it.
inline constexpr uint64_t kStart = 0x3fec;
inline constexpr uint64_t kBehindStart = 0x3ff8;
// The ends of the request at fault, and of the one that waits.
inline constexpr uint64_t kRequestEnd = 0x18;
inline constexpr uint64_t kTail = 0x60;
inline constexpr uint64_t kOtherBatch = 0x70000;

struct HungAt {
  uint64_t acthd = 0;
  uint32_t ipehr = 0;
  uint64_t head = kBehindStart;
  std::optional<uint64_t> bbaddr = {};  // unset: acthd
  std::optional<uint64_t> fault = {};   // unset: none
  bool fault_is_global = false;
};

// The first submission of a Gfx9 capture. Memory that is all zeros is left out.
Dump HungCapture(const std::string& path, const HungAt& at);

}  // namespace packsmith::hang

#endif  // PACKSMITH_TESTS_HANG_HUNG_H_
