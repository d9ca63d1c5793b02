// Draws in memory on the simulator, with the kernel that writes draws run at its dispatches: what
// each draw sees.
#ifndef PACKSMITH_TESTS_INTEL_INDIRECT_INDIRECT_WORLD_H_
#define PACKSMITH_TESTS_INTEL_INDIRECT_INDIRECT_WORLD_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/generated_draws.h"
#include "runtime/intel/compute/kernel_binary.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/generated_draws/generator.h"
#include "runtime/intel/indirect/indirect_drawer.h"
#include "runtime/sim/work.h"
#include "tests/intel/compute/compute_hardware.h"
#include "tests/intel/compute/gpu_memory.h"

namespace packsmith::intel {

inline constexpr uint32_t kBaseBuffer = 31, kNumberBuffer = 32;
inline constexpr uint32_t kParametersAt = 24;  // in the kernel's constants

// Everything that a draw sees.
struct SeenDraw {
  std::map<sim::ParameterKind, int64_t> numbers;
  // What vertices read: base vertex, base instance, number. Empty: the draw has none.
  std::vector<uint32_t> values;
  std::map<std::string, std::vector<uint8_t>> state;

  friend bool operator==(const SeenDraw&, const SeenDraw&) = default;
  friend std::ostream& operator<<(std::ostream& out, const SeenDraw& draw) {
    for (const auto& [kind, value] : draw.numbers)
      out << static_cast<int>(kind) << "=" << value << " ";
    out << "values";
    for (uint32_t value : draw.values) out << " " << value;
    for (const auto& [name, bytes] : draw.state) {
      out << "; " << name << " " << testing::PrintToString(bytes);
    }
    return out;
  }
};

// A command as it was executed first.
struct ExecutedCommand {
  uint64_t address = 0;
  size_t number = 0;  // of `names`
  std::vector<uint32_t> words;
};

template <class Gen>
class IndirectHardware : public ComputeHardware<Gen> {
  using Base = ComputeHardware<Gen>;
  using G = typename Gen::Packets;
  using Buffers = typename G::_3DSTATE_VERTEX_BUFFERS;

 public:
  explicit IndirectHardware(sim::MemoryAccess& memory)
      : Base(memory), generator_(packsmith_find_draw_generator(Gen::kName)) {
    this->kernel = [this](const SeenDispatch& dispatch, sim::WorkMemory& work) {
      Generate(dispatch, work);
    };
  }

  std::string Run(uint64_t batch) {
    draws.clear();
    problems.clear();
    commands.clear();
    command_bytes = bytes_read = bytes_written = 0;
    buffers_seen_ = 0;
    this->names.clear();
    this->dispatches.clear();
    return Base::Run(batch, /*prefetch=*/true);
  }

  std::vector<SeenDraw> draws;
  std::vector<sim::Problem> problems;
  std::map<uint64_t, ExecutedCommand> commands;
  uint32_t generated = 0;  // items that the kernel ran
  // Of the last run: bytes of commands, and what the kernel has read and written.
  uint64_t command_bytes = 0, bytes_read = 0, bytes_written = 0;
  bool pre_parser = true;  // after the last run
  // A compiled kernel, and its offset from the instruction base. Null: the one of IndirectWorld.
  const KernelBinary* compiled = nullptr;
  uint64_t entry = 0;

 private:
  void OnProblem(const sim::Problem& problem) override {
    problems.push_back(problem);
    Base::OnProblem(problem);
  }
  void OnCommand(const sim::Command& command) override {
    command_bytes += command.bytes.size();
    if constexpr (kHasPreParser<Gen>) {
      uint32_t word;
      std::memcpy(&word, command.bytes.data(), sizeof(word));
      if (G::MI_ARB_CHECK::matches(word)) {
        const auto check = G::MI_ARB_CHECK::unpack(&word);
        if (check.pre_parser_disable_mask) pre_parser = !check.pre_parser_disable;
      }
    }
    ExecutedCommand& kept = commands[command.address];
    if (kept.words.empty()) {
      kept.address = command.address;
      kept.number = this->names.size();
      kept.words.resize(command.bytes.size() / 4);
      std::memcpy(kept.words.data(), command.bytes.data(), kept.words.size() * 4);
    }
    Base::OnCommand(command);
  }
  void OnShaders(const sim::Work& work, sim::WorkMemory& memory) override {
    if (work.role == tables::Role::kDispatch) {
      Base::OnShaders(work, memory);
    } else {
      See(work, memory);
    }
  }

