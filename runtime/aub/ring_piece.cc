#include "runtime/aub/ring_piece.h"

#include <algorithm>
#include <string>

#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/dump/dump.h"

namespace packsmith::aub {
namespace {

// Follows no jump or call.
class PieceSink : public decode::Sink {
 public:
  std::optional<uint64_t> batch() const { return other_ ? std::nullopt : batch_; }

  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record&) override {}
  void OnRemark(absl::string_view, bool is_problem) override { other_ = other_ || is_problem; }
  void OnSummary(const decode::Summary&) override {}
  void OnPackets(absl::Span<const decode::Brief> packets) override {
    for (const decode::Brief& packet : packets) OnPacket(packet);
  }

 private:
  void OnPacket(const decode::Brief& packet) {
    const absl::Span<const uint8_t> bytes(packet.data, packet.bytes);
    // A command of zeros is a no-op on all generations.
    if (std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; })) return;
    const std::optional<uint64_t> target =
        packet.container == tables::kNone ? std::nullopt : TargetOf(packet);
    other_ = other_ || !target || batch_;
    batch_ = target;
  }

  std::optional<uint64_t> TargetOf(const decode::Brief& packet) const {
    const tables::Container& container = tables_->container(packet.container);
    const decode::Scope scope(*tables_, container, {packet.data, packet.bytes});
    for (const tables::Flow& flow : tables_->flows(container.flows)) {
      if (flow.target == tables::kNone || !scope.Holds(flow.when)) continue;
      return scope.Number(flow.target);
    }
    return std::nullopt;
  }

  const tables::Tables* tables_ = nullptr;
  std::optional<uint64_t> batch_;
  bool other_ = false;
};

}  // namespace

std::optional<uint64_t> OnlyBatch(const tables::Tables& tables, absl::string_view engine,
                                  absl::Span<const uint8_t> commands) {
  // Where the commands are does not matter.
  constexpr uint64_t kAddress = 0x1000;
  Dump dump;
  if (!dump.memory.Map(kGlobalSpace, kAddress, commands, commands.size()).ok()) return std::nullopt;
  Submission piece;
  piece.engine = std::string(engine);
  piece.space = kGlobalSpace;
  piece.batch_address = kAddress;
  piece.batch_length = commands.size();
  // A ring's commands end at its tail, without a packet that says so.
  piece.ring = Submission::Ring{kAddress, commands.size() + 4};
  PieceSink sink;
  decode::Options options;
  options.follow = decode::Follow::kNone;
  options.brief = true;
  options.continue_past_end = true;
  decode::Decoder decoder(tables, sink, options);
  decoder.Decode(dump, {piece});
  decoder.Finish();
  return sink.batch();
}

}  // namespace packsmith::aub
