// Follows the pointers of records: to structures, streams, programs and data.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_FOLLOWER_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_FOLLOWER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/walk/observer.h"
#include "runtime/decode/walk/pointers.h"
#include "runtime/decode/walk/programs.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// What a record points to, valid while the state does not change.
struct Targets {
  // A field that points to existing memory.
  struct Found {
    const FieldAt* at;
    const tables::Pointer* pointer;
    Target target;
    size_t number;                 // of the field among the record's pointers, from 0
    std::optional<uint64_t> size;  // of data, if it was computed
  };

  absl::InlinedVector<Found, 4> all;
  absl::InlinedVector<FieldAt, 4> fields;  // theirs, if the record has no shape
  uint64_t changes = 0;                    // of the state when they were found
};

class Follower {
 public:
  // `walk` must outlive this.
  explicit Follower(Walk& walk);

  Programs& programs() { return programs_; }
  // Finds the targets of a record that is at Walk::record; adds faults for those without memory.
  // `shape`: the record's, or null.
  void Check(const RecordView& record, const Shape* shape, Targets& targets);
  // Shows them, below the record `parent`. `depth`: structures between the packet and the record.
  void Follow(const RecordView& record, const Targets& targets, uint64_t parent, uint32_t depth);

  // Structures one after the other.
  struct Table {
    uint32_t target;
    uint32_t other;  // what each may be instead, or kNone
    uint64_t count;
    std::optional<uint64_t> size;  // of each, if it is stated elsewhere
    bool is_table;                 // even if it has only one element
    bool until_zero;
  };
  // False: it ends before its last one.
  bool ShowTable(const Table& table, uint32_t space, uint64_t address, uint64_t parent,
                 uint32_t depth);

 private:
  // Whether the options ask for what the pointer points to.
  bool Follows(const tables::Pointer& pointer) const {
    return walk_.FollowsAll() || pointer.target_kind == tables::TargetKind::kStream;
  }
  // Adds a target, or a fault, or nothing. `somewhere`: PointsNowhere() is known to be false.
  void CheckOne(const FieldAt& at, const tables::Pointer& pointer, const Target& target,
                bool somewhere, const Scope& scope, size_t number, Targets& targets);
  void ReportLead(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                  const Target& target);
  void FollowOne(const RecordView& record, const FieldAt& at, const tables::Pointer& pointer,
                 const Scope& scope, const Target& target, std::optional<uint64_t> size,
                 uint64_t parent, uint32_t depth);
  void FollowStructs(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                     uint64_t parent, uint32_t depth);
  void FollowStream(uint32_t stream, const Target& target, uint64_t parent);
  void FollowData(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                  uint64_t size, uint64_t parent);
  void FollowCode(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                  uint64_t parent);
  // The container that fits the bytes better, of a table's two.
  uint32_t BetterFit(const Table& table, absl::Span<const uint8_t> bytes);
  // The evidence against a structure being in `bytes`: bits that are not described, values without
  // a name, pointers to missing memory, faults.
  int Misfits(uint32_t container, absl::Span<const uint8_t> bytes);

  Walk& walk_;
  const tables::Tables& tables_;
  Programs programs_;
  std::vector<uint8_t> data_;  // that is not in one piece
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_FOLLOWER_H_