  // Items in any order: they do not depend on each other.
  void Generate(const SeenDispatch& dispatch, sim::WorkMemory& work) {
    ASSERT_NE(generator_, nullptr);
    struct Port {
      sim::WorkMemory& work;
      uint64_t& read;
      uint64_t& written;
    } port{work, bytes_read, bytes_written};
    packsmith_gpu_memory memory = {
        &port,
        [](void* context, uint64_t at, void* to, uint32_t bytes) {
          const Port& port = *static_cast<Port*>(context);
          port.read += bytes;
          return port.work.Read(tables::ClientKind::kDataPort, 0, at,
                                absl::MakeSpan(static_cast<uint8_t*>(to), bytes)) == bytes;
        },
        [](void* context, uint64_t at, const void* from, uint32_t bytes) {
          const Port& port = *static_cast<Port*>(context);
          port.written += bytes;
          return port.work.Write(tables::ClientKind::kDataPort, 0, at,
                                 absl::MakeSpan(static_cast<const uint8_t*>(from), bytes)) == bytes;
        }};
    std::vector<std::pair<uint64_t, uint32_t>> items;
    const uint32_t width = 8u << dispatch.simd;
    const uint32_t parameters_at = compiled == nullptr ? kParametersAt : compiled->Find(0)->offset;
    if (compiled != nullptr) {
      ASSERT_EQ(dispatch.kernel, entry);
      ASSERT_EQ(width, compiled->simd);
    }
    for (const SeenThread& thread : dispatch.threads) {
      // The first bytes may be in the walker.
      std::vector<uint8_t> constants = thread.inline_data;
      constants.insert(constants.end(), thread.shared.begin(), thread.shared.end());
      uint64_t parameters = 0;
      ASSERT_GE(constants.size(), parameters_at + sizeof(parameters));
      std::memcpy(&parameters, constants.data() + parameters_at, sizeof(parameters));
      for (uint32_t lane = 0; lane < width; ++lane) {
        if ((thread.lanes >> lane & 1) == 0) continue;
        items.push_back({parameters, compiled == nullptr
                                         ? ItemOf(thread, constants, width, lane)
                                         : CompiledItemOf(thread, constants, lane)});
      }
    }
    std::shuffle(items.begin(), items.end(), random_);
    for (const auto& [parameters, item] : items) {
      ASSERT_TRUE(generator_->generate_in(&memory, parameters, item));
      ++generated;
    }
  }

  // A kernel that counts by itself.
  static uint32_t ItemOf(const SeenThread& thread, const std::vector<uint8_t>& constants,
                         uint32_t width, uint32_t lane) {
    EXPECT_EQ(constants[0], 0xab);  // what else the compiler wanted
    return thread.group[0] * PACKSMITH_GENERATE_GROUP + thread.number * width + lane;
  }
  // get_global_id(0), from what the compiler says is where.
  uint32_t CompiledItemOf(const SeenThread& thread, const std::vector<uint8_t>& constants,
                          uint32_t lane) const {
    const auto x_of = [&](absl::string_view type) {
      const KernelArgument* const at = compiled->Find(type);
      uint32_t x = 0;
      EXPECT_NE(at, nullptr) << type;
      if (at == nullptr || at->offset + sizeof(x) > constants.size()) return x;
      std::memcpy(&x, constants.data() + at->offset, sizeof(x));
      return x;
    };
    uint32_t local = 0;
    if (compiled->kernel.local_ids == LocalIds::kHardware) {
      EXPECT_LT(lane, thread.local_ids.size());
      if (lane < thread.local_ids.size()) local = thread.local_ids[lane][0];
    } else {
      // All x, then all y, then all z, of 16 bits each.
      uint16_t id = 0;
      EXPECT_EQ(thread.own.size(), compiled->local_id_bytes);
      if (thread.own.size() >= (lane + 1) * sizeof(id)) {
        std::memcpy(&id, thread.own.data() + lane * sizeof(id), sizeof(id));
      }
      local = id;
    }
    return x_of("global_id_offset") + thread.group[0] * x_of("enqueued_local_size") + local;
  }

