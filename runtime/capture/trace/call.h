// One ioctl() of a program, as the tracer is told of it.
#ifndef PACKSMITH_RUNTIME_CAPTURE_TRACE_CALL_H_
#define PACKSMITH_RUNTIME_CAPTURE_TRACE_CALL_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/types/span.h"
#include "runtime/capture/drm/caller.h"

namespace packsmith::capture {

// The open file of a call, for calls that the tracer makes itself. Valid during the call only.
class TraceAccess {
 public:
  virtual ~TraceAccess() = default;
  // ioctl(), with an argument of this process. 0 or more, or a negative errno.
  virtual Result Ioctl(uint32_t request, void* argument) = 0;
  // mmap() of the file into this process, to be read. Null: it cannot be mapped. The caller calls
  // munmap().
  virtual void* Map(uint64_t offset, uint64_t size) = 0;
};

struct TracedCall {
  uint32_t request = 0;
  // The argument's structure, as it was before the call or after it. Kernels leave what they read
  // in it.
  absl::Span<const uint8_t> bytes = {};
  Result result = 0;  // 0 or more, or a negative errno; before the call 0
  Caller& caller;
  TraceAccess& access;

  // What the program does not give is zero.
  template <typename T>
  T Argument() const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value = {};
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(T)));
    return value;
  }
};

// Of which calls of a file the tracer must be told.
enum class TraceInterest : uint8_t {
  kNone,
  kAfter,           // when they have succeeded
  kBeforeAndAfter,  // before they are passed on, and when they have returned
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_TRACE_CALL_H_
