// The generations that tests of draw states are run for.
#ifndef PACKSMITH_TESTS_STATE_GENERATIONS_H_
#define PACKSMITH_TESTS_STATE_GENERATIONS_H_

#include "gtest/gtest.h"
#include "runtime/state/gfx11.h"
#include "runtime/state/gfx12.h"
#include "runtime/state/gfx125.h"
#include "runtime/state/gfx8.h"
#include "runtime/state/gfx9.h"
#include "runtime/state/xe2.h"

namespace packsmith::gpu {

using Generations = testing::Types<Gfx8, Gfx9, Gfx11, Gfx12, Gfx125, Xe2>;

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_STATE_GENERATIONS_H_
