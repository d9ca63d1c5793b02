// Where a submission was when it hung, and how.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_PLACE_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_PLACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace packsmith::capture {

enum class HangKind {
  kCommand,       // the engine does not finish the command
  kRefused,       // it does not accept the command
  kShader,        // threads of the draw or dispatch before the command do not end
  kPipeline,      // a fixed function does not finish the draw before the command
  kNotStarted,    // the engine has read nothing of the submission
  kNotYielding,   // another context was due, and this one kept the engine
  kReset,         // the engine was reset before its registers were read
  kResetByOther,  // another queue hung, and this one was reset with it
};

struct HangPlace {
  size_t stream = 0;     // in Work::streams
  uint64_t address = 0;  // of the command
  uint32_t header = 0;   // its first dword; 0: it has no memory
  // What it could not reach; empty: that was not the reason.
  std::optional<uint64_t> unmapped = {};
  bool unmapped_write = false;
  HangKind kind = HangKind::kCommand;
  std::string unit = {};  // of kPipeline: "CL"
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_PLACE_H_
