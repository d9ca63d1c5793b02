// Uses everything that a reader promises about a dump.

#ifndef PACKSMITH_TESTS_FUZZ_TOUCH_DUMP_H_
#define PACKSMITH_TESTS_FUZZ_TOUCH_DUMP_H_

#include "runtime/dump/dump.h"

namespace packsmith {

// Reads the memory (up to a bound), looks up buffers and checks the invariants of `dump.h` and
// `memory.h`; traps where one does not hold.
void TouchDump(const Dump& dump);

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_FUZZ_TOUCH_DUMP_H_
