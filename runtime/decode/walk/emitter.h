// Hands records to the sink: gives them ids, counts them, and says what was wrong.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_EMITTER_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_EMITTER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"
#include "runtime/decode/walk/observer.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/decode/walk/table_strings.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class Emitter {
 public:
  // All must outlive the emitter.
  Emitter(const tables::Tables& tables, TableStrings& strings, Sink& sink, const Options& options);

  Sink& sink() { return sink_; }
  Summary& summary() { return summary_; }
  uint64_t next_id() const { return next_id_; }
  // The id of a record that is not one of the following.
  uint64_t TakeId() { return next_id_++; }

  // What the next records belong to.
  struct Owner {
    uint32_t submission = 0;
    uint64_t draw = 0, dispatch = 0;  // 0: none
  };
  Owner& owner() { return owner_; }
  // Sees the records as they are emitted; null: nobody does. The one before it.
  Observer* Observe(Observer* observer);
  Observer* observer() const { return observer_; }

  // Gives it its id and its owner.
  void Emit(Record& record);
  // A packet or structure. `shape` may be null. Returns its id.
  struct Described {
    RecordType type;
    uint32_t space;
    uint64_t address;
    uint64_t parent;
    uint32_t depth = 0;
    int64_t index = -1;   // as Record
    bool bound = false;   // as Record
    uint32_t stream = 0;  // as Record
  };
  uint64_t EmitDescribed(const Described& described, const RecordView& view, const Shape* shape,
                         absl::Span<const Stored> stored, absl::Span<const Fault> faults);
  // For one of several records that are emitted together, the `index`-th of them: as Emit() does.
  void Own(Record& record, uint64_t index) const {
    record.id = next_id_ + index;
    Attribute(record);
  }
  // Emits them; the caller counts them.
  void EmitTrace(const RecordTrace& trace) {
    next_id_ += trace.records.size();
    sink_.OnTrace(trace);
  }
  // With Options::brief.
  void EmitBrief(const Brief& brief) {
    briefs_.push_back(brief);
    if (briefs_.size() == kBriefs) FlushBriefs();
  }
  void FlushBriefs();

  void Remark(absl::string_view text) { sink_.OnRemark(text, false); }
  void Problem(absl::string_view text);

 private:
  static constexpr size_t kBriefs = 256;  // handed over at a time

  void Attribute(Record& record) const {
    record.submission = owner_.submission;
    record.draw = owner_.draw;
    record.dispatch = owner_.dispatch;
  }
  void CountFaults(const Record& record);
  void CountUnknown(uint32_t space, uint64_t address, uint64_t bytes);

  const tables::Tables& tables_;
  TableStrings& strings_;
  Sink& sink_;
  const bool brief_;
  Summary summary_;
  uint64_t next_id_;
  Owner owner_;
  Observer* observer_ = nullptr;
  std::vector<Brief> briefs_;
  Record described_;  // members that are the same for all packets and structures are never written
};

// While it lives, records belong to a packet of this role: the next draw or dispatch.
class Working {
 public:
  Working(Emitter& out, const Options& options, tables::Role role)
      : out_(out), before_(out.owner()) {
    if (role == tables::Role::kDraw) {
      out.owner().draw = options.draws_before + ++out.summary().draws;
    }
    if (role == tables::Role::kDispatch) {
      out.owner().dispatch = options.dispatches_before + ++out.summary().dispatches;
    }
  }
  ~Working() { out_.owner() = before_; }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  Emitter& out_;
  const Emitter::Owner before_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_EMITTER_H_
