// The memory of a submission as the simulator reads and writes it: live, where clients have it
// mapped at the same time.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_MAPPED_MEMORY_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_MAPPED_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "runtime/capture/drm/address_map.h"
#include "runtime/capture/drm/object.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::capture {

// Aligned accesses of 4 and 8 bytes are atomic. Not thread-safe otherwise.
class MappedMemory : public sim::MemoryAccess {
 public:
  struct Options {
    // The space of the map's addresses.
    uint32_t space = 0;
    // All spaces are the same.
    bool one_space = false;
    // Reads of what is not mapped are zeros, and writes have no effect.
    bool scratch_page = false;
  };
  // What is read and written from now on.
  void Use(std::shared_ptr<const AddressMap> map, const Options& options);
  // Nothing is mapped any more, and nothing is kept alive.
  void Drop();

  // Stop at what is not mapped, and at what the process that it belongs to has unmapped. Write()
  // stops at mappings that are read-only, too.
  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override;
  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override;

  // Whether TakeOverrun() or TakeScratchWrite() has something.
  bool any_doubt() const { return overrun_.from != nullptr || scratch_write_.has_value(); }
  // Whether something is mapped there, be it without memory.
  bool IsMapped(uint32_t space, uint64_t address) const { return Find(space, address) != nullptr; }

  // The first byte that was written where only the scratch page is, since the last call of Use() or
  // this.
  std::optional<uint64_t> TakeScratchWrite() { return std::exchange(scratch_write_, {}); }

  // The last access that stopped: "which is not mapped; the mapping before it is bo3, 0x1000 bytes
  // at 0x2000". Empty: none has since Use().
  struct Miss {
    bool any = false;
    bool writes = false;
    uint64_t address = 0;  // of the first byte
    std::string why;
  };
  Miss last_miss() const;

  // A write that went from an object's last byte on to the first one of the next object, in one
  // piece or in several that follow each other: what a buffer that is too small looks like.
  struct Overrun {
    std::shared_ptr<Object> from, to;
    uint64_t address = 0;  // of the first byte of `to`
  };
  // The first one since the last call of Use() or this. `from` is null: there was none.
  Overrun TakeOverrun();
  // True once much has been read and written since the last call of Restart(): a command may take
  // as long as many others.
  const bool& much() const { return much_; }
  void Restart() {
    moved_ = 0;
    much_ = false;
  }
  // Writes of a new command do not continue those before.
  void BeginCommand() { written_to_ = 0; }

 private:
  static constexpr uint64_t kMuch = uint64_t{4} << 20;  // bytes

  void Count(uint64_t bytes) const {
    moved_ += bytes;
    if (moved_ >= kMuch) much_ = true;
  }
  // A mapping that was found: the last ones are kept.
  struct Run {
    uint64_t begin = 1, last = 0;  // addresses
    uint8_t* bytes = nullptr;      // null: only through `mapping`
    const Mapping* mapping = nullptr;
  };
  static constexpr size_t kRuns = 4;

  // The run that holds the address; null: it is not mapped.
  const Run* Find(uint32_t space, uint64_t address) const;
  void NoteWrite(const Mapping& mapping, uint64_t address, uint64_t size);

  std::shared_ptr<const AddressMap> map_;
  Options options_;
  mutable std::array<Run, kRuns> runs_;
  mutable size_t next_run_ = 0;
  mutable bool missed_ = false, miss_writes_ = false;
  mutable uint32_t miss_space_ = 0;
  mutable uint64_t miss_address_ = 0;
  mutable uint64_t moved_ = 0;
  mutable bool much_ = false;
  // Where the writes of the command have come to, and in which mapping.
  uint64_t written_to_ = 0;
  const Mapping* written_ = nullptr;
  Overrun overrun_;
  std::optional<uint64_t> scratch_write_;
};

// What messages call an object: its name, or "bo12".
std::string NameOf(const Object& object);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_MAPPED_MEMORY_H_
