// For tests of code that takes no memory: each allocation of the program is counted.
#ifndef PACKSMITH_TESTS_BASE_ALLOCATIONS_H_
#define PACKSMITH_TESTS_BASE_ALLOCATIONS_H_

#include <cstddef>

namespace packsmith {

// Those of the program so far.
size_t Allocations();

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_BASE_ALLOCATIONS_H_
