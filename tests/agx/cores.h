// The dumps in tests/agx/data.
#ifndef PACKSMITH_TESTS_AGX_CORES_H_
#define PACKSMITH_TESTS_AGX_CORES_H_

#include "tests/agx/frame.h"

namespace packsmith::agx {

struct Core {
  const char* name;
  uint32_t chip_id;
  void (*put)(decode::World& world);
};
inline constexpr Core kCores[] = {{"frame.core", 0x8103, PutFrame},
                                  {"compute.core", 0x6001, PutCompute}};

// The contents of the file of that name.
inline void Fill(const Core& core, decode::World& world) {
  core.put(world);
  world.dump().device.family = "agx";
  world.dump().device.chip_id = core.chip_id;
  world.dump().buffers = {{0, kVdm, 0x100000, "control streams"}};
  world.dump().SortBuffers();
}

}  // namespace packsmith::agx

#endif  // PACKSMITH_TESTS_AGX_CORES_H_
