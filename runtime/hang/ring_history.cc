#include "runtime/hang/ring_history.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"

namespace packsmith::hang {
namespace {

// A walk over a piece of the ring that follows no jump or call.
class PastSink : public decode::Sink {
 public:
  PastSink(const Dump& dump, uint32_t space) : dump_(dump), space_(space) {}

  // Whether all of it is packets, and the last one ends where the piece does.
  bool known() const { return known_ && packets_ != 0; }
  bool whole() const { return known() && !cut_; }
  uint64_t packets() const { return packets_; }
  // Address of the last packet that starts a batch, if the dump has that batch's memory.
  std::optional<uint64_t> start() const { return start_; }

  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record&) override {}
  void OnRemark(absl::string_view, bool is_problem) override { cut_ = cut_ || is_problem; }
  void OnSummary(const decode::Summary&) override {}
  void OnPackets(absl::Span<const decode::Brief> packets) override {
    for (const decode::Brief& packet : packets) OnPacket(packet);
  }

 private:
  void OnPacket(const decode::Brief& packet) {
    if (packet.container == tables::kNone) {
      known_ = false;
      return;
    }
    ++packets_;
    const tables::Container& container = tables_->container(packet.container);
    if (container.flows.count == 0) return;
    const decode::Scope scope(*tables_, container, {packet.data, packet.bytes});
    for (const tables::Flow& flow : tables_->flows(container.flows)) {
      if (flow.target == tables::kNone || !scope.Holds(flow.when)) continue;
      const std::optional<uint64_t> target = scope.Number(flow.target);
      if (!target) continue;
      const bool mapped = dump_.memory.Find(space_, *target) != nullptr ||
                          dump_.memory.Find(kGlobalSpace, *target) != nullptr;
      start_ = mapped ? std::optional<uint64_t>(packet.address) : std::nullopt;
    }
  }

  const Dump& dump_;
  const uint32_t space_;
  const tables::Tables* tables_ = nullptr;
  bool known_ = true, cut_ = false;
  uint64_t packets_ = 0;
  std::optional<uint64_t> start_;
};

}  // namespace

RingPast FindRingPast(const tables::Tables& tables, const Dump& dump, const ErrorEngine& engine,
                      uint64_t address, uint64_t size, const Stop& stop) {
  RingPast past;
  if (!stop.ring_head || !stop.ring_tail) return past;
  const uint64_t head = stop.ring_head->value;
  const uint64_t tail = stop.ring_tail->value;
  past.begin = head;
  if (head >= size || tail >= size) return past;
  const auto to = [size](uint64_t from, uint64_t at) { return (at + size - from) % size; };
  // Before the head, and not between it and the tail.
  const auto is_before = [&](uint64_t at) {
    return at < size && at != head && (at == tail || to(at, head) < to(at, tail));
  };
  std::vector<uint64_t> begins;
  if (stop.request_head && *stop.request_head < size &&
      to(*stop.request_head, head) <= to(*stop.request_head, tail)) {
    past.begin = *stop.request_head;
    if (is_before(*stop.request_head)) begins.push_back(*stop.request_head);
  }
  std::vector<uint64_t> done;
  for (const ErrorRequest& request : engine.requests) {
    if (request.tail && is_before(*request.tail)) done.push_back(*request.tail);
  }
  std::sort(done.begin(), done.end(),
            [&](uint64_t a, uint64_t b) { return to(a, head) < to(b, head); });
  begins.insert(begins.end(), done.begin(), done.end());
  if (engine.ring_kept && is_before(*engine.ring_kept)) begins.push_back(*engine.ring_kept);

  int walks = 0;
  for (const uint64_t begin : begins) {
    if (++walks > kMostWalks) break;
    Submission piece;
    piece.engine = engine.name;
    piece.space = kGlobalSpace;
    piece.own_space = engine.space;
    piece.batch_address = address + begin;
    piece.batch_length = to(begin, head);
    piece.ring = Submission::Ring{address, size};
    PastSink sink(dump, engine.space);
    decode::Options options;
    options.follow = decode::Follow::kNone;
    options.brief = true;
    decode::Decoder decoder(tables, sink, options);
    decoder.Decode(dump, {piece});
    decoder.Finish();
    // An engine may be anywhere in the packet that it executes.
    if (!sink.whole() && !(sink.known() && stop.request_head == begin)) {
      if (!past.astray) past.astray = begin;
      continue;
    }
    past.from = begin;
    past.packets = sink.packets();
    if (sink.start()) {
      past.begin = *sink.start() - address;
      // All packets of the request at fault count.
      if (stop.request_head == begin) past.begin = begin;
      break;
    }
  }
  if (past.from) past.astray.reset();
  return past;
}

}  // namespace packsmith::hang
