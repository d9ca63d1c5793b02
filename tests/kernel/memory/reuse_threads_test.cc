// Random jobs on mock kernels (story.h): handed over by a thread.
#include "gtest/gtest.h"
#include "tests/kernel/memory/story.h"

namespace packsmith::gpu {
namespace {

class MemoryOfJobs : public testing::TestWithParam<Gpu> {};
INSTANTIATE_TEST_SUITE_P(, MemoryOfJobs, StoryGpus(), testing::PrintToStringParamName());

TEST_P(MemoryOfJobs, IsNotUsedAgainBeforeTheyAreDoneWithAThread) {
  RunStory(GetParam(), {.seed = 3, .steps = 4000, .thread = true});
}

}  // namespace
}  // namespace packsmith::gpu
