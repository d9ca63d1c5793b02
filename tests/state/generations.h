// The generations that tests of draw states are run for.
#ifndef PACKSMITH_TESTS_STATE_GENERATIONS_H_
#define PACKSMITH_TESTS_STATE_GENERATIONS_H_

#include "gtest/gtest.h"
#include "tests/state/generation_list.h"

namespace packsmith::gpu {

using Generations = testing::Types<PACKSMITH_GENERATIONS()>;

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_STATE_GENERATIONS_H_
