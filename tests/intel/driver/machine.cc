#include "tests/intel/driver/machine.h"

#include <cstring>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/work.h"
#include "runtime/tables/tables.h"

namespace packsmith::intel {
namespace {

// Memory of a HostDevice, as its page tables allow; byte by byte at the ends of what is bound.
class HostMemory : public sim::MemoryAccess {
 public:
  explicit HostMemory(gpu::HostDevice& device) : device_(device) {}

  size_t Read(uint32_t, uint64_t address, absl::Span<uint8_t> out) const override {
    if (device_.Read(0, address, out).ok()) return out.size();
    size_t done = 0;
    while (done < out.size() && device_.Read(0, address + done, out.subspan(done, 1)).ok()) ++done;
    return done;
  }
  size_t Write(uint32_t, uint64_t address, absl::Span<const uint8_t> bytes) override {
    if (device_.Write(0, address, bytes).ok()) return bytes.size();
    size_t done = 0;
    while (done < bytes.size() && device_.Write(0, address + done, bytes.subspan(done, 1)).ok()) {
      ++done;
    }
    return done;
  }

 private:
  gpu::HostDevice& device_;
};

class Watcher : public sim::Observer {
 public:
  Watcher(const tables::Tables& tables, Machine& machine, unsigned version)
      : tables_(tables), machine_(machine), selects_nothing_(version >= 200) {}

  void OnCommand(const sim::Command& command) override {
    machine_.packets.emplace_back(tables_.string(command.container->name));
    std::vector<uint32_t> dwords(command.bytes.size() / 4);
    std::memcpy(dwords.data(), command.bytes.data(), dwords.size() * 4);
    machine_.dwords.push_back(std::move(dwords));
    machine_.addresses.push_back(command.address);
    executed_.insert(tables_.IndexOf(*command.container));
  }
  void OnSkipped(const sim::Command& command) override {
    machine_.skipped.emplace_back(tables_.string(command.container->name));
  }
  void OnWork(const sim::Work& work) override {
    ExecutedWork executed{std::string(tables_.string(work.command.container->name)), {}, {}};
    for (const sim::Parameter& parameter : sim::ParametersOf(tables_, work)) {
      if (parameter.kind < sim::ParameterKind::kGroupsX) continue;
      const auto axis =
          static_cast<size_t>(parameter.kind) - static_cast<size_t>(sim::ParameterKind::kGroupsX);
      executed.groups[axis] = parameter.value;
    }
    for (const sim::StatePacket& state : sim::StateOf(tables_, *streamer, work.role)) {
      std::vector<uint32_t> dwords(state.bytes.size() / 4);
      std::memcpy(dwords.data(), state.bytes.data(), dwords.size() * 4);
      executed.states.emplace_back(tables_.string(state.container->name), std::move(dwords));
    }
    machine_.works.push_back(std::move(executed));
    Require(tables_.IndexOf(*work.command.container));
  }
  void OnShaders(const sim::Work& work, sim::WorkMemory& memory) override {
    if (machine_.shaders) machine_.shaders(work, memory);
  }
  void OnProblem(const sim::Problem& problem) override {
    machine_.problems.push_back(problem.text);
  }

  const sim::Streamer* streamer = nullptr;

 private:
  // What a packet requires, and what that requires, must have been executed in this job.
  void Require(uint32_t packet) {
    std::set<uint32_t> required;
    std::vector<uint32_t> open = {packet};
    while (!open.empty()) {
      const tables::Container& container = tables_.container(open.back());
      open.pop_back();
      for (const tables::Relation& relation : tables_.relations(container.relations)) {
        if (relation.kind != tables::RelationKind::kRequires ||
            !required.insert(relation.container).second) {
          continue;
        }
        open.push_back(relation.container);
        if (!Has(relation.container)) {
          machine_.problems.push_back(absl::StrCat(
              "a draw without ", tables_.string(tables_.container(relation.container).name)));
        }
      }
    }
  }
  bool Has(uint32_t packet) const {
    if (executed_.contains(packet)) return true;
    const absl::string_view name = tables_.string(tables_.container(packet).name);
    // One packet may set the constants of all stages; from Xe2 on there is no pipeline to select.
    if (absl::StartsWith(name, "3DSTATE_CONSTANT_")) {
      return executed_.contains(tables_.FindContainer("3DSTATE_CONSTANT_ALL"));
    }
    return name == "PIPELINE_SELECT" && selects_nothing_;
  }

