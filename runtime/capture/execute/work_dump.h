// A submission as a dump: what decodes, records and reports submissions takes.
//
//   const WorkDump made = DumpOf(*work);
//   decoder.Decode(made.dump);
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_WORK_DUMP_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_WORK_DUMP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/capture/drm/work.h"
#include "runtime/dump/dump.h"

namespace packsmith::capture {

// The buffer that a range of the dump's memory belongs to.
struct WorkPart {
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t size = 0;    // bytes
  uint64_t object = 0;  // Object::id()
  std::string name;
  uint64_t offset = 0;  // of the range in the object
  // The memfd that holds the object's memory, as long as the dump lives; its holes are zeros. -1:
  // memory of a process.
  int fd = -1;
};

struct WorkDump {
  // A submission for each of the work's streams. Memory is that of live buffers, in space 0 (1 if
  // the addresses are global): what clients write shows in it, as long as the dump lives. Memory of
  // processes is copied when it is first looked at, and a mapping that repeats when the dump is
  // made.
  Dump dump;
  // In the order of addresses. Ranges that repeat an object's bytes, or that have no object, are
  // not among them.
  std::vector<WorkPart> parts;
};

struct WorkDumpOptions {
  // Only what the driver wants in dumps of hangs, and the buffers in which the streams begin.
  bool dumpable_only = false;
  // Global addresses are in space 0, too.
  bool as_own_space = false;
};

// O(mappings).
WorkDump DumpOf(const Work& work, const WorkDumpOptions& options = {});

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_WORK_DUMP_H_
