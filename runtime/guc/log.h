// The headers of the GPU firmware's log (GuC log), as dumps of hangs have it: which sections there
// are, how far they were written and read, and the constants that their entries refer to. The
// entries themselves have a layout that is not public.
//
//   const guc::Log log = guc::ReadLog(bytes);
//   for (const guc::LogSection& section : log.sections) Print(section.name, section.size);
#ifndef PACKSMITH_RUNTIME_GUC_LOG_H_
#define PACKSMITH_RUNTIME_GUC_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace packsmith::guc {

struct LogSection {
  std::string name;              // "events", "crash dump", "state capture"
  uint64_t offset = 0;           // bytes from the start of the log to its data
  uint64_t size = 0;             // bytes, as far as the log has them
  uint32_t read = 0, write = 0;  // bytes from the start of its data
  uint32_t times_full = 0;       // how often entries were lost, 0 to 15
  uint32_t version = 0;
};

struct LogConstant {
  std::string name;  // "TIMESTAMP_KHZ"; "key 0x9" without a name
  std::vector<uint32_t> words;
};

struct Log {
  std::vector<LogSection> sections;
  std::vector<LogConstant> constants;  // at most kMostLogConstants
};
inline constexpr size_t kMostLogConstants = 64;
inline constexpr size_t kMostLogSections = 64;

// As the firmware keeps it, or as kernels from 7.0 on describe it in debugfs (guc_log_lfd). Any
// bytes are allowed; of what is no log, there are no sections.
Log ReadLog(absl::Span<const uint8_t> bytes);

}  // namespace packsmith::guc

#endif  // PACKSMITH_RUNTIME_GUC_LOG_H_
