// The options of `unpack` that apply to submissions as they are made.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_UNPACK_OPTIONS_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_UNPACK_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/decoder.h"

namespace packsmith::capture {

struct UnpackOptions {
  enum class Format : uint8_t { kText, kJsonl, kStats, kNames };
  Format format = Format::kText;
  std::vector<std::string> filter = {};  // names and globs
  decode::Follow follow = decode::Follow::kAll;
  bool hide_zero = false, no_offsets = false, strict = false, color = false;
  bool continue_past_end = false;
  // 0: the decoder's own bounds.
  uint64_t max_packets = 0, max_structs = 0, max_code = 0, max_stores = 0;
  uint32_t max_calls = 0, max_pointers = 0;
};

// Options separated by blanks, with or without the dashes: "hide-zero
// filter=3DSTATE_*,3DPRIMITIVE". They have unpack's names and meanings; --color is auto (which is
// never), always or never. InvalidArgument names what is wrong, and what is possible.
absl::StatusOr<UnpackOptions> ParseUnpackOptions(absl::string_view text);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_UNPACK_OPTIONS_H_