  void See(const sim::Work& work, sim::WorkMemory& memory) {
    SeenDraw draw;
    // Arguments in memory have only some of them.
    draw.numbers = {{sim::ParameterKind::kBias, 0}, {sim::ParameterKind::kIndexed, 0}};
    for (const sim::Parameter& parameter : sim::ParametersOf(this->tables(), work)) {
      draw.numbers[parameter.kind] = parameter.value;
    }
    std::vector<uint32_t> words(work.command.bytes.size() / 4);
    std::memcpy(words.data(), work.command.bytes.data(), words.size() * 4);
    if constexpr (requires { typename G::_3DPRIMITIVE_EXTENDED; }) {
      if (G::_3DPRIMITIVE_EXTENDED::matches(words[0])) {
        const auto p = G::_3DPRIMITIVE_EXTENDED::unpack(words.data());
        draw.values = {p.extended_parameter_0, p.extended_parameter_1, p.extended_parameter_2};
      }
    }
    for (const sim::StatePacket& packet :
         sim::StateOf(this->tables(), this->streamer(), tables::Role::kDraw)) {
      const std::string name(this->tables().string(packet.container->name));
      if (name != "3DSTATE_VERTEX_BUFFERS") {
        draw.state[name].assign(packet.bytes.begin(), packet.bytes.end());
      } else if (packet.number != buffers_seen_) {
        buffers_seen_ = packet.number;
        ReadValues(packet.bytes, memory, draw.values);
      }
    }
    draws.push_back(std::move(draw));
  }
  // As vertex fetch does it.
  void ReadValues(absl::Span<const uint8_t> bytes, sim::WorkMemory& memory,
                  std::vector<uint32_t>& values) {
    std::vector<uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    for (const auto& item : Buffers::items(words.data(), words.size())) {
      const uint32_t dwords = item.vertex_buffer_index == kBaseBuffer     ? 2
                              : item.vertex_buffer_index == kNumberBuffer ? 1
                                                                          : 0;
      std::array<uint32_t, 2> read = {};
      ASSERT_GE(item.buffer_size, dwords * 4);
      ASSERT_EQ(memory.Read(tables::ClientKind::kVertexFetch, 0, item.buffer_starting_address.gpu,
                            absl::MakeSpan(reinterpret_cast<uint8_t*>(read.data()), dwords * 4)),
                dwords * 4);
      values.insert(values.end(), read.begin(), read.begin() + dwords);
    }
  }

  const packsmith_draw_generator* const generator_;
  std::mt19937 random_{7};
  uint64_t buffers_seen_ = 0;
};

// A list, and what is in memory.
struct TestList {
  DrawList list;
  std::vector<uint32_t> words;      // the draws' numbers
  std::optional<uint32_t> count;    // in memory
  bool predicate = true;            // what MI_PREDICATE_RESULT is
  std::optional<uint32_t> rewrite;  // a count that the streamer stores before this list
};

template <class Gen>
class IndirectWorld : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  static constexpr bool kExtended = requires { typename G::_3DPRIMITIVE_EXTENDED; };

  static RenderDevice Device() {
    for (const RenderDevice& device : RenderDevices()) {
      if (device.version == Gen::kVersion) return device;
    }
    return RenderDevices().back();
  }

  IndirectWorld()
      : code_(Must(memory_.buffers->Create({.size = 32768, .zone = memory_.low}))),
        data_(Must(memory_.buffers->Create({.size = 1 << 20, .zone = memory_.low}))) {
    // A thread of 16 or 32 lanes: two or one of them are a group.
    for (unsigned i : {1u, 2u}) {
      kernel_.kernel.entries[i] = {.present = true,
                                   .offset = static_cast<uint32_t>(code_.address) + 64 * i,
                                   .buffer = code_.handle};
    }
    kernel_.kernel.local_size = {PACKSMITH_GENERATE_GROUP, 1, 1};
    kernel_.kernel.constant_bytes = 40;
    kernel_.parameters_at = kParametersAt;
    kernel_.constants = {0xab};
  }

