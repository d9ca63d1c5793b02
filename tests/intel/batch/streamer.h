// A command streamer in software: runs what Arithmetic emits, and draws, as the PRMs describe it.
#ifndef PACKSMITH_TESTS_INTEL_BATCH_STREAMER_H_
#define PACKSMITH_TESTS_INTEL_BATCH_STREAMER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/chunks.h"

namespace packsmith::intel {

template <class Gen>
class Streamer {
 public:
  // The GPU's memory, dword by dword.
  void Map(uint64_t gpu, absl::Span<const uint32_t> words) {
    for (size_t i = 0; i < words.size(); ++i) memory_[gpu + 4 * i] = words[i];
  }
  void Map(absl::Span<const gpu::Chunk> chunks) {
    for (const gpu::Chunk& chunk : chunks) Map(chunk.gpu, chunk.words);
  }
  uint32_t Read32(uint64_t gpu) { return memory_.at(gpu); }
  uint64_t Read64(uint64_t gpu) { return Read32(gpu) | uint64_t{Read32(gpu + 4)} << 32; }
  uint32_t& Register(uint32_t offset) { return registers_[offset]; }
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
  uint32_t ShaderRead32(uint64_t gpu) { return seen_by_shader_.at(gpu); }
  void ShaderWrite(uint64_t gpu, absl::Span<const uint32_t> words) {
    for (size_t i = 0; i < words.size(); ++i) written_by_shader_[gpu + 4 * i] = words[i];
  }
  bool pre_parser() const { return pre_parser_; }

  // Runs to the end of the batch. Returns what went wrong, or an empty string.
  std::string Run(uint64_t gpu, size_t most_packets = 100000) {
    at_ = gpu;
    ended_ = false;
    for (packets_ = 0; !ended_; ++packets_) {
      if (packets_ == most_packets) return "runs on and on";
      std::string wrong = Step();
      if (!wrong.empty()) return absl::StrFormat("at %#x: %s", at_, wrong);
    }
    return "";
  }

 private:
  using Alu = typename Gen::MathInstruction;
  using G = typename Gen::Packets;

  static constexpr size_t kMost = 300;  // dwords of a packet

  // The current packet, at most `dwords` of it.
  std::vector<uint32_t> Fetch(size_t dwords) {
    std::vector<uint32_t> words;
    for (uint64_t at = at_; words.size() < dwords && memory_.count(at) != 0; at += 4) {
      words.push_back(memory_[at]);
    }
    words.resize(dwords);
    return words;
  }
  uint64_t Gpr(unsigned n) {
    const uint32_t offset = Gen::GeneralRegister::register_offset + 8 * n;
    return registers_[offset] | uint64_t{registers_[offset + 4]} << 32;
  }
  void SetGpr(unsigned n, uint64_t v) {
    const uint32_t offset = Gen::GeneralRegister::register_offset + 8 * n;
    registers_[offset] = static_cast<uint32_t>(v);
    registers_[offset + 4] = static_cast<uint32_t>(v >> 32);
  }
  bool Written(uint64_t gpu, uint32_t v) {
    const auto found = memory_.find(gpu);
    if (found == memory_.end()) return false;
    found->second = v;
    return true;
  }

