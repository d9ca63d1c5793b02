// The generations that tests of batches are run for.
#ifndef PACKSMITH_TESTS_BATCH_GENERATIONS_H_
#define PACKSMITH_TESTS_BATCH_GENERATIONS_H_

#include "gtest/gtest.h"
#include "runtime/batch/gfx11.h"
#include "runtime/batch/gfx12.h"
#include "runtime/batch/gfx125.h"
#include "runtime/batch/gfx8.h"
#include "runtime/batch/gfx9.h"
#include "runtime/batch/xe2.h"

namespace packsmith::gpu {

// A generation with some more of its packets than a batch needs.
#define PACKSMITH_TESTED(Name, names)                              \
  struct Tested##Name : Name {                                     \
    using VertexBuffers = names::_3DSTATE_VERTEX_BUFFERS;          \
    using VertexBuffer = names::VERTEX_BUFFER_STATE;               \
    using Topology = names::_3DSTATE_VF_TOPOLOGY;                  \
    using ConditionalEnd = names::MI_CONDITIONAL_BATCH_BUFFER_END; \
  }

PACKSMITH_TESTED(Gfx8, gfx8);
PACKSMITH_TESTED(Gfx9, gfx9);
PACKSMITH_TESTED(Gfx11, gfx11);
PACKSMITH_TESTED(Gfx12, gfx12);
PACKSMITH_TESTED(Gfx125, gfx125);
PACKSMITH_TESTED(Xe2, xe2);

#ifdef PACKSMITH_TEST_ONE_GENERATION
using Generations = testing::Types<TestedGfx9>;
#elif defined(__SANITIZE_ADDRESS__)
// Instrumented, the code of one generation takes long to compile, and is made as that of another.
using Generations = testing::Types<TestedGfx9, TestedGfx125>;
#else
using Generations =
    testing::Types<TestedGfx8, TestedGfx9, TestedGfx11, TestedGfx12, TestedGfx125, TestedXe2>;
#endif

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_BATCH_GENERATIONS_H_
