// Where the kernel offers dumps of hangs: device core dumps (xe and others), and i915's error file.
//
//   for (const Source& source : FindSources("/")) …
//
// Source for the paths: Linux, drivers/base/devcoredump.c and i915's i915_sysfs.c.
#ifndef PACKSMITH_TOOLS_COLLECT_SOURCE_H_
#define PACKSMITH_TOOLS_COLLECT_SOURCE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith::collect {

struct Source {
  std::string name;  // "devcd3", "card0"
  // Names this dump, and no other one of this boot. The kernel never reuses the number of a device
  // core dump; of a card's error file, the beginning, which has the time, is part of the name.
  std::string id;
  std::string data;     // the file to read, and to write to when the dump may be dropped
  std::string device;   // the folder of the device in /sys
  std::string address;  // "0000:03:00.0", or the last name of another bus's device
  std::string driver;   // "xe"; empty: none is bound any more
};

// Whether a name could be one of a source: "devcd" or "card" and digits.
bool IsSourceName(absl::string_view name);

// Below `root`, which stands for the root of the file system. Empty: there is no such dump. A card
// without a hang has none.
std::optional<Source> FindSource(const std::string& root, const std::string& name);

// All of them, in the order of their names.
std::vector<Source> FindSources(const std::string& root);

// Has the kernel drop its copy, so that it keeps the next hang. Returns why it does not; empty: it
// does, or the dump is gone. No other process may do the same meanwhile: a card's file could have
// the next hang by then.
std::string Drop(const Source& source);

// The content of a small file of /sys or /proc without the end of its last line; empty: it cannot
// be read. At most `most` bytes.
std::string ReadSmall(const std::string& path, size_t most = 65536);

}  // namespace packsmith::collect

#endif  // PACKSMITH_TOOLS_COLLECT_SOURCE_H_
