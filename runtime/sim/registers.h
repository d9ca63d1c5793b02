// The registers of an engine as its command streamer sees them.
#ifndef PACKSMITH_RUNTIME_SIM_REGISTERS_H_
#define PACKSMITH_RUNTIME_SIM_REGISTERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// `offset`, which the description gives for the first engine, of another engine.
uint32_t EngineOffset(const tables::Tables& tables, uint32_t engine, uint32_t offset);

// All registers of an engine, in bytes.
inline constexpr uint32_t kEngineRegisterBytes = 0x1000;

// Offsets are in bytes, multiples of 4. A register that was never written reads as 0. Not
// thread-safe.
class Registers {
 public:
  // The tables must outlive this.
  explicit Registers(const tables::Tables& tables);

  uint32_t Read(uint32_t offset) const;
  // Masked registers take those of the lower 16 bits that the upper 16 select, and read as 0 in the
  // upper 16.
  void Write(uint32_t offset, uint32_t value);

  // Both halves at the same time.
  uint64_t Read64(uint32_t offset) const;
  void Write64(uint32_t offset, uint64_t value) {
    Write(offset, static_cast<uint32_t>(value));
    Write(offset + 4, static_cast<uint32_t>(value >> 32));
  }

  // Empty if nothing has written it.
  std::optional<uint32_t> Written(uint32_t offset) const;
  const absl::flat_hash_map<uint32_t, uint32_t>& written() const { return values_; }

  // Whether a batch without privilege cannot write it: the description says so, and no register
  // (FORCE_TO_NONPRIV) allows it.
  bool IsPrivileged(uint32_t offset) const;
  // Takes the values that another context had, written(). Registers of the engine stay: those that
  // are privileged.
  void Restore(const absl::flat_hash_map<uint32_t, uint32_t>& values);

  // Whether a register's field that means this is not zero; false if no register has one.
  bool Says(tables::Meaning meaning) const;

  // What registers that tell the time read: the result of the function, if one is set.
  void SetClock(uint64_t ticks) { clock_ = ticks; }
  void SetClock(std::function<uint64_t()> ticks) { live_clock_ = std::move(ticks); }
  uint64_t clock() const { return live_clock_ ? live_clock_() : clock_; }

 private:
  uint32_t ReadAt(uint32_t offset, const uint64_t* ticks) const;
  void AddAllowance(const tables::Tables& tables, const tables::Container& of);

  absl::flat_hash_map<uint32_t, uint32_t> values_;
  absl::flat_hash_set<uint32_t> masked_, privileged_;
  absl::flat_hash_map<uint32_t, uint32_t> clocks_;  // offset of a dword, its first bit
  // Fields that choose tilings.
  struct Choice {
    tables::Meaning meaning;
    uint32_t offset, mask;
  };
  std::vector<Choice> choices_;
  // A register that lets batches without privilege write others.
  struct Allowance {
    uint32_t offset = 0;
    uint32_t address_mask = 0, address_shift = 0, scale = 0;
    uint32_t range_mask = 0, range_shift = 0;
    uint32_t denied = 0;
  };
  std::vector<Allowance> allowances_;
  uint64_t clock_ = 0;
  std::function<uint64_t()> live_clock_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_REGISTERS_H_
