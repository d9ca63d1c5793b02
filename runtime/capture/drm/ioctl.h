// How calls of ioctl() find the functions that answer them.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_IOCTL_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_IOCTL_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/capture/drm/caller.h"

namespace packsmith::capture {

class File;

// The largest structure that a call may have, in bytes.
inline constexpr size_t kMostIoctlBytes = 1024;

// The parts of a request's number.
constexpr uint32_t IoctlNumber(uint32_t request) { return request & 0xff; }
constexpr uint32_t IoctlType(uint32_t request) { return (request >> 8) & 0xff; }
constexpr uint32_t IoctlSize(uint32_t request) { return (request >> 16) & 0x3fff; }
// The caller's structure is read.
constexpr bool IoctlIn(uint32_t request) { return (request >> 30) & 1; }
// The caller's structure is written.
constexpr bool IoctlOut(uint32_t request) { return (request >> 31) & 1; }
constexpr uint32_t kDrmIoctlType = 'd';

struct IoctlEntry {
  uint32_t request;  // with the size and the directions of this kernel's structure
  absl::string_view name;
  // `argument` has the size of this kernel's structure; what the caller did not give is zero.
  Result (*call)(File& file, Caller& caller, uint8_t* argument);
  bool render = true;  // allowed on render nodes
};

namespace ioctl_internal {
template <typename M>
struct Method;
template <typename F, typename T>
struct Method<Result (F::*)(Caller&, T&)> {
  using FileType = F;
  using Argument = T;
};
}  // namespace ioctl_internal

// An entry for a method `Result F::method(Caller&, T&)` of a class derived from File: T is the
// structure whose size the request names.
template <auto kMethod>
constexpr IoctlEntry MakeIoctl(uint32_t request, absl::string_view name, bool render = true) {
  using Method = ioctl_internal::Method<decltype(kMethod)>;
  static_assert(sizeof(typename Method::Argument) <= kMostIoctlBytes);
  return {request, name,
          [](File& file, Caller& caller, uint8_t* argument) {
            return (static_cast<typename Method::FileType&>(file).*kMethod)(
                caller, *reinterpret_cast<typename Method::Argument*>(argument));
          },
          render};
}

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_IOCTL_H_
