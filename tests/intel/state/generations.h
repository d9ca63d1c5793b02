// The generations that tests of draw states are run for.
#ifndef PACKSMITH_TESTS_INTEL_STATE_GENERATIONS_H_
#define PACKSMITH_TESTS_INTEL_STATE_GENERATIONS_H_

#include "gtest/gtest.h"
#include "tests/intel/state/generation_list.h"

namespace packsmith::intel {

using Generations = testing::Types<PACKSMITH_GENERATIONS()>;

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_STATE_GENERATIONS_H_
