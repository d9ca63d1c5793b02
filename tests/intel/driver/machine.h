// A GPU of a generation for tests: a HostDevice whose jobs the simulator executes. Each job must
// set all that the description says that its draws require.
#ifndef PACKSMITH_TESTS_INTEL_DRIVER_MACHINE_H_
#define PACKSMITH_TESTS_INTEL_DRIVER_MACHINE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/memory/device.h"
#include "runtime/memory/host_device.h"
#include "runtime/sim/observer.h"

namespace packsmith::intel {

class PipelineCache;

// A draw or dispatch that was executed.
struct ExecutedWork {
  std::string packet;
  // The last packet of each kind of state that it reads: its name and dwords.
  std::vector<std::pair<std::string, std::vector<uint32_t>>> states;
  std::array<int64_t, 3> groups = {};  // of a dispatch
};

class Machine {
 public:
  struct Options {
    bool complete_by_hand = false;
    PipelineCache* pipelines = nullptr;
    std::vector<uint32_t> slices = {};  // ContextOptions::slices
    std::string part = {};              // of FindRenderDevice(); empty: the context's choice
    unsigned address_bits = 48;
  };

  explicit Machine(absl::string_view generation) : Machine(generation, Options()) {}
  Machine(absl::string_view generation, const Options& options);

  // The buffer with these bytes.
  gpu::Buffer BufferOf(absl::string_view name, absl::Span<const uint8_t> bytes);
  // Submits, and waits until it is done.
  void Run(CommandBuffer& commands);
  // A field of a packet or state, by its name; empty: it has no such field.
  std::optional<uint64_t> Field(absl::string_view packet, absl::Span<const uint32_t> dwords,
                                absl::string_view field) const;
  // Whether the last job has listed the memory that is there.
  bool IsResident(uint64_t address, uint64_t size) const;

  // Called for each draw and dispatch, to do what shaders would do.
  std::function<void(const sim::Work&, sim::WorkMemory&)> shaders;

  std::unique_ptr<gpu::HostDevice> device;
  std::unique_ptr<Context> context;
  // Of all jobs so far.
  std::vector<std::string> packets;           // names, in the order of execution
  std::vector<std::vector<uint32_t>> dwords;  // of each of them
  std::vector<uint64_t> addresses;            // of each of them
  std::vector<std::string> skipped;           // packets that a predicate skipped
  std::vector<ExecutedWork> works;
  std::vector<std::string> problems;  // anything that was not exact
  std::vector<std::string> engines;   // of each job
  std::vector<std::vector<gpu::Fence>> after;
  std::vector<std::vector<gpu::Resident>> residents;

 private:
  absl::Status Execute(gpu::HostDevice& host, const gpu::Job& job);

  const std::string generation_;
};

// The names of all generations with command buffers, as values of a parameterised test.
std::vector<std::string> DriverGenerations();

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_DRIVER_MACHINE_H_
