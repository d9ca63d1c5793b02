// Random jobs on mock kernels (story.h): handed over by the calls that submit them.
#include "gtest/gtest.h"
#include "tests/kernel/memory/story.h"

namespace packsmith::gpu {
namespace {

class MemoryOfJobs : public testing::TestWithParam<Gpu> {};
INSTANTIATE_TEST_SUITE_P(, MemoryOfJobs, StoryGpus(), testing::PrintToStringParamName());

TEST_P(MemoryOfJobs, IsNotUsedAgainBeforeTheyAreDoneWhateverFails) {
  for (const uint64_t seed : {1, 2}) {
    RunStory(GetParam(), {.seed = seed, .steps = 20000});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace packsmith::gpu
