// What the hardware does with packets of compute work, as far as a kernel sees it: threads, their
// lanes, and the constants in their registers. On the simulator, which executes the batch.
#ifndef PACKSMITH_TESTS_INTEL_COMPUTE_COMPUTE_HARDWARE_H_
#define PACKSMITH_TESTS_INTEL_COMPUTE_COMPUTE_HARDWARE_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/streamer.h"

namespace packsmith::intel {

// A thread as its kernel sees it.
struct SeenThread {
  std::array<uint32_t, 3> group = {};
  uint32_t number = 0;  // in the group
  uint32_t lanes = 0;   // a mask
  // Of each lane, if hardware writes them.
  std::vector<std::array<uint32_t, 3>> local_ids;
  // Constants: those that all threads share, and its own.
  std::vector<uint8_t> shared, own;
  std::vector<uint8_t> inline_data;
};

struct SeenDispatch {
  uint32_t simd = 0;  // code of the field
  uint64_t kernel = 0;
  uint32_t registers = 128;  // of a thread
  std::vector<SeenThread> threads;
};

template <class Gen>
class ComputeHardware : public sim::Observer {
  using G = typename Gen::Packets;
  using Descriptor = typename G::INTERFACE_DESCRIPTOR_DATA;
  static constexpr bool kMedia = requires { typename G::GPGPU_WALKER; };

 public:
  explicit ComputeHardware(sim::MemoryAccess& memory)
      : memory_(memory), tables_(*FindGeneration(Gen::kName)) {}

  // Executes a batch. What went wrong, or "".
  std::string Run(uint64_t batch, bool prefetch = false) {
    problems_.clear();
    sim::Streamer streamer(tables_, memory_, {.prefetch = prefetch}, *this);
    streamer_ = &streamer;
    streamer.EnterBatch(0, batch);
    if (streamer.Run(100000) != sim::Stop::kEnded) problems_ += "the batch does not end; ";
    streamer_ = nullptr;
    return problems_;
  }
  // What a kernel does: called for each dispatch, with the memory as kernels see it.
  std::function<void(const SeenDispatch&, sim::WorkMemory&)> kernel;
  std::vector<SeenDispatch> dispatches;
  // Packets so far, by name.
  std::vector<std::string> names;

 protected:
  const tables::Tables& tables() const { return tables_; }
  // While a batch is executed.
  const sim::Streamer& streamer() const { return *streamer_; }
  void OnProblem(const sim::Problem& problem) override { Wrong(problem.text); }
  void OnShaders(const sim::Work& work, sim::WorkMemory& memory) override {
    if (work.role == tables::Role::kDispatch && kernel && !dispatches.empty()) {
      kernel(dispatches.back(), memory);
    }
  }

 private:
  void Wrong(const std::string& text) { absl::StrAppend(&problems_, text, "; "); }

  std::vector<uint8_t> Bytes(uint64_t at, size_t size) {
    std::vector<uint8_t> bytes(size);
    if (memory_.Read(0, at, absl::MakeSpan(bytes)) != size) Wrong("unmapped constants");
    return bytes;
  }
  template <class P>
  static P Unpack(const sim::Command& command) {
    std::array<uint32_t, P::length> words = {};
    std::memcpy(words.data(), command.bytes.data(), std::min(command.bytes.size(), sizeof(words)));
    return P::unpack(words.data());
  }
  static uint32_t First(const sim::Command& command) {
    uint32_t word;
    std::memcpy(&word, command.bytes.data(), 4);
    return word;
  }

 protected:
  void OnCommand(const sim::Command& command) override {
    names.emplace_back(tables_.string(command.container->name));
    if constexpr (!kMedia) OnMode(command);
    if constexpr (kMedia) {
      OnMedia(command);
    } else if (G::CFE_STATE::matches(First(command))) {
      front_ = true;
      threads_ = Unpack<typename G::CFE_STATE>(command).maximum_number_of_threads;
    } else if (G::COMPUTE_WALKER::matches(First(command))) {
      OnWalker(Unpack<typename G::COMPUTE_WALKER>(command));
    } else if constexpr (requires { typename G::EXECUTE_INDIRECT_DISPATCH; }) {
      using Execute = typename G::EXECUTE_INDIRECT_DISPATCH;
      if (!Execute::matches(First(command))) return;
      const auto execute = Unpack<Execute>(command);
      const auto bytes = Bytes(execute.argument_buffer_start_address.gpu, 12);
      uint32_t groups[3];
      std::memcpy(groups, bytes.data(), sizeof(groups));
      typename G::COMPUTE_WALKER walker{.body = execute.compute_walker_body};
      walker.body.thread_group_id_x_dimension = groups[0];
      walker.body.thread_group_id_y_dimension = groups[1];
      walker.body.thread_group_id_z_dimension = groups[2];
      OnWalker(walker);
    }
  }