  // Executes, unless a predicate skips it. Returns what is wrong.
  std::string Step() {
    if (memory_.count(at_) == 0) return "no memory";
    if (outdated_.count(at_) != 0) return "read before a shader wrote it";
    const std::vector<uint32_t> dw = Fetch(kMost);
    const uint32_t first = dw[0];
    if (Gen::SetPredicate::matches(first)) {
      const auto p = Gen::SetPredicate::unpack(dw.data());
      if (p.predicate_enable == Gen::SetPredicate::PREDICATE_ENABLE_NOOP_NEVER) {
        passing_over_ = false;
      } else if (p.predicate_enable == Gen::SetPredicate::PREDICATE_ENABLE_NOOP_ON_RESULT_CLEAR) {
        passing_over_ = !predicate_;
      } else {
        return "a predicate mode that nobody uses";
      }
      at_ += 4;
      return "";
    }
    if (Gen::BatchStart::matches(first)) {
      const auto p = Gen::BatchStart::unpack(dw.data());
      if (p.predication_enable && passing_over_) {
        at_ += 4 * Gen::BatchStart::length;
        return "";
      }
      if (p.second_level_batch_buffer != 0 && return_to_ == 0) {
        return_to_ = at_ + 4 * Gen::BatchStart::length;
      }
      at_ = p.batch_buffer_start_address.gpu;
      return "";
    }
    if (passing_over_) return "a packet that is not to be passed over";
    if (Gen::BatchEnd::matches(first)) {
      ended_ = return_to_ == 0;
      at_ = return_to_;
      return_to_ = 0;
    } else if (Gen::Noop::matches(first)) {
      at_ += 4;
    } else if (Gen::StoreData::matches(first)) {
      const auto p = Gen::StoreData::unpack(dw.data());
      if (p.store_qword != 0 && p.address.gpu % 8 != 0) return "a qword that is not aligned";
      bool good = Written(p.address.gpu, static_cast<uint32_t>(p.immediate_data));
      if (p.store_qword != 0) {
        good &= Written(p.address.gpu + 4, static_cast<uint32_t>(p.immediate_data >> 32));
      }
      if (!good) return "stores where no memory is";
      at_ += 4 * p.dwords_needed();
    } else if (Gen::StoreRegister::matches(first)) {
      const auto p = Gen::StoreRegister::unpack(dw.data());
      if ((!p.predicate_enable || predicate_) &&
          !Written(p.memory_address.gpu, registers_[p.register_address])) {
        return "stores where no memory is";
      }
      at_ += 4 * Gen::StoreRegister::length;
    } else if (Gen::LoadRegister::matches(first)) {
      const auto p = Gen::LoadRegister::unpack(dw.data());
      if (memory_.count(p.memory_address.gpu) == 0) return "loads where no memory is";
      registers_[p.register_address] = memory_[p.memory_address.gpu];
      at_ += 4 * Gen::LoadRegister::length;
    } else if (Gen::LoadRegisterConstant::matches(first)) {
      using Load = typename Gen::LoadRegisterConstant;
      const auto p = Load::unpack(dw.data());
      registers_[p.register_offset_] = p.data_dword;
      const auto items = Load::items(dw.data(), kMost);
      for (const auto& item : items) registers_[item.register_offset_] = item.data_dword;
      at_ += 4 * Load::dwords_needed(items.size());
    } else if (Gen::CopyRegister::matches(first)) {
      const auto p = Gen::CopyRegister::unpack(dw.data());
      registers_[p.destination_register_address] = registers_[p.source_register_address];
      at_ += 4 * Gen::CopyRegister::length;
    } else if (Gen::CopyMemory::matches(first)) {
      const auto p = Gen::CopyMemory::unpack(dw.data());
      if (memory_.count(p.source_memory_address.gpu) == 0 ||
          !Written(p.destination_memory_address.gpu, memory_[p.source_memory_address.gpu])) {
        return "copies where no memory is";
      }
      at_ += 4 * Gen::CopyMemory::length;
    } else if (Gen::Predicate::matches(first)) {
      using P = typename Gen::Predicate;
      const auto p = P::unpack(dw.data());
      const auto source = [&](uint32_t offset) {
        return registers_[offset] | uint64_t{registers_[offset + 4]} << 32;
      };
      if (p.compare_operation != P::COMPARE_OPERATION_SRCS_EQUAL ||
          (p.combine_operation != P::COMBINE_OPERATION_SET &&
           p.combine_operation != P::COMBINE_OPERATION_XOR)) {
        return "a predicate that nobody uses";
      }
      bool result = source(Gen::PredicateSource0::register_offset) ==
                    source(Gen::PredicateSource1::register_offset);
      if (p.combine_operation == P::COMBINE_OPERATION_XOR) result ^= predicate_;
      predicate_ = result == (p.load_operation == P::LOAD_OPERATION_LOAD);
      at_ += 4 * P::length;
    } else if (Gen::Math::matches(first)) {
      const auto items = Gen::Math::items(dw.data(), kMost);
      for (const Alu& item : items) {
        const std::string wrong = Calculate(item);
        if (!wrong.empty()) return wrong;
      }
      at_ += 4 * Gen::Math::dwords_needed(items.size());
    } else if (G::_3DPRIMITIVE::matches(first)) {
      DrawBy<typename G::_3DPRIMITIVE>(dw.data());
    } else {
      return StepNewer(first, dw.data());
    }
    return "";
  }
  // Packets that not all generations or batches have.
  std::string StepNewer(uint32_t first, const uint32_t* dw) {
    if (Gen::PipeControl::matches(first)) {
      Barrier(Gen::PipeControl::unpack(dw));
      at_ += 4 * Gen::PipeControl::length;
      return "";
    }
    if (G::MI_ARB_CHECK::matches(first)) {
      const auto p = G::MI_ARB_CHECK::unpack(dw);
      if constexpr (requires { p.pre_parser_disable; }) {
        if (p.pre_parser_disable_mask) pre_parser_ = !p.pre_parser_disable;
      }
      at_ += 4 * G::MI_ARB_CHECK::length;
      return "";
    }
    if (G::_3DSTATE_VERTEX_BUFFERS::matches(first)) {
      const auto items = G::_3DSTATE_VERTEX_BUFFERS::items(dw, kMost);
      for (const auto& item : items) vertex_buffers_.push_back(item.buffer_starting_address.gpu);
      at_ += 4 * G::_3DSTATE_VERTEX_BUFFERS::dwords_needed(items.size());
      return "";
    }
    if constexpr (requires { typename G::GPGPU_WALKER; }) {
      if (G::GPGPU_WALKER::matches(first)) return Dispatch(G::GPGPU_WALKER::length);
    }
    if constexpr (requires { typename G::COMPUTE_WALKER; }) {
      if (G::COMPUTE_WALKER::matches(first)) return Dispatch(G::COMPUTE_WALKER::length);
    }
    if constexpr (requires { typename G::_3DPRIMITIVE_EXTENDED; }) {
      if (G::_3DPRIMITIVE_EXTENDED::matches(first)) {
        DrawBy<typename G::_3DPRIMITIVE_EXTENDED>(dw);
        return "";
      }
    }
    if constexpr (requires { typename G::EXECUTE_INDIRECT_DRAW; }) {
      using Execute = typename G::EXECUTE_INDIRECT_DRAW;
      if (Execute::matches(first)) {
        const Execute p = Execute::unpack(dw);
        uint32_t count = p.max_count;
        if (p.count_buffer_indirect_enable) {
          count = std::min(count, memory_.at(p.count_buffer_address.gpu));
        }
        const bool indexed = p.argument_format == Execute::ARGUMENT_FORMAT_DRAWINDEXED;
        uint64_t at = p.argument_buffer_start_address.gpu;
        for (uint32_t i = 0; i < count; ++i, at += indexed ? 20 : 16) {
          draws_.push_back({memory_.at(at),
                            memory_.at(at + 4),
                            memory_.at(at + 8),
                            memory_.at(at + (indexed ? 16 : 12)),
                            indexed ? static_cast<int32_t>(memory_.at(at + 12)) : 0,
                            indexed,
                            {}});
        }
        at_ += 4 * Execute::length;
        return "";
      }
    }
    return absl::StrFormat("unknown packet %#x", first);
  }
  std::string Dispatch(unsigned dwords) {
    if (!shader_) return "a dispatch of nothing";
    shader_(*this);
    at_ += 4 * dwords;
    return "";
  }
  void Barrier(const typename Gen::PipeControl& p) {
    if (p.command_streamer_stall_enable && p.dc_flush_enable) {
      for (const auto& [gpu, word] : written_by_shader_) {
        memory_[gpu] = word;
        if (pre_parser_) outdated_.insert(gpu);
      }
      written_by_shader_.clear();
    }
    if (p.constant_cache_invalidation_enable) seen_by_shader_ = memory_;
  }
  template <class P>
  void DrawBy(const uint32_t* dw) {
    const P p = P::unpack(dw);
    at_ += 4 * P::length;
    if (p.predicate_enable && !predicate_) return;
    Draw draw{p.vertex_count_per_instance,
              p.instance_count,
              p.start_vertex_location,
              p.start_instance_location,
              p.base_vertex_location,
              p.vertex_access_type == P::VERTEX_ACCESS_TYPE_RANDOM,
              {}};
    if constexpr (requires { p.extended_parameter_0; }) {
      draw.extended = {p.extended_parameter_0, p.extended_parameter_1, p.extended_parameter_2};
      if (p.indirect_parameter_enable) {
        draw.extended = {registers_[G::_3DPRIM_XP0::register_offset],
                         registers_[G::_3DPRIM_XP1::register_offset],
                         registers_[G::_3DPRIM_XP2::register_offset]};
      }
    }
    if (p.indirect_parameter_enable) {
      draw.vertices = registers_[G::_3DPRIM_VERTEX_COUNT::register_offset];
      draw.instances = registers_[G::_3DPRIM_INSTANCE_COUNT::register_offset];
      draw.first = registers_[G::_3DPRIM_START_VERTEX::register_offset];
      draw.first_instance = registers_[G::_3DPRIM_START_INSTANCE::register_offset];
      draw.base = static_cast<int32_t>(registers_[G::_3DPRIM_BASE_VERTEX::register_offset]);
    }
    draws_.push_back(draw);
  }