  // A kernel in a file of Intel's compiler, in place of the world's.
  void Load(const KernelBinary& binary) {
    ASSERT_LE(binary.instructions.size(), code_.size);
    ASSERT_EQ(memory_.Write(0, code_.address, binary.instructions), binary.instructions.size());
    const auto offset = static_cast<uint32_t>(code_.address);
    const absl::StatusOr<GenerationKernel> kernel =
        GenerationKernelOf(binary, offset, code_.handle);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    kernel_ = *kernel;
    hardware_.compiled = &binary;
    hardware_.entry = code_.address + binary.entry;
  }
  void Poke(uint64_t at, absl::Span<const uint32_t> words) {
    ASSERT_EQ(memory_.Write(0, at,
                            absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(words.data()),
                                                words.size() * 4)),
              words.size() * 4);
  }
  // Places lists in memory: their numbers, and their counts.
  void Place(std::vector<TestList>& lists) {
    uint64_t next = data_.address + 4096;
    uint64_t count_at = data_.address;
    for (TestList& list : lists) {
      list.list.arguments = address(next, data_.handle);
      Poke(next, list.words);
      next += list.words.size() * 4;
      if (list.count.has_value()) {
        list.list.count = address(count_at, data_.handle);
        Poke(count_at, {{*list.count}});
        count_at += 8;
      }
    }
  }
  // Of random numbers.
  std::vector<TestList> RandomLists(std::mt19937& random, bool classic) {
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    std::vector<TestList> lists(1 + below(4));
    for (TestList& to : lists) {
      DrawList& list = to.list;
      constexpr uint32_t kDraws[] = {1, 2, 3, 5, 7, 8, 14, 15, 23};
      list.draws = kDraws[below(std::size(kDraws))];
      list.indexed = below(2) != 0;
      list.stride = below(2) != 0 ? 0 : list.ArgumentBytes() + 4 * below(5);
      list.reads_base = below(2) != 0;
      list.reads_number = below(2) != 0;
      list.instance_multiplier = below(4) == 0 ? 2 + below(3) : 1;
      if (below(2) != 0) {
        const uint32_t counts[] = {0, 1, list.draws - 1, list.draws, list.draws + 1, ~0u};
        to.count = counts[below(std::size(counts))];
      }
      list.predicated = below(4) == 0 && !(classic && to.count.has_value());
      to.predicate = below(2) != 0;
      list.tbimr = below(2) != 0;
      to.words.resize(list.draws * list.Stride() / 4 + 5);
      for (uint32_t& word : to.words) word = static_cast<uint32_t>(random());
      for (uint32_t i = 0; i < list.draws; ++i) {
        // Of some vertices, so that no counter overflows; some draw nothing.
        uint32_t* const draw = to.words.data() + i * list.Stride() / 4;
        draw[0] %= 100;
        draw[1] %= 5;
      }
      if (to.count.has_value() && below(3) == 0) to.rewrite = below(list.draws + 2);
    }
    return lists;
  }

  // The state of the draws of a list. Some of it changes from list to list, some is lost only when
  // pipelines are selected.
  bool EmitState(Batch<Gen>& batch, size_t list, const TestList& from, bool all) {
    using Topology = decltype(G::_3DSTATE_VF_TOPOLOGY::primitive_topology_type);
    bool good = batch.Emit(typename G::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type =
                                                                static_cast<Topology>(list + 1)});
    if (all) {
      typename G::_3DSTATE_CC_STATE_POINTERS colors;
      colors.color_calc_state_pointer = {4096};
      colors.color_calc_state_pointer_valid = true;
      good &= batch.Emit(colors);
    }
    return good && batch.Emit(typename Gen::LoadRegisterConstant{
                       .register_offset_ = Gen::PredicateResult::register_offset,
                       .data_dword = from.predicate ? 1u : 0u});
  }
  bool SelectDraws(Batch<Gen>& batch) {
    typename Batch<Gen>::Group group(batch, PipelineSelectDwords<Gen>());
    return EmitPipelineSelect<Gen>(group, Pipeline::k3D);
  }
  // The streamer stores another count.
  bool Rewrite(Batch<Gen>& batch, const TestList& list) {
    if (!list.rewrite.has_value()) return true;
    Arithmetic<Gen> math(batch);
    const address scratch(data_.address + 2048, data_.handle, access::write);
    return math.Store32(address(list.list.count->gpu, data_.handle, access::write),
                        math.Constant(*list.rewrite)) &&
           EmitBetween(batch, CacheDomain::kOtherWrite,
                       std::array{CacheDomain::kOtherRead, CacheDomain::kData}, scratch);
  }

  // A loop over the draws, with numbers that the CPU knows.
  void BuildPlain(Batch<Gen>& batch, const std::vector<TestList>& lists) {
    ASSERT_TRUE(SelectDraws(batch));
    for (size_t i = 0; i < lists.size(); ++i) {
      const TestList& test = lists[i];
      const DrawList& list = test.list;
      ASSERT_TRUE(Rewrite(batch, test));
      ASSERT_TRUE(EmitState(batch, i, test, i == 0));
      uint32_t draws = list.draws;
      if (test.count.has_value()) draws = std::min(draws, test.rewrite.value_or(*test.count));
      for (uint32_t d = 0; d < draws; ++d) {
        const uint32_t* const words = test.words.data() + d * list.Stride() / 4;
        EmitPlain(batch, list, words, d);
      }
    }
    ASSERT_TRUE(batch.End().ok()) << batch.status();
  }
  void EmitPlain(Batch<Gen>& batch, const DrawList& list, const uint32_t* words, uint32_t number) {
    using Packet = typename GeneratedDraw<Gen>::Packet;
    const std::array<uint32_t, 3> values = {words[list.indexed ? 3 : 2],
                                            words[list.indexed ? 4 : 3], number};
    Packet packet;
    packet.predicate_enable = list.predicated;
    packet.vertex_access_type =
        list.indexed ? Packet::VERTEX_ACCESS_TYPE_RANDOM : Packet::VERTEX_ACCESS_TYPE_SEQUENTIAL;
    packet.vertex_count_per_instance = words[0];
    packet.start_vertex_location = words[2];
    packet.instance_count = words[1] * list.instance_multiplier;
    packet.start_instance_location = values[1];
    packet.base_vertex_location = list.indexed ? static_cast<int32_t>(words[3]) : 0;
    if constexpr (kExtended) {
      packet.extended_parameter_0 = values[0];
      packet.extended_parameter_1 = values[1];
      packet.extended_parameter_2 = values[2];
    } else if (list.reads_base || list.reads_number) {
      const gpu::State state = Must(memory_.states.Allocate(16, 16));
      std::memcpy(state.cpu, values.data(), sizeof(values));
      using Buffers = typename G::_3DSTATE_VERTEX_BUFFERS;
      std::vector<typename Buffers::ps_item> items;
      const auto add = [&](uint32_t index, uint32_t at, uint32_t bytes) {
        typename Buffers::ps_item item;
        item.vertex_buffer_index = index;
        item.address_modify_enable = true;
        item.mocs = 2;
        item.buffer_starting_address = {state.address + at, state.buffer};
        item.buffer_size = bytes;
        items.push_back(item);
      };
      if (list.reads_base) add(kBaseBuffer, 0, 8);
      if (list.reads_number) add(kNumberBuffer, 8, 4);
      ASSERT_TRUE(
          batch.EmitItems(Buffers(), span<const typename Buffers::ps_item>(
                                         items.data(), static_cast<unsigned>(items.size()))));
    }
    ASSERT_TRUE(batch.Emit(packet));
  }

  // The same lists through a drawer. closes: groups end before the streamer stores.
  void BuildDrawn(Batch<Gen>& batch, IndirectDrawer<Gen>& drawer,
                  const std::vector<TestList>& lists, bool closes = true) {
    ASSERT_TRUE(SelectDraws(batch));
    for (size_t i = 0; i < lists.size(); ++i) {
      const TestList& test = lists[i];
      if (test.rewrite.has_value() && closes) {
        ASSERT_TRUE(drawer.Close()) << batch.status();
      }
      ASSERT_TRUE(Rewrite(batch, test));
      ASSERT_TRUE(drawer.Draw(test.list, [&](bool dispatched) {
        return EmitState(batch, i, test, i == 0 || dispatched);
      })) << batch.status();
      ++ways_[drawer.way()];
    }
    ASSERT_TRUE(drawer.End()) << batch.status();
    ASSERT_TRUE(batch.End().ok()) << batch.status();
  }
  IndirectDrawerOptions Options(const DrawThresholds& thresholds, uint32_t ring_items = 7) {
    return {.device = {.device = Device(), .subslices = 3},
            .kernel = &kernel_,
            .chunks = &generation_chunks_,
            .states = &memory_.states,
            .thresholds = thresholds,
            .ring_items = ring_items,
            .base_buffer = kBaseBuffer,
            .number_buffer = kNumberBuffer};
  }

  // What is drawn. Draws that read no values may have some.
  std::vector<SeenDraw> Run(const Batch<Gen>& batch, const std::vector<TestList>& lists) {
    wrong_ = hardware_.Run(batch.parts()[0].chunk.gpu);
    std::vector<SeenDraw> draws = hardware_.draws;
    for (SeenDraw& draw : draws) {
      const auto found = draw.state.find("3DSTATE_VF_TOPOLOGY");
      if (found == draw.state.end() || found->second.size() < 8) continue;
      const DrawList& list = lists.at(found->second[4] - 1u).list;
      if (!list.reads_base && !list.reads_number) draw.values.clear();
    }
    return draws;
  }

  GpuMemory memory_;
  gpu::Buffer code_, data_;
  GenerationKernel kernel_;
  gpu::BufferChunks generation_chunks_{
      *memory_.buffers, {.zone = Must(memory_.space->FindZone("batches")), .name = "generation"}};
  IndirectHardware<Gen> hardware_{memory_};
  std::string wrong_;
  std::map<DrawWay, int> ways_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_INDIRECT_INDIRECT_WORLD_H_
