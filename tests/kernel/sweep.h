// Scenarios in which one call after the other fails.
#ifndef PACKSMITH_TESTS_KERNEL_SWEEP_H_
#define PACKSMITH_TESTS_KERNEL_SWEEP_H_

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tests/kernel/counting_connection.h"

namespace packsmith::gpu {

// Makes the steps of one scenario: a step that fails is made again, once.
class Steps {
 public:
  template <typename Step>
  auto operator()(Step step) {
    auto result = step();
    if (result.ok()) return result;
    Note(result);
    return step();
  }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void Note(const absl::Status& status) { failures_.push_back(status.ToString()); }
  template <typename T>
  void Note(const absl::StatusOr<T>& result) {
    Note(result.status());
  }
  std::vector<std::string> failures_;
};

// Calls the scenario with each error, and with each of its calls failing in turn, until it ends
// without meeting the failure. Interrupted calls must not be seen; other errors are seen once at
// most. The scenario leaves no descriptors.
inline void Sweep(const std::function<void(Steps&, Injector&)>& scenario) {
  constexpr int kMostCalls = 1000;
  for (const int error : {EINTR, EAGAIN, ENOMEM, EIO, ENOSPC, ENODEV}) {
    int call = 0;
    for (;; ++call) {
      ASSERT_LT(call, kMostCalls);
      SCOPED_TRACE(testing::Message() << "error " << error << " of call " << call);
      const size_t descriptors = OpenDescriptors();
      Injector injector;
      injector.FailAfter(call, error);
      Steps steps;
      scenario(steps, injector);
      if (testing::Test::HasFatalFailure()) return;
      EXPECT_EQ(OpenDescriptors(), descriptors);
      const auto& failures = steps.failures();
      EXPECT_LE(failures.size(), 1u);
      // mmap() that says EAGAIN has met a limit, which does not change by itself.
      if ((error == EINTR || error == EAGAIN) && !failures.empty()) {
        EXPECT_TRUE(error == EAGAIN && failures.front().find("mmap()") != std::string::npos)
            << failures.front();
      }
      if (testing::Test::HasFailure() || !injector.failed()) break;
    }
    if (testing::Test::HasFailure()) break;
    EXPECT_GT(call, 20);
  }
}

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_SWEEP_H_
