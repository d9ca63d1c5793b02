// The generation that a test is built for: there is a program for each, so that no compiler must
// handle all of them at once.
#ifndef PACKSMITH_TESTS_INTEL_BATCH_TESTED_H_
#define PACKSMITH_TESTS_INTEL_BATCH_TESTED_H_

#include "gtest/gtest.h"
#include PACKSMITH_TESTED_HEADER

namespace packsmith::intel {

using Generations = testing::Types<PACKSMITH_TESTED>;

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BATCH_TESTED_H_
