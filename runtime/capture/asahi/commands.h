// The commands of a submission of the asahi interface.
#ifndef PACKSMITH_RUNTIME_CAPTURE_ASAHI_COMMANDS_H_
#define PACKSMITH_RUNTIME_CAPTURE_ASAHI_COMMANDS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/drm/caller.h"
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
  // As the program gave it, after the commands that set its attachments.
  std::string words;
};

// 0, or the kernel's error, and then `out` is not specified.
Result ReadAsahiCommands(absl::Span<const uint8_t> buffer, std::vector<AsahiCommand>& out);

// Sets the engine, the streams, the bases and the driver's words. `usc_exec_base`: the queue's.
void DescribeAsahiCommand(const AsahiCommand& command, uint64_t usc_exec_base, Work& work);

// The timestamps that a command has written: calls for each of them.
void ForEachTimestamp(const AsahiCommand& command,
                      const std::function<void(const uapi::asahi::timestamp&)>& call);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_ASAHI_COMMANDS_H_