  const tables::Tables& tables_;
  Machine& machine_;
  const bool selects_nothing_;
  std::set<uint32_t> executed_;
};

}  // namespace

Machine::Machine(absl::string_view generation, const Options& options) : generation_(generation) {
  const auto driver = FindGenerationDriver(generation);
  EXPECT_TRUE(driver.ok()) << driver.status();
  auto made = gpu::HostDevice::Create(
      {.device = {.family = "intel",
                  .generation = generation_,
                  .verx10 = static_cast<int>((*driver)->version)},
       .address_bits = options.address_bits,
       .run = [this](gpu::HostDevice& host, const gpu::Job& job) { return Execute(host, job); },
       .complete_by_hand = options.complete_by_hand});
  EXPECT_TRUE(made.ok()) << made.status();
  device = *std::move(made);
  std::optional<RenderDevice> part;
  if (!options.part.empty()) {
    const auto found = FindRenderDevice(options.part);
    EXPECT_TRUE(found.ok()) << found.status();
    if (found.ok()) part = *found;
  }
  auto created = Context::Create(
      *device,
      {.device = part, .subslices = 4, .slices = options.slices, .pipelines = options.pipelines});
  EXPECT_TRUE(created.ok()) << created.status();
  if (created.ok()) context = *std::move(created);
}

absl::Status Machine::Execute(gpu::HostDevice& host, const gpu::Job& job) {
  engines.push_back(job.engine);
  after.emplace_back(job.after.begin(), job.after.end());
  residents.emplace_back(job.residents.begin(), job.residents.end());
  const auto tables = FindGeneration(generation_);
  if (!tables.ok()) return tables.status();
  HostMemory memory(host);
  Watcher watcher(*tables, *this, (*FindGenerationDriver(generation_))->version);
  const uint32_t engine = tables->FindEngine(job.engine == "copy" ? "blitter" : job.engine);
  const bool has_engine = engine < tables->engines().size();
  sim::Streamer streamer(*tables, memory,
                         {.engine = has_engine ? engine : 0,
                          .all_engines = !has_engine,
                          .visibility = true,
                          .unmapped_faults = true},
                         watcher);
  watcher.streamer = &streamer;
  streamer.EnterBatch(0, job.batch_address);
  const sim::Stop stop = streamer.Run(1'000'000);
  if (stop == sim::Stop::kEnded) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the batch did not end: ", static_cast<int>(stop)));
}

gpu::Buffer Machine::BufferOf(absl::string_view name, absl::Span<const uint8_t> bytes) {
  const auto buffer = context->NewBuffer(bytes.size(), name);
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  if (!buffer.ok()) return {};
  std::memcpy(buffer->cpu, bytes.data(), bytes.size());
  return *buffer;
}

void Machine::Run(CommandBuffer& commands) {
  const auto fence = context->Submit(commands);
  ASSERT_TRUE(fence.ok()) << fence.status();
  const auto done = context->Wait(*fence, absl::Seconds(10));
  ASSERT_TRUE(done.ok()) << done.status();
  ASSERT_TRUE(*done);
}

std::optional<uint64_t> Machine::Field(absl::string_view packet, absl::Span<const uint32_t> dwords,
                                       absl::string_view field) const {
  const auto tables = FindGeneration(generation_);
  EXPECT_TRUE(tables.ok()) << tables.status();
  const tables::Container& container = tables->container(tables->FindContainer(packet));
  const auto bytes =
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(dwords.data()), dwords.size() * 4);
  const decode::Scope scope(*tables, container, bytes);
  for (uint32_t i = 0; i < container.leaves.count; ++i) {
    const uint32_t leaf = container.leaves.first + i;
    if (tables->string(tables->leaf(leaf).name) == field) return scope.Number(leaf);
  }
  return std::nullopt;
}

bool Machine::IsResident(uint64_t address, uint64_t size) const {
  for (const gpu::Resident& one : residents.back()) {
    if (one.address <= address && address + size <= one.address + one.size) return true;
  }
  return false;
}

std::vector<std::string> DriverGenerations() {
  std::vector<std::string> names;
  for (const GenerationDriver* driver : GenerationDrivers()) names.emplace_back(driver->name);
  return names;
}

}  // namespace packsmith::intel
