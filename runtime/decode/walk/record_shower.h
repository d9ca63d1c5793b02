// Shows packets and structures: the one way from bytes to a record and to all that it points to.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_RECORD_SHOWER_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_RECORD_SHOWER_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// A packet or structure in memory.
struct Shown {
  RecordType type = RecordType::kPacket;
  uint32_t container = 0;
  absl::Span<const uint8_t> bytes;  // as the dump has them
  absl::Span<const uint8_t> now;    // after stores by earlier packets; the same, if there are none
  // Bytes that it should have; `bytes` are fewer where the memory ends.
  uint64_t length = 0;
  // Its length if that is stated elsewhere; else ShapeCache::kOwnLength.
  uint64_t stated_length = ShapeCache::kOwnLength;
  bool learns = false;  // its shape may be kept
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t parent = 0;
  uint32_t depth = 0;     // packets: of calls
  int64_t index = -1;     // as Record
  uint32_t pointers = 0;  // structures on the way from the packet to what it points to
  // A packet that has been shown, and is once more, below a draw: it changes nothing but bases.
  bool again = false;
  uint32_t submission = 0;  // if `again`: its own
};

class RecordShower {
 public:
  // `walk` must outlive this.
  explicit RecordShower(Walk& walk);

  // Shows a record and all that it points to. `shape`: the record's, in which the results of the
  // tables are; null: they are computed now, and kept if this may pay.
  void Show(Shape* shape, const Shown& shown);
  // Registers that the dump itself has.
  void ShowRegisters(absl::string_view engine, absl::Span<const ErrorRegister> registers);

  // Later packets may ask for fields of this one, or of its parts.
  void Remember(uint32_t container, const RecordView& record);
  // If the field sets a base. `holds`: its condition does.
  void SetBase(const FieldAt& at, absl::Span<const uint8_t> bytes, bool holds);
  // Sets all bases that the record sets.
  void SetBases(const RecordView& record);

 private:
  // Show() for a record whose parts are known. `dumped`: as the dump has it, `view`: after the
  // stores by earlier packets in `stored`; the same, if there are none.
  void ShowView(Shape* shape, const Shown& shown, const RecordView& dumped, const RecordView& view,
                absl::Span<const Stored> stored);
  // Makes the shape of a record that has none, if that is possible.
  void Learn(const Shown& shown, const RecordView& record);
  // Applies what the record sets, and shows the registers that it writes.
  void SetAndWrite(const RecordView& record, const Shape* shape, uint32_t space, uint64_t address,
                   uint64_t id);
  void Store(const RecordView& record, const FieldAt& at, uint64_t id);
  void WriteRegister(const RecordView& record, const FieldAt& at, const Scope& scope,
                     uint32_t space, uint64_t address, uint64_t parent);
  void RememberRegister(uint32_t index, absl::Span<const uint8_t> written);

  Walk& walk_;
  const tables::Tables& tables_;
  ChosenLeaves acting_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_RECORD_SHOWER_H_
