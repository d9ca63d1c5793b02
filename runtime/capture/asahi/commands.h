// The commands of a submission of the asahi interface.
#ifndef PACKSMITH_RUNTIME_CAPTURE_ASAHI_COMMANDS_H_
#define PACKSMITH_RUNTIME_CAPTURE_ASAHI_COMMANDS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/drm/caller.h"
#include "runtime/capture/drm/object.h"
#include "runtime/capture/drm/work.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::capture {

// What the kernel reports as its limits.
inline constexpr uint32_t kAsahiMostCommands = 64, kAsahiMostAttachments = 16;

// One for the hardware. Exactly one of `render` and `compute` is there.
struct AsahiCommand {
  std::optional<uapi::asahi::cmd_render> render;
  std::optional<uapi::asahi::cmd_compute> compute;
  // What must be done before: kNoBarrier: nothing; 0: what earlier submissions have; N: the first N
  // commands of that kind in this one.
  uint16_t vdm_barrier = uapi::asahi::kNoBarrier, cdm_barrier = uapi::asahi::kNoBarrier;
  uint64_t programs = 0;  // what its addresses of programs count from
  // As the program gave it, with its attachments.
  std::string words;
  // Where times of its beginning and its end are written.
  struct Place {
    std::shared_ptr<Object> object;
    uint64_t offset = 0;
  };
  std::vector<Place> at_begin, at_end;
  // Called at its end, with times by the GPU's clock; it may be empty.
  std::function<void(bool hung, uint64_t begin, uint64_t end)> ended;
};

// All return 0 or a negative errno.

// A command buffer. After an error `out` is not specified.
Result ReadAsahiCommands(absl::Span<const uint8_t> buffer, std::vector<AsahiCommand>& out);
Result CheckAsahiRender(const uapi::asahi::cmd_render& render);

// Sets the engine, the streams, the bases and the driver's words.
void DescribeAsahiCommand(const AsahiCommand& command, Work& work);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_ASAHI_COMMANDS_H_
