#include "runtime/reduce/packets.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"

namespace packsmith::reduce {
namespace {

using tables::Container;
using tables::FlowKind;
using tables::kNone;

// Whether the packet, with these bits, does nothing at all.
bool DoesNothing(const tables::Tables& tables, const Container& container,
                 absl::Span<const uint8_t> bytes) {
  const decode::Scope scope(tables, container, bytes);
  for (const tables::Flow& flow : tables.flows(container.flows)) {
    if (scope.Holds(flow.when)) return false;
  }
  // Without operations it is state.
  if (tables.operations(container).empty() || container.role != tables::Role::kOther) return false;
  for (const tables::Operation& operation : tables.operations(container)) {
    if (operation.kind != tables::OperationKind::kNothing && scope.Holds(operation.when)) {
      return false;
    }
  }
  return true;
}

// Whether a batch may end there.
bool Ends(const tables::Tables& tables, const Container& container,
          absl::Span<const uint8_t> bytes) {
  const decode::Scope scope(tables, container, bytes);
  for (const tables::Flow& flow : tables.flows(container.flows)) {
    if (!scope.Holds(flow.when)) continue;
    return flow.kind != FlowKind::kJump && flow.kind != FlowKind::kCall;
  }
  return false;
}

class PacketSink : public decode::Sink {
 public:
  // Containers of packets that zeros are.
  explicit PacketSink(std::set<uint32_t> noops) : noops_(std::move(noops)) {}

  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record& record) override {
    if (record.type != decode::RecordType::kPacket || record.bound || record.bytes.empty()) return;
    const Container& container = *record.container;
    if (Ends(*tables_, container, record.bytes)) return;
    if (noops_.count(tables_->IndexOf(container)) != 0 &&
        DoesNothing(*tables_, container, record.bytes)) {
      return;
    }
    if (!seen_.emplace(record.space, record.address).second) return;
    packets_.push_back({record.space, record.address, static_cast<uint32_t>(record.bytes.size()),
                        std::string(record.name)});
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}

  std::vector<Packet> Take() { return std::move(packets_); }

 private:
  const std::set<uint32_t> noops_;
  const tables::Tables* tables_ = nullptr;
  std::set<std::pair<uint32_t, uint64_t>> seen_;
  std::vector<Packet> packets_;
};

// The packets that zeros are in the streams that submissions use, if they have no effect.
absl::StatusOr<std::set<uint32_t>> FindNoops(const tables::Tables& tables, const Dump& dump) {
  std::set<uint32_t> noops;
  static constexpr std::array<uint8_t, 4> kZeros = {};
  for (const Submission& submission : dump.submissions) {
    const uint32_t engine = tables.FindEngine(submission.engine);
    const uint64_t engines = engine == kNone ? ~uint64_t{0} : uint64_t{1} << engine;
    uint32_t stream = submission.stream.empty() ? kNone : tables.FindStream(submission.stream);
    // A structure instead of a stream has no packets.
    if (!submission.stream.empty() && stream == kNone) continue;
    const absl::Span<const tables::Stream> streams = tables.streams();
    for (uint32_t i = 0; stream == kNone && i < streams.size(); ++i) {
      if ((streams[i].engines & engines) != 0) stream = i;
    }
    if (stream == kNone) continue;
    const uint32_t found = tables.FindPacket(stream, engines, 0, kZeros.size());
    if (found != kNone && tables.container(found).bytes == kZeros.size() &&
        DoesNothing(tables, tables.container(found), kZeros)) {
      noops.insert(found);
      continue;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "the stream \"", tables.string(tables.stream(stream).name), "\" of ", tables.generation(),
        " has no packet without effect that is zero, so that no packet can be left out without "
        "moving others; reduce a capture of another stream"));
  }
  return noops;
}

}  // namespace

absl::StatusOr<std::vector<Packet>> FindPackets(const tables::Tables& tables, const Dump& dump) {
  absl::StatusOr<std::set<uint32_t>> noops = FindNoops(tables, dump);
  if (!noops.ok()) return noops.status();
  PacketSink sink(*std::move(noops));
  decode::Options options;
  options.follow = decode::Follow::kBatches;
  decode::Decoder decoder(tables, sink, options);
  decoder.Decode(dump);
  decoder.Finish();
  return sink.Take();
}

Dump WithoutOthers(const Dump& dump, const std::vector<Packet>& packets,
                   const std::vector<size_t>& kept) {
  Dump made;
  made.device = dump.device;
  made.submissions = dump.submissions;
  made.buffers = dump.buffers;
  made.memory_is_complete = dump.memory_is_complete;
  made.physical_space = dump.physical_space;
  made.vm_flags = dump.vm_flags;
  made.SortBuffers();

  // Copies of the segments that change, by where they begin.
  auto copies = std::make_shared<std::map<std::pair<uint32_t, uint64_t>, std::vector<uint8_t>>>();
  size_t next = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    if (next < kept.size() && kept[next] == i) {
      ++next;
      continue;
    }
    // A packet may lie in several segments.
    const Packet& packet = packets[i];
    for (uint64_t done = 0; done < packet.bytes;) {
      const uint64_t at = packet.address + done;
      const Memory::Segment* found = dump.memory.Find(packet.space, at);
      if (found == nullptr) break;
      const Memory::Segment& segment = dump.memory.Resolve(*found);
      const uint64_t left = std::min<uint64_t>(packet.bytes - done, segment.last() - at + 1);
      std::vector<uint8_t>& copy = (*copies)[{segment.space, segment.address}];
      if (copy.empty()) copy.assign(segment.bytes.begin(), segment.bytes.end());
      const uint64_t from = at - segment.address;
      if (from < copy.size()) {
        const uint64_t end = std::min<uint64_t>(copy.size(), from + left);
        std::fill(copy.begin() + static_cast<ptrdiff_t>(from),
                  copy.begin() + static_cast<ptrdiff_t>(end), uint8_t{0});
      }
      done += left;
    }
  }
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    const auto copy = copies->find({segment.space, segment.address});
    const absl::Span<const uint8_t> bytes =
        copy == copies->end() ? segment.bytes : absl::MakeConstSpan(copy->second);
    // Segments of a dump do not overlap.
    made.memory.Map(segment.space, segment.address, bytes, segment.memory_size).IgnoreError();
  }
  made.backing = copies;
  return made;
}

}  // namespace packsmith::reduce