 private:
  // How many registers threads have, which must not change while some run.
  void OnMode(const sim::Command& command) requires(!kMedia) {
    const bool idle = std::exchange(idle_, false);
    if (Gen::PipeControl::matches(First(command))) {
      const auto pipe = Unpack<typename Gen::PipeControl>(command);
      idle_ = pipe.command_streamer_stall_enable && pipe.hdc_pipeline_flush_enable;
    } else if (G::STATE_COMPUTE_MODE::matches(First(command))) {
      if (!idle) Wrong("STATE_COMPUTE_MODE without a flush");
      const auto mode = Unpack<typename G::STATE_COMPUTE_MODE>(command);
      if (mode.large_grf_mode_mask) large_ = mode.large_grf_mode;
      if constexpr (requires { mode.enable_variable_register_size_allocation; }) {
        if (mode.enable_variable_register_size_allocation_mask != 0) {
          blocks_ = mode.enable_variable_register_size_allocation;
        }
      }
    }
  }
  uint32_t RegistersOf(const Descriptor& descriptor) const {
    if constexpr (requires { descriptor.registers_per_thread; }) {
      const uint32_t blocks = static_cast<uint32_t>(descriptor.registers_per_thread) + 1;
      return blocks_ ? blocks * 32 : 128;
    }
    return large_ ? 256 : 128;
  }
  void OnMedia(const sim::Command& command) requires kMedia {
    const uint32_t first = First(command);
    const bool stalled = std::exchange(stalled_, false);
    if (Gen::PipeControl::matches(first)) {
      const auto pipe = Unpack<typename Gen::PipeControl>(command);
      // Nothing begins in other packets of this kind.
      stalled_ = stalled || (pipe.command_streamer_stall_enable &&
                             (!Gen::kFacts.stall_needs_company || pipe.stall_at_pixel_scoreboard));
    } else if (G::MEDIA_VFE_STATE::matches(first)) {
      if (!stalled) Wrong("MEDIA_VFE_STATE without a stall");
      const auto vfe = Unpack<typename G::MEDIA_VFE_STATE>(command);
      front_ = true;
      room_ = vfe.curbe_allocation_size * 32;
      threads_ = vfe.maximum_number_of_threads + 1;
      curbe_.clear();
      descriptor_known_ = false;
    } else if (G::MEDIA_CURBE_LOAD::matches(first)) {
      const auto load = Unpack<typename G::MEDIA_CURBE_LOAD>(command);
      if (load.curbe_total_data_length > room_) Wrong("more constants than room");
      if (load.curbe_total_data_length % 64 != 0) Wrong("constants that are not 64 bytes each");
      if (load.curbe_data_start_address % 64 != 0) Wrong("constants that are not aligned");
      curbe_ = Bytes(load.curbe_data_start_address, load.curbe_total_data_length);
    } else if (G::MEDIA_INTERFACE_DESCRIPTOR_LOAD::matches(first)) {
      if (!flushed_) Wrong("descriptors without MEDIA_STATE_FLUSH");
      const auto load = Unpack<typename G::MEDIA_INTERFACE_DESCRIPTOR_LOAD>(command);
      const auto bytes = Bytes(load.interface_descriptor_data_start_address, 32);
      uint32_t words[8];
      std::memcpy(words, bytes.data(), sizeof(words));
      descriptor_ = Descriptor::unpack(words);
      descriptor_known_ = true;
    } else if (G::MEDIA_STATE_FLUSH::matches(first)) {
      flushed_ = true;
    } else if (G::GPGPU_WALKER::matches(first)) {
      OnWalker(Unpack<typename G::GPGPU_WALKER>(command));
      flushed_ = false;
    }
  }

