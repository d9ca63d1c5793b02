// Executes submissions with the command streamer of runtime/sim, on live memory.
//
//   SimExecutor executor({.say = [](absl::string_view line) { ... }});
//   kernel.set_executor(&executor);
//
// What a batch stores, copies, computes and waits for takes place; shaders and the functions of
// media engines do not: one line says so for each kind.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_SIM_EXECUTOR_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_SIM_EXECUTOR_H_

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/capture/execute/hang_place.h"
#include "runtime/capture/execute/mapped_memory.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/streamer.h"
#include "runtime/tables/tables.h"

namespace packsmith::capture {

struct SimExecutorOptions {
  // Of a submission. One that needs more commands, or more time while it executes, never ends: it
  // hangs. 0: no limit.
  uint64_t max_commands = 0;
  uint64_t max_seconds = 10;
  // Bytes of destination pixels that one blit goes through: the largest images that hardware has
  // are smaller. What is left of one is not executed.
  uint64_t most_bytes_of_a_blit = uint64_t{4} << 30;
  // Draws and dispatches of a context whose arguments come from memory; further ones do not count.
  uint64_t most_indirect_draws = 1 << 22;
  // Execute() returns Outcome::kWaiting after this time, so that clients are served.
  int64_t slice_ns = 10'000'000;
  // Whether reads that come too early are found: it costs time and memory for each store.
  bool visibility = false;
  // Receives lines, without newlines, of what is not executed as hardware does it. Control
  // characters are escaped. Called with the kernel's lock held.
  std::function<void(absl::string_view)> say = {};
  // Submissions (Work::number) that hang at the command at an address; what is before it is
  // executed.
  std::map<uint64_t, uint64_t> stop_at = {};
  // CLOCK_MONOTONIC in nanoseconds, for tests; empty: the system's.
  std::function<int64_t()> now = {};
};

// One for all devices of a kernel, and with the kernel's lock held.
class SimExecutor : public Executor {
 public:
  explicit SimExecutor(SimExecutorOptions options = {});
  ~SimExecutor() override;

  // A submission of several streams is for as many engines: they run at the same time, each until
  // it waits.
  Outcome Execute(const Work& work, std::string& why) override;
  void Forget(const Work& work) override;
  void ForgetContext(uint64_t context) override;

  // Where the last submission that hung was executing; empty: it is another one.
  std::optional<HangPlace> PlaceOfHang(const Work& work) const;

  struct Totals {
    uint64_t submissions = 0;  // begun
    uint64_t hung = 0;
    uint64_t commands = 0;
    uint64_t draws = 0, dispatches = 0;
    std::array<uint64_t, sim::kProblemKinds> problems = {};  // by sim::ProblemKind
  };
  const Totals& totals() const { return totals_; }
  // "executed 12 submissions, 340 commands; 2 draws and 1 dispatch without shaders; ...".
  std::string Summary() const;

 private:
  // States of contexts that are kept; beyond them the one that was used longest ago is forgotten.
  static constexpr size_t kMostLanes = 256;

  struct Device;
  // A context on an engine: its streamer, and the memory of the work that it is at.
  struct LaneKey {
    uint64_t context = 0;
    uint32_t engine = 0, instance = 0, stream = 0;
    auto operator<=>(const LaneKey&) const = default;
  };
  struct Lane;
  // A work that has begun.
  struct Running;

  // Null: nothing of the device's is executed.
  Device* DeviceOf(const Work& work);
  // Null: it is at another work.
  Lane* LaneFor(const Work& work, Device& device, const WorkStream& stream, uint32_t number);
  bool Begin(const Work& work, Device& device, Running& running);
  Outcome Continue(const Work& work, Running& running, std::string& why);
  // The states of its lanes are lost.
  Outcome Hang(const Work& work, Lane& lane, const std::string& text, std::string& why);
  // Sets hang_place_; the text says what the command there has reached in vain.
  std::string Locate(const Work& work, Lane& lane, const std::string& text);
  // After a work that ended or hung: says that it did not reach its address of `stop_at`.
  void SayIfMissed(const Work& work);
  void End(Running& running, bool lost);
  std::string WaitText(Lane& lane) const;
  int64_t Now() const;

  void Say(const Work& work, absl::string_view text);
  // Only the first of each `key` is said.
  void SayOnce(const std::string& key, const Work& work, absl::string_view text);
  void OnProblem(const sim::Problem& problem, const Lane& lane);
  void OnWork(const sim::Work& work);

  const SimExecutorOptions options_;
  Totals totals_;
  absl::flat_hash_map<const DeviceInfo*, std::unique_ptr<Device>> devices_;
  std::map<LaneKey, std::unique_ptr<Lane>> lanes_;
  std::map<uint64_t, Running> running_;  // by Work::number
  uint64_t uses_ = 0;
  std::set<std::string> said_;
  std::array<uint64_t, sim::kProblemKinds> said_of_ = {};
  const Work* current_ = nullptr;  // during Execute()
  // Of the command that has just faulted.
  struct Fault {
    std::string text;
    MappedMemory::Miss miss;
  };
  Fault fault_;
  uint64_t hung_ = 0;  // Work::number
  HangPlace hang_place_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_SIM_EXECUTOR_H_
