// Where a submission was when it hung.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_PLACE_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_PLACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace packsmith::capture {

struct HangPlace {
  size_t stream = 0;     // in Work::streams
  uint64_t address = 0;  // of the command
  uint32_t header = 0;   // its first dword; 0: it has no memory
  // What it could not reach; empty: that was not the reason.
  std::optional<uint64_t> unmapped = {};
  bool unmapped_write = false;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_PLACE_H_