  void OnWalker(const auto& walker) {
    if (!front_) Wrong("no front end");
    if constexpr (kMedia) {
      if (!descriptor_known_) Wrong("no descriptor");
      const uint32_t threads = walker.thread_width_counter_maximum + 1;
      if (threads != descriptor_.number_of_threads_in_gpgpu_thread_group) {
        Wrong("the descriptor has another number of threads");
      }
      const size_t shared = descriptor_.cross_thread_constant_data_read_length * size_t{32};
      const size_t own = descriptor_.constant_urb_entry_read_length * size_t{32};
      if (shared + threads * own > curbe_.size()) {
        Wrong("constants were not loaded");
        return;
      }
      const uint32_t width = 8u << walker.simd_size;
      Dispatch(walker, width, walker.simd_size, descriptor_, walker.right_execution_mask,
               [&](SeenThread& thread) {
                 thread.shared.assign(curbe_.begin(), curbe_.begin() + shared);
                 const auto begin = curbe_.begin() + shared + thread.number * own;
                 thread.own.assign(begin, begin + own);
               });
    } else {
      const auto& body = walker.body;
      const uint32_t width = 8u << body.simd_size;
      const auto data = Bytes(body.indirect_data_start_address, body.indirect_data_length);
      if (body.indirect_data_length != 0 && body.indirect_data_start_address % 64 != 0) {
        Wrong("indirect data that are not aligned");
      }
      Dispatch(body, width, body.simd_size, body.interface_descriptor, body.execution_mask,
               [&](SeenThread& thread) {
                 thread.shared = data;  // the kernel loads what it needs
                 if (body.emit_inline_parameter) {
                   thread.inline_data.resize(sizeof(body.inline_data));
                   std::memcpy(thread.inline_data.data(), body.inline_data,
                               sizeof(body.inline_data));
                 }
                 if (body.generate_local_id) CountIds(body, width, thread);
               });
    }
  }

  template <class Sizes, class Give>
  void Dispatch(const Sizes& sizes, uint32_t width, uint32_t simd, const Descriptor& descriptor,
                uint32_t mask, const Give& give) {
    SeenDispatch seen{.simd = simd,
                      .kernel = descriptor.kernel_start_pointer,
                      .registers = RegistersOf(descriptor),
                      .threads = {}};
    const uint32_t threads = descriptor.number_of_threads_in_gpgpu_thread_group;
    if (threads == 0 || threads > threads_) Wrong("threads of a group");
    const uint32_t full = width == 32 ? ~0u : (1u << width) - 1;
    if (mask == 0 || (mask & ~full) != 0) Wrong("the mask");
    for (uint32_t z = 0; z < sizes.thread_group_id_z_dimension; ++z) {
      for (uint32_t y = 0; y < sizes.thread_group_id_y_dimension; ++y) {
        for (uint32_t x = 0; x < sizes.thread_group_id_x_dimension; ++x) {
          for (uint32_t t = 0; t < threads; ++t) {
            SeenThread thread;
            thread.group = {x, y, z};
            thread.number = t;
            thread.lanes = t + 1 == threads ? mask : full;
            give(thread);
            seen.threads.push_back(std::move(thread));
          }
        }
      }
    }
    dispatches.push_back(std::move(seen));
  }
  // By counting, in the walk's order.
  template <class Body>
  static void CountIds(const Body& body, uint32_t width, SeenThread& thread) {
    static constexpr unsigned kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                               {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const uint32_t sizes[3] = {body.local_x_maximum + 1, body.local_y_maximum + 1,
                               body.local_z_maximum + 1};
    const unsigned* order = kOrders[body.walk_order];
    for (uint32_t lane = 0; lane < width; ++lane) {
      uint32_t rest = thread.number * width + lane;
      std::array<uint32_t, 3> id = {};
      for (unsigned i = 0; i < 3; ++i) {
        id[order[i]] = rest % sizes[order[i]];
        rest /= sizes[order[i]];
      }
      thread.local_ids.push_back(id);
    }
  }

  sim::MemoryAccess& memory_;
  const tables::Tables tables_;
  const sim::Streamer* streamer_ = nullptr;
  std::string problems_;
  bool idle_ = false, large_ = false, blocks_ = false;
  bool front_ = false, stalled_ = false, flushed_ = true, descriptor_known_ = false;
  uint32_t room_ = 0, threads_ = 0;
  std::vector<uint8_t> curbe_;
  Descriptor descriptor_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_COMPUTE_COMPUTE_HARDWARE_H_
