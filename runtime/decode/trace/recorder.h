// Makes a trace of a packet while it is shown.
#ifndef PACKSMITH_RUNTIME_DECODE_TRACE_RECORDER_H_
#define PACKSMITH_RUNTIME_DECODE_TRACE_RECORDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/decode/trace/trace.h"
#include "runtime/decode/walk/observer.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// Shows a packet of the shape by show(), and makes a trace of it if the shape is due for one. Each
// attempt that fails doubles the number of packets before the next one.
void ShowAndRecord(Walk& walk, Shape& shape, absl::FunctionRef<void()> show);

// Observes from its construction on, until it is destroyed or the trace becomes impossible: what a
// record points to must follow from its bits and from the state that was read.
class TraceRecorder : public Observer {
 public:
  // `walk` must outlive this; nobody else may be observing it.
  explicit TraceRecorder(Walk& walk);
  ~TraceRecorder() override;
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  void OnPointer(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                 const Target& target, uint64_t parent) override;
  void OnRecord(const Record& record, const Shape* shape) override;
  void OnUncertain() override { Abort(); }
  // The trace of all that was observed, without its number; null: there can be none.
  std::unique_ptr<Trace> Finish();

 private:
  // What the trace adds to the decoder's counts.
  struct Before {
    uint64_t packets_cost, structs_cost;
    uint64_t packets, structs, data, problems;
    size_t programs;
  };
  // A pointer of a guard that was followed.
  struct Followed {
    uint32_t pointer;  // of the guard's shape
    const tables::Pointer* to;
    std::vector<Guard::StateRead> reads;
    uint64_t address;
    uint32_t last = Guard::kBehind;  // last guard found by it; kBehind: none
  };

  Before Count() const;
  void Abort();
  // The following return false if there can be no trace.
  bool AddPointer(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                  const Target& target, uint64_t parent);
  bool AddRecord(const Record& record, const Shape* shape);
  // How the record was found.
  bool AddPlace(const Record& record, Guard& guard);
  bool AddDescribed(const Record& record, const Shape& shape, Guard& guard);
  // Whether the state that the record sets follows from its bits, which then identify the trace.
  bool AddSets(const Record& record, const Shape& shape, Guard& guard);
  // The trace must not set bases that its own pointers use: all pointers of a record are checked
  // before the first of them is followed.
  bool CountsFromOutside(const tables::Pointer& pointer) const;
  // Whether the expression does not depend on states; the bits that it uses then identify the
  // trace.
  bool MustBe(uint32_t expression, const Scope& scope, Guard& guard);
  // All pointers of a guard point to records of the trace, or nowhere.
  bool CheckPointers(size_t guard);
  bool CheckFollowed(const ShapePointer& known, const Followed& from, const Scope& scope,
                     Guard& guard);

  Walk& walk_;
  const tables::Tables& tables_;
  std::unique_ptr<Trace> trace_;
  std::vector<std::vector<Followed>> followed_;  // of each guard
  std::vector<bool> sets_;                       // by base: a guard sets it
  const uint64_t first_id_;
  const Before before_;
  bool aborted_ = false;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TRACE_RECORDER_H_
