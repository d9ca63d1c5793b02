// Answers that no kernel gives: opening ends, with a device or an error.
#include <iterator>
#include <memory>
#include <random>

#include "gtest/gtest.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

namespace api = uapi::i915;

// Changes bytes of what queries answer, and lengths.
class WrongConnection : public MockConnection {
 public:
  WrongConnection(capture::Machine& machine, unsigned seed)
      : MockConnection(machine.kernel, *machine.device), random_(seed) {}

  int Ioctl(uint32_t request, void* argument) override {
    const int result = MockConnection::Ioctl(request, argument);
    if (result < 0 || request != api::kQuery) return result;
    const auto& query = *static_cast<api::query*>(argument);
    auto& item = *reinterpret_cast<api::query_item*>(query.items_ptr);
    if (item.length <= 0) return result;
    if (item.data_ptr == 0) {
      constexpr int32_t kLengths[] = {1, 7, 16, 17, 64, 4096, INT32_MAX};
      if (random_() % 4 == 0) item.length = kLengths[random_() % std::size(kLengths)];
      return result;
    }
    auto* const bytes = reinterpret_cast<uint8_t*>(item.data_ptr);
    for (unsigned i = random_() % 4; i > 0; --i) {
      // Mostly in the head.
      const unsigned most = random_() % 2 == 0 ? 16 : static_cast<unsigned>(item.length);
      const unsigned at = random_() % most;
      if (at < static_cast<unsigned>(item.length)) bytes[at] = static_cast<uint8_t>(random_());
    }
    return result;
  }

 private:
  std::mt19937 random_;
};

class AnswersOfEveryKind : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, AnswersOfEveryKind, ::testing::Values("hsw", "skl", "dg2"));

TEST_P(AnswersOfEveryKind, OpeningEndsWhateverTheKernelAnswers) {
  capture::Machine machine(GetParam());
  int opened = 0, refused = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const auto device = I915Device::Open(std::make_unique<WrongConnection>(machine, seed), {});
    ++(device.ok() ? opened : refused);
  }
  EXPECT_GT(opened, 20);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace packsmith::gpu
