// A program that uses a mock kernel, in this process, and what the kernel reports.
#ifndef PACKSMITH_TESTS_CAPTURE_PROGRAM_H_
#define PACKSMITH_TESTS_CAPTURE_PROGRAM_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/kernel/uapi/drm.h"

namespace packsmith::capture {

// What the kernel reports.
class Seen : public Watcher {
 public:
  void OnSubmit(const std::shared_ptr<const Work>& work) override { works.push_back(work); }
  void OnDone(const Work& work, Outcome outcome, absl::string_view /*why*/) override {
    done.emplace_back(work.number, outcome);
  }
  void OnWarning(pid_t, absl::string_view call, absl::string_view text) override {
    warnings.push_back(absl::StrCat(call, ": ", text));
  }

  std::vector<std::shared_ptr<const Work>> works;
  std::vector<std::pair<uint64_t, Outcome>> done;
  std::vector<std::string> warnings;
};

// Holds work back until it is opened.
class Gate : public Executor {
 public:
  Outcome Execute(const Work&, std::string&) override {
    return open ? Outcome::kDone : Outcome::kWaiting;
  }
  void ForgetContext(uint64_t context) override { forgotten.push_back(context); }
  std::atomic<bool> open = false;
  std::vector<uint64_t> forgotten;
};

template <typename T>
uint64_t AddressOf(T& value) {
  return reinterpret_cast<uint64_t>(&value);
}

// One kernel with one device. `Make`: MakeXe and its like.
template <auto kMake>
struct MachineWith {
  explicit MachineWith(absl::string_view name)
      : device(kernel.Add(kMake(kernel, *FindDevice(name)->device))) {
    kernel.AddWatcher(&seen);
  }
  // Both outlive the kernel.
  Seen seen;
  Gate gate;
  MockKernel kernel;
  MockDevice& device;
};

// An open file. Methods that return handles expect the call to succeed.
struct Program {
  Program(MockKernel& its_kernel, const MockDevice& device)
      : kernel(its_kernel), file(its_kernel.Open(device.render_minor())) {}

  template <typename T>
  Result Call(uint32_t request, T& args) {
    return file->Ioctl(caller, request, AddressOf(args));
  }
  uint32_t Syncobj(bool signalled = false) {
    uapi::drm::syncobj_create args = {0, signalled ? uapi::drm::kSyncobjCreateSignaled : 0};
    EXPECT_EQ(Call(uapi::drm::kSyncobjCreate, args), 0);
    return args.handle;
  }

  // 0: it is signalled; -ETIME: not yet.
  Result Poll(uint32_t syncobj) {
    uapi::drm::syncobj_wait args = {};
    args.handles = AddressOf(syncobj);
    args.count_handles = 1;
    return Call(uapi::drm::kSyncobjWait, args);
  }
  uint64_t Reached(uint32_t syncobj) {
    uint64_t point = 0;
    uapi::drm::syncobj_timeline_array args = {AddressOf(syncobj), AddressOf(point), 1, 0};
    EXPECT_EQ(Call(uapi::drm::kSyncobjQuery, args), 0);
    return point;
  }

  MockKernel& kernel;
  OwnCaller caller;
  std::shared_ptr<File> file;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_PROGRAM_H_
