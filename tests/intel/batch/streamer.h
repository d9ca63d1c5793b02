// What batches of a generation do, executed by the simulator, with shaders that are functions of
// the test.
#ifndef PACKSMITH_TESTS_INTEL_BATCH_STREAMER_H_
#define PACKSMITH_TESTS_INTEL_BATCH_STREAMER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/chunks.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/work.h"
#include "tests/intel/batch/dwords.h"

namespace packsmith::intel {

template <class Gen>
class Streamer : private sim::Observer {
  using G = typename Gen::Packets;

 public:
  explicit Streamer(absl::string_view engine = "render")
      : tables_(*FindGeneration(Gen::kName)),
        machine_(tables_, memory_, {.engine = tables_.FindEngine(engine), .prefetch = false},
                 *this) {}
  // A copy has the memory, and has executed nothing.
  Streamer(const Streamer& other) : Streamer() { memory_ = other.memory_; }
  Streamer& operator=(const Streamer&) = delete;

  // The GPU's memory, dword by dword.
  void Map(uint64_t gpu, absl::Span<const uint32_t> words) {
    for (size_t i = 0; i < words.size(); ++i) memory_[gpu + 4 * i] = words[i];
  }
  void Map(absl::Span<const gpu::Chunk> chunks) {
    for (const gpu::Chunk& chunk : chunks) Map(chunk.gpu, chunk.words);
  }
  uint32_t Read32(uint64_t gpu) const { return memory_.at(gpu); }
  uint64_t Read64(uint64_t gpu) const { return Read32(gpu) | uint64_t{Read32(gpu + 4)} << 32; }
  uint32_t Register(uint32_t offset) const { return machine_.registers().Read(offset); }
  size_t packets() const { return packets_; }

  // What was drawn.
  struct Draw {
    uint32_t vertices = 0, instances = 0, first = 0, first_instance = 0;
    int32_t base = 0;
    bool indexed = false;
    std::array<uint32_t, 3> extended = {};  // of 3DPRIMITIVE_EXTENDED

    friend bool operator==(const Draw&, const Draw&) = default;
  };
  const std::vector<Draw>& draws() const { return draws_; }
  // The vertex buffers that were set, in order: where each begins.
  const std::vector<uint64_t>& vertex_buffers() const { return vertex_buffers_; }

  // The effect of a dispatch. It may call the next two; stalls make its writes visible to others,
  // and invalidations make the streamer's writes visible to it.
  void OnDispatch(std::function<void(Streamer&)> shader) { shader_ = std::move(shader); }
  uint32_t ShaderRead32(uint64_t gpu) const { return seen_by_shader_.at(gpu); }
  void ShaderWrite(uint64_t gpu, absl::Span<const uint32_t> words) {
    for (size_t i = 0; i < words.size(); ++i) written_by_shader_[gpu + 4 * i] = words[i];
  }
  bool pre_parser() const { return pre_parser_; }

  // Runs to the end of the batch. Returns what went wrong, or an empty string.
  std::string Run(uint64_t gpu, size_t most_packets = 100000) {
    machine_.EnterBatch(0, gpu);
    packets_ = 0;
    while (true) {
      if (outdated_.contains(machine_.address())) {
        return absl::StrFormat("at %#x: read before a shader wrote it", machine_.address());
      }
      const uint64_t at = machine_.address();
      const sim::Stop stop = machine_.Run(1);
      if (!problem_.empty()) return absl::StrFormat("at %#x: %s", at, problem_);
      if (stop == sim::Stop::kEnded) return "";
      if (stop == sim::Stop::kWaiting) return absl::StrFormat("at %#x: waits", at);
      if (++packets_ == most_packets) return "runs on and on";
    }
  }

 private:
  void OnProblem(const sim::Problem& problem) override { problem_ = problem.text; }

  void OnCommand(const sim::Command& command) override {
    std::vector<uint32_t> words(std::max<size_t>(command.bytes.size() / 4, kMost));
    std::memcpy(words.data(), command.bytes.data(), command.bytes.size());
    const uint32_t* const dw = words.data();
    if (Gen::PipeControl::matches(dw[0])) {
      const auto barrier = Gen::PipeControl::unpack(dw);
      if (barrier.command_streamer_stall_enable && barrier.dc_flush_enable) {
        for (const auto& [gpu, word] : written_by_shader_) {
          memory_[gpu] = word;
          if (pre_parser_) outdated_.insert(gpu);
        }
        written_by_shader_.clear();
      }
      if (barrier.constant_cache_invalidation_enable) seen_by_shader_ = memory_;
    } else if (G::MI_ARB_CHECK::matches(dw[0])) {
      const auto check = G::MI_ARB_CHECK::unpack(dw);
      if constexpr (requires { check.pre_parser_disable; }) {
        if (check.pre_parser_disable_mask) pre_parser_ = !check.pre_parser_disable;
      }
    } else if (G::_3DSTATE_VERTEX_BUFFERS::matches(dw[0])) {
      for (const auto& item : G::_3DSTATE_VERTEX_BUFFERS::items(dw, kMost)) {
        vertex_buffers_.push_back(item.buffer_starting_address.gpu);
      }
    }
  }

  void OnWork(const sim::Work& work) override {
    if (work.role == tables::Role::kDispatch) {
      if (shader_) {
        shader_(*this);
      } else {
        problem_ = "a dispatch of nothing";
      }
      return;
    }
    Draw draw;
    for (const sim::Parameter& parameter : sim::ParametersOf(tables_, work)) {
      const auto value = static_cast<uint32_t>(parameter.value);
      switch (parameter.kind) {
        case sim::ParameterKind::kCount:
          draw.vertices = value;
          break;
        case sim::ParameterKind::kInstances:
          draw.instances = value;
          break;
        case sim::ParameterKind::kFirst:
          draw.first = value;
          break;
        case sim::ParameterKind::kFirstInstance:
          draw.first_instance = value;
          break;
        case sim::ParameterKind::kBias:
          draw.base = static_cast<int32_t>(parameter.value);
          break;
        case sim::ParameterKind::kIndexed:
          draw.indexed = value != 0;
          break;
        default:
          break;
      }
    }
    if constexpr (requires { typename G::_3DPRIMITIVE_EXTENDED; }) {
      std::vector<uint32_t> words(work.command.bytes.size() / 4);
      std::memcpy(words.data(), work.command.bytes.data(), work.command.bytes.size());
      if (G::_3DPRIMITIVE_EXTENDED::matches(words[0])) {
        const auto p = G::_3DPRIMITIVE_EXTENDED::unpack(words.data());
        draw.extended = {p.extended_parameter_0, p.extended_parameter_1, p.extended_parameter_2};
      }
    }
    draws_.push_back(draw);
  }

  static constexpr size_t kMost = 300;  // dwords of a packet

  const tables::Tables tables_;
  Dwords memory_;
  sim::Streamer machine_;
  size_t packets_ = 0;
  std::string problem_;
  std::vector<Draw> draws_;
  std::vector<uint64_t> vertex_buffers_;
  std::function<void(Streamer&)> shader_;
  absl::flat_hash_map<uint64_t, uint32_t> written_by_shader_;
  Dwords seen_by_shader_;
  // Where a shader wrote while the pre-parser might have read.
  absl::flat_hash_set<uint64_t> outdated_;
  bool pre_parser_ = requires(typename G::MI_ARB_CHECK check) { check.pre_parser_disable; };
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BATCH_STREAMER_H_
