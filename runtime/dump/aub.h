// AUB files: recordings for Intel's simulator of what a driver wrote to memory and to registers.
//
//   AubPackets packets(file.bytes, &dump);
//   while (std::optional<AubPacket> packet = packets.Next()) ...
//
// A sequence of packets of little-endian words, of two families that may both be in one file: the
// classic one, for GPUs with a ring of their own, and the memory trace. This file knows the
// packets; what the recorded writes mean, page tables and contexts, is in the GPU's description,
// and runtime/aub makes memory and submissions of it.
//
// No document of the format is public. Sources: Mesa 24.3, src/intel/tools/{aub_read,aub_write}.c
// and intel_aub.h; intel/aubstream, aub_services.h; IGT, lib/intel_aub.h.

#ifndef PACKSMITH_RUNTIME_DUMP_AUB_H_
#define PACKSMITH_RUNTIME_DUMP_AUB_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/raw.h"

namespace packsmith {

// What an address of a write counts in.
enum class AubSpace : uint8_t {
  kGlobal,       // the global address space, through the entries that were written before
  kGlobalEntry,  // bytes from the first entry of the global page table
  kSystem,       // physical, system memory
  kDevice,       // physical, the memory of a discrete GPU
  kProcess,      // the address space of a process
  kOther,
};

struct AubPacket {
  enum class Kind : uint8_t {
    kRegisterWrite,  // of the MMIO space: `address`, and `value`
    kMemoryWrite,    // `space`, `address`, `data`
    kRingWrite,      // classic: `data` are commands that `engine` executes now
    kComment,        // `data` is text
  };
  Kind kind = Kind::kComment;
  uint64_t offset = 0;  // in the file
  AubSpace space = AubSpace::kOther;
  uint64_t address = 0;
  uint32_t value = 0;
  bool is_page_table = false;  // the writer says that the data is a page table
  uint32_t table_level = 0;    // of the page table, the lowest is 1; 0: the writer does not say
  absl::string_view engine = {};
  absl::Span<const uint8_t> data;  // in the file
};

// Iterates over the packets that have an effect. Time is linear in the size of the file.
class AubPackets {
 public:
  // Problems of the file go to `problems`, unless it is null: packets that are not known, once for
  // each kind, and damage, at its offset. Both must outlive this.
  AubPackets(absl::Span<const uint8_t> bytes, Dump* problems) : bytes_(bytes), dump_(problems) {}

  // Empty: the end of the file.
  std::optional<AubPacket> Next();

  // What the packets up to here say of the GPU.
  const Device& device() const { return device_; }

 private:
  struct Header {
    uint64_t size = 0;  // bytes, with data; 0: not a header
    bool classic = false;
    uint32_t operation = 0;
  };

  Header HeaderAt(uint64_t offset) const;
  // The word `index` of the packet; 0 beyond its end.
  uint32_t Word(size_t index) const;
  void Report(uint64_t offset, std::string text);
  // Once for each kind.
  void ReportKind(const Header& header, absl::string_view name);
  bool Begin();
  bool Read(const Header& header, AubPacket& packet);
  bool ReadClassic(const Header& header, AubPacket& packet);
  bool ReadMemoryWrite(AubPacket& packet);
  bool ReadPart(AubPacket& packet);
  void ReadVersion();
  void ReadPciId(absl::string_view text);
  bool CheckWrite(uint32_t flags);
  absl::Span<const uint8_t> Data(uint64_t begin, uint64_t size);

  absl::Span<const uint8_t> bytes_;
  Dump* dump_;
  uint64_t next_ = 0;                 // offset of the next packet
  uint64_t offset_ = 0;               // of the current one
  absl::Span<const uint8_t> packet_;  // its bytes
  // Of a packet with several writes: how many were returned, and where the next one's data begins.
  uint32_t part_ = 0, parts_ = 0;
  uint64_t part_data_ = 0;
  std::optional<AubPacket> second_;  // the upper half of a write of 64 bits
  std::set<std::pair<bool, uint32_t>> reported_;
  Device device_;
};

// Whether the bytes begin with packets of an AUB file.
bool IsAub(absl::Span<const uint8_t> bytes);

// The file of a Dump that is a recording: Dump::recording.
struct AubRecording {
  FileBytes file;
};

// Reads the packets, for the device and for problems; the dump's `recording` is the file. Memory
// and submissions are missing until runtime/aub adds them. The GPU is that of options.generation if
// the file does not say.
absl::StatusOr<Dump> ReadAub(FileBytes file, const RawOptions& options);

// Writes packets.
class AubWriter {
 public:
  // `out` must outlive this.
  explicit AubWriter(FileWriter& out) : out_(&out) {}

  // The packet that a file begins with. `name`: of the GPU.
  absl::Status Version(const Device& device, absl::string_view name);
  absl::Status ClassicHeader(const Device& device, absl::string_view name);
  // At most kMostData bytes.
  absl::Status MemoryWrite(AubSpace space, uint64_t address, absl::Span<const uint8_t> data);
  absl::Status RegisterWrite(uint32_t offset, uint32_t value);
  // Waits until the bits `mask` of a register have the value.
  absl::Status RegisterPoll(uint32_t offset, uint32_t mask, uint32_t value);
  // Classic: data in the global address space, or entries of its page table.
  absl::Status ClassicWrite(AubSpace space, uint64_t address, absl::Span<const uint8_t> data);
  // Classic: commands that the engine executes.
  absl::Status ClassicRing(absl::string_view engine, absl::Span<const uint8_t> commands);

  static constexpr size_t kMostData = 32768;

 private:
  absl::Status Append(const std::vector<uint32_t>& words, absl::Span<const uint8_t> data = {});

  FileWriter* out_;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_AUB_H_