  std::string Calculate(const Alu& i) {
    uint64_t* const source = i.operand_1 == Alu::OPERAND_1_SRCA   ? &a_
                             : i.operand_1 == Alu::OPERAND_1_SRCB ? &b_
                                                                  : nullptr;
    switch (i.alu_opcode) {
      case Alu::ALU_OPCODE_LOAD:
        if (source == nullptr || i.operand_2 > Alu::OPERAND_2_REG15) return "loads what?";
        *source = Gpr(i.operand_2);
        return "";
      case Alu::ALU_OPCODE_LOAD0:
      case Alu::ALU_OPCODE_LOAD1:
        if (source == nullptr) return "loads to where?";
        *source = i.alu_opcode == Alu::ALU_OPCODE_LOAD1 ? ~uint64_t{0} : 0;
        return "";
      case Alu::ALU_OPCODE_ADD:
        accumulator_ = a_ + b_;
        carry_ = accumulator_ < a_;
        break;
      case Alu::ALU_OPCODE_SUB:
        accumulator_ = a_ - b_;
        carry_ = a_ < b_;
        break;
      case Alu::ALU_OPCODE_AND:
        accumulator_ = a_ & b_;
        break;
      case Alu::ALU_OPCODE_OR:
        accumulator_ = a_ | b_;
        break;
      case Alu::ALU_OPCODE_XOR:
        accumulator_ = a_ ^ b_;
        break;
      case Alu::ALU_OPCODE_STORE:
      case Alu::ALU_OPCODE_STOREINV: {
        uint64_t v = accumulator_;
        if (i.operand_2 == Alu::OPERAND_2_ZF) v = zero_ ? ~uint64_t{0} : 0;
        if (i.operand_2 == Alu::OPERAND_2_CF) v = carry_ ? ~uint64_t{0} : 0;
        if (i.operand_1 > Alu::OPERAND_1_REG15) return "stores to where?";
        SetGpr(i.operand_1, i.alu_opcode == Alu::ALU_OPCODE_STOREINV ? ~v : v);
        return "";
      }
      default:
        return Shift(i);
    }
    zero_ = accumulator_ == 0;
    return "";
  }
  std::string Shift(const Alu& i) {
    if constexpr (requires { Alu::ALU_OPCODE_SHL; }) {
      if (b_ > 32 || (b_ & (b_ - 1)) != 0) return "shifts by no power of two";
      if (i.alu_opcode == Alu::ALU_OPCODE_SHL) {
        accumulator_ = a_ << b_;
      } else if (i.alu_opcode == Alu::ALU_OPCODE_SHR) {
        accumulator_ = a_ >> b_;
      } else if (i.alu_opcode == Alu::ALU_OPCODE_SAR) {
        accumulator_ = static_cast<uint64_t>(static_cast<int64_t>(a_) >> b_);
      } else {
        return "unknown instruction";
      }
      zero_ = accumulator_ == 0;
      return "";
    }
    return "unknown instruction";
  }

  absl::flat_hash_map<uint64_t, uint32_t> memory_;
  absl::flat_hash_map<uint32_t, uint32_t> registers_;
  uint64_t at_ = 0, return_to_ = 0;
  uint64_t a_ = 0, b_ = 0, accumulator_ = 0;
  bool zero_ = false, carry_ = false, predicate_ = false, passing_over_ = false, ended_ = false;
  size_t packets_ = 0;
  std::vector<Draw> draws_;
  std::vector<uint64_t> vertex_buffers_;
  std::function<void(Streamer&)> shader_;
  absl::flat_hash_map<uint64_t, uint32_t> written_by_shader_, seen_by_shader_;
  // Where a shader wrote while the pre-parser might have read.
  absl::flat_hash_set<uint64_t> outdated_;
  bool pre_parser_ = requires(typename G::MI_ARB_CHECK check) { check.pre_parser_disable; };
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BATCH_STREAMER_H_
