// What kernels call engines. Internal to the writers of this folder.

#ifndef PACKSMITH_RUNTIME_DUMP_ENGINE_NAMES_H_
#define PACKSMITH_RUNTIME_DUMP_ENGINE_NAMES_H_

#include "absl/strings/string_view.h"

namespace packsmith {

// A dump's "render" is "render" in error states up to Linux 4.16, and "rcs0" since. Other names
// stay as they are.
inline absl::string_view KernelEngineName(absl::string_view name, bool since_4_17) {
  struct Names {
    absl::string_view ours, before, since;
  };
  constexpr Names kNames[] = {
      {"render", "render", "rcs0"},   {"blitter", "blt", "bcs0"},
      {"copy", "blt", "bcs0"},        {"video", "bsd", "vcs0"},
      {"compute", "compute", "ccs0"}, {"video-enhance", "vebox", "vecs0"},
  };
  for (const Names& names : kNames) {
    if (names.ours == name) return since_4_17 ? names.since : names.before;
  }
  return name;
}

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_ENGINE_NAMES_H_
