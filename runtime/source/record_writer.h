// One packet or structure as a statement that packs it.
#ifndef PACKSMITH_RUNTIME_SOURCE_RECORD_WRITER_H_
#define PACKSMITH_RUNTIME_SOURCE_RECORD_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/source/designators.h"
#include "runtime/source/spelling.h"
#include "runtime/source/symbols.h"
#include "runtime/tables/tables.h"

namespace packsmith::source {

// A packet or structure in memory.
struct PlacedRecord {
  uint32_t space = 0;
  const tables::Container* container = nullptr;
  absl::Span<const uint8_t> bytes;
  absl::Span<const Target> targets;  // of its fields
};

class RecordWriter {
 public:
  // What is given must outlive the writer.
  RecordWriter(const tables::Tables& tables, const Spelling& spelling, const Symbols& symbols,
               Language language)
      : tables_(tables), spelling_(spelling), symbols_(symbols), language_(language) {}

  // Statements that append exactly the record's bytes to the buffer `b`, indented by two columns.
  // Bits that no member holds are set by a statement of their own. Nothing if the headers do not
  // have the type, or the language cannot express the record.
  std::optional<std::string> Write(const PlacedRecord& record);

 private:
  // A run of bits that one structure of the program has.
  struct Piece {
    std::string type;
    const Type* described = nullptr;  // null: an item with a type of its own
    const std::vector<Member>* members = nullptr;
    uint64_t bit = 0, bits = 0;
    uint64_t packed_bits = 0;  // C: what the members before are packed to
    const tables::Container* container = nullptr;
  };

  std::optional<std::string> InCpp(const PlacedRecord& record, const Type& type);
  std::optional<std::string> InC(const PlacedRecord& record, const Type& type);
  std::optional<uint64_t> PackedBytes(const PlacedRecord& record, const Type& type,
                                      uint64_t items) const;
  uint64_t ItemsOf(const PlacedRecord& record) const;
  void WriteFixed(tables::Range leaves, uint64_t base, bool with_opcodes);
  void WriteLength(const PlacedRecord& record, uint64_t packed_bytes);
  // Dwords of [begin, end) bytes that differ from what is packed: pairs of number and bits.
  struct Patch {
    uint64_t dword;
    uint32_t mask, value;
  };
  std::vector<Patch> Patches(absl::Span<const uint8_t> bytes, uint64_t begin, uint64_t end) const;

  const tables::Tables& tables_;
  const Spelling& spelling_;
  const Symbols& symbols_;
  const Language language_;
  std::vector<uint8_t> packed_;  // what the statement would pack without patches
};

}  // namespace packsmith::source

#endif  // PACKSMITH_RUNTIME_SOURCE_RECORD_WRITER_H_
