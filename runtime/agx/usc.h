// Builds USC programs: a shader's bindings, and the address of its code. Records follow each other
// without padding, also those of six and of two bytes.
//
//   UscProgram<G13> program(memory, base, uses);
//   program.Uniforms(0, constants, 300);              // as many records as needed
//   program.Emit(USC_Texture{.count = 2, .buffer = textures});
//   program.Emit(USC_Shared{.layout_ = Shared_layout::Vertex_compute});
//   program.Shader({.loads_varyings = true}, code);
//   program.Emit(USC_Registers{.register_count = 32});
//   absl::StatusOr<address> pipeline = program.End();  // or End(preshader)
//   launch.launch_word_1.pipeline = *pipeline;
//
// A call that fails returns false and leaves the program unchanged; End() returns the first error.

#ifndef PACKSMITH_RUNTIME_AGX_USC_H_
#define PACKSMITH_RUNTIME_AGX_USC_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "packsmith/pack.h"
#include "runtime/agx/gpu_memory.h"
#include "runtime/command/buffer_uses.h"

namespace packsmith::agx {

template <class Gen>
class UscProgram {
 public:
  // The most uniform registers of one record, those that each of the two kinds of record reaches,
  // and all of them: in halves of 16 bits.
  static constexpr uint32_t kMostHalves = typename Gen::USC_Uniform{}.size_halfs;
  static constexpr uint32_t kBankHalves = 256, kHalves = 2 * kBankHalves;

  // Writes to `to`, whose address must be a multiple of 64. `base`: programs and code are relative
  // to it.
  UscProgram(const GpuMemory& to, ProgramBase base, gpu::BufferUses& uses)
      : to_(to), base_(base), uses_(uses) {}
  UscProgram(const UscProgram&) = delete;
  UscProgram& operator=(const UscProgram&) = delete;

  // Bytes of the records for these uniforms.
  static constexpr uint32_t UniformBytes(uint32_t first, uint32_t halves) {
    uint32_t bytes = 0;
    while (halves != 0) {
      const uint32_t piece = Piece(first, halves);
      bytes += Gen::USC_Uniform::size;
      first += piece;
      halves -= piece;
    }
    return bytes;
  }
  // The most bytes that the end of a program takes.
  static constexpr uint32_t kEndBytes = Gen::USC_Preshader::size > Gen::USC_No_Preshader::size
                                            ? Gen::USC_Preshader::size
                                            : Gen::USC_No_Preshader::size;

  // Loads `halves` of 16 bits from memory into the uniform registers from `first`.
  bool Uniforms(uint32_t first, const address& data, uint32_t halves) {
    if (first > kHalves || halves > kHalves - first) {
      return Refuse(absl::OutOfRangeError(
          absl::StrFormat("%d uniforms from register %d do not fit: the last register is %d",
                          halves, first, kHalves - 1)));
    }
    if (!HasRoom(UniformBytes(first, halves))) return false;
    // All pieces are checked before the first one is written.
    error wrong;
    EachPiece(first, data, halves, [&](const auto& record) {
      if (!wrong) wrong = record.check();
    });
    if (wrong) {
      return Refuse(PackStatus(
          wrong, absl::StrFormat("%d uniforms from register %d, at %#x", halves, first, data.gpu)));
    }
    EachPiece(first, data, halves, [&](const auto& record) { Put(record); });
    return true;
  }

  // Any record that does not end the program. Code is bound by Shader().
  template <class Record>
  bool Emit(const Record& record) {
    static_assert(std::is_same_v<Record, typename Gen::USC_Uniform> ||
                      std::is_same_v<Record, typename Gen::USC_Uniform_High> ||
                      std::is_same_v<Record, typename Gen::USC_Texture> ||
                      std::is_same_v<Record, typename Gen::USC_Sampler> ||
                      std::is_same_v<Record, typename Gen::USC_Shared> ||
                      std::is_same_v<Record, typename Gen::USC_Registers> ||
                      std::is_same_v<Record, typename Gen::USC_Fragment_Properties>,
                  "not a record of a USC program, or one that another function writes");
    return Put(record);
  }

