// The generations that tests of batches are run for.
#ifndef PACKSMITH_TESTS_INTEL_BATCH_GENERATIONS_H_
#define PACKSMITH_TESTS_INTEL_BATCH_GENERATIONS_H_

#include <type_traits>

#include "gtest/gtest.h"
#include "tests/intel/batch/generation_list.h"

namespace packsmith::intel {

// A generation with some more of its packets than a batch needs.
#define PACKSMITH_TESTED(Name, names)                              \
  struct Tested##Name : Name {                                     \
    using VertexBuffers = names::_3DSTATE_VERTEX_BUFFERS;          \
    using VertexBuffer = names::VERTEX_BUFFER_STATE;               \
    using Topology = names::_3DSTATE_VF_TOPOLOGY;                  \
    using ConditionalEnd = names::MI_CONDITIONAL_BATCH_BUFFER_END; \
  };

PACKSMITH_EACH_GENERATION(PACKSMITH_TESTED)

#ifdef PACKSMITH_TEST_ONE_GENERATION
using Generations = testing::Types<TestedGfx9>;
#else
using Generations = testing::Types<PACKSMITH_GENERATIONS(Tested)>;
#endif

template <class... Gen>
struct GenerationList {
  using Types = testing::Types<Gen...>;
  template <class... More>
  GenerationList<Gen..., More...> operator+(GenerationList<More...>) const;
};
template <template <class> class Has, class... Gen>
auto Filtered(testing::Types<Gen...>)
    -> decltype((GenerationList<>() + ... +
                 std::conditional_t<Has<Gen>::value, GenerationList<Gen>, GenerationList<>>()));
// Those for which Has<Gen>::value is true.
template <template <class> class Has>
using GenerationsWith = typename decltype(Filtered<Has>(Generations()))::Types;

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BATCH_GENERATIONS_H_