  // The shader's code; the record's own address is ignored.
  bool Shader(typename Gen::USC_Shader record, const address& code) {
    if (has_shader_) return Refuse(absl::FailedPreconditionError("a program can have one shader"));
    const absl::StatusOr<address> offset = base_.Offset(code);
    if (!offset.ok()) return Refuse(offset.status());
    record.code = *offset;
    has_shader_ = Put(record);
    return has_shader_;
  }

  // Ends the program. Returns its address for records that bind it.
  absl::StatusOr<address> End() { return Finish(typename Gen::USC_No_Preshader{}); }
  // … with code that runs once before the shader.
  absl::StatusOr<address> End(const address& preshader) {
    const absl::StatusOr<address> offset = base_.Offset(preshader);
    if (!offset.ok()) {
      Refuse(offset.status());
      return status_;
    }
    return Finish(typename Gen::USC_Preshader{.code = *offset});
  }

  const absl::Status& status() const { return status_; }
  size_t size() const { return size_; }  // bytes, with the end

 private:
  static constexpr uint32_t Piece(uint32_t first, uint32_t halves) {
    const uint32_t bank = first < kBankHalves ? kBankHalves - first : halves;
    return std::min({halves, kMostHalves, bank});
  }

  template <class F>
  static void EachPiece(uint32_t first, address data, uint32_t halves, const F& f) {
    while (halves != 0) {
      const uint32_t piece = Piece(first, halves);
      if (first < kBankHalves) {
        f(typename Gen::USC_Uniform{.start_halfs = first, .size_halfs = piece, .buffer = data});
      } else {
        f(typename Gen::USC_Uniform_High{
            .start_halfs = first - kBankHalves, .size_halfs = piece, .buffer = data});
      }
      first += piece;
      halves -= piece;
      data.gpu += uint64_t{piece} * 2;
    }
  }

  bool Refuse(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  // Room for the end is always kept.
  bool HasRoom(size_t bytes) {
    if (ended_) return Refuse(absl::FailedPreconditionError("the program has ended"));
    if (size_ + bytes + kEndBytes <= to_.bytes.size()) return true;
    return Refuse(absl::ResourceExhaustedError(
        absl::StrFormat("a USC program of %d bytes needs %d more and %d for its end, but has %d",
                        size_, bytes, kEndBytes, to_.bytes.size())));
  }

  template <class Record>
  bool Put(const Record& record) {
    return HasRoom(Record::size) && Write(record);
  }
  template <class Record>
  bool Write(const Record& record) {
    if (const error e = record.pack(to_.bytes.data() + size_)) {
      return Refuse(PackStatus(
          e, absl::StrFormat("USC record of %d bytes, %d bytes after the start of its program",
                             Record::size, size_)));
    }
    size_ += Record::size;
    NoteUses(uses_, record);
    return true;
  }

  template <class Record>
  absl::StatusOr<address> Finish(const Record& record) {
    if (!status_.ok()) return status_;
    const absl::StatusOr<address> offset = base_.Offset(to_.gpu);
    if (!offset.ok()) {
      Refuse(offset.status());
      return status_;
    }
    if (const error e = typename Gen::CDM_Launch_Word_1{.pipeline = *offset}.check()) {
      Refuse(PackStatus(e, absl::StrFormat("USC program at %#x", to_.gpu.gpu)));
      return status_;
    }
    if (!HasRoom(0) || !Write(record)) return status_;
    ended_ = true;
    return *offset;
  }

  const GpuMemory to_;
  const ProgramBase base_;
  gpu::BufferUses& uses_;
  absl::Status status_;
  size_t size_ = 0;
  bool has_shader_ = false;
  bool ended_ = false;
};

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_USC_H_
