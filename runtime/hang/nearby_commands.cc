#include "runtime/hang/nearby_commands.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <utility>

#include "absl/types/span.h"
#include "runtime/decode/record.h"

namespace packsmith::hang {
namespace {

class PassageSink : public decode::Sink {
 public:
  PassageSink(uint32_t space, uint64_t address) : space_(space), address_(address) {}

  Passage Take() {
    passage_.before.assign(std::make_move_iterator(before_.begin()),
                           std::make_move_iterator(before_.end()));
    return std::move(passage_);
  }

  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission& submission, uint64_t) override {
    if (passage_.at) {
      done_ = true;
      return;
    }
    submission_ = submission.index;
    draws_ = 0;
    passage_.starter.reset();
    passage_.last_of_batch.reset();
    before_.clear();
    last_work_.reset();
    outer_.reset();
    inner_.reset();
  }
  void OnRecord(const decode::Record&) override {}
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}

  void OnPackets(absl::Span<const decode::Brief> packets) override {
    for (const decode::Brief& packet : packets) OnPacket(packet);
  }

 private:
  void OnPacket(const decode::Brief& packet) {
    const uint64_t ordinal = ordinal_++;
    if (done_) return;
    Command command;
    command.space = packet.space;
    command.address = packet.address;
    command.size = packet.bytes;
    command.depth = packet.depth;
    command.ordinal = ordinal;
    if (packet.container != tables::kNone) {
      command.container = &tables_->container(packet.container);
      if (command.container->role != tables::Role::kOther) last_work_ = ordinal;
      if (command.container->role == tables::Role::kDraw) ++draws_;
    }
    command.submission = submission_;
    command.draws = draws_;
    command.last_work = last_work_;
    command.bytes.assign(packet.data,
                         packet.data + std::min<size_t>(packet.bytes, Command::kMostBytes));
    if (passage_.at) {
      passage_.after.push_back(std::move(command));
      done_ = passage_.after.size() == Passage::kAfter;
      return;
    }
    if (command.depth == 0) {
      // Returned from a batch.
      if (inner_) {
        passage_.starter = std::move(outer_);
        passage_.last_of_batch = std::move(inner_);
        inner_.reset();
      }
      outer_ = command;
    }
    if (command.Contains(space_, address_)) {
      passage_.outer = outer_;
      passage_.at = std::move(command);
      return;
    }
    if (command.depth != 0) inner_ = command;
    before_.push_back(std::move(command));
    if (before_.size() > Passage::kBefore) before_.pop_front();
  }

  const uint32_t space_;
  const uint64_t address_;
  const tables::Tables* tables_ = nullptr;
  uint64_t ordinal_ = 0;
  bool done_ = false;
  std::optional<uint64_t> last_work_;
  std::optional<Command> outer_;
  std::optional<Command> inner_;  // the last one of a batch
  uint32_t submission_ = 0;
  uint64_t draws_ = 0;
  std::deque<Command> before_;
  Passage passage_;
};

}  // namespace

uint32_t Command::FirstDword() const {
  uint32_t dword = 0;
  std::memcpy(&dword, bytes.data(), std::min<size_t>(bytes.size(), 4));
  return dword;
}

Walk Sweep(const std::string& engine, uint32_t space, uint64_t begin) {
  Walk walk;
  Submission& sweep = walk.submissions.emplace_back();
  sweep.engine = engine;
  sweep.space = space;
  sweep.batch_address = begin;
  walk.options.follow = decode::Follow::kNone;
  walk.options.continue_past_end = true;
  return walk;
}

Passage FindPassage(const tables::Tables& tables, const Dump& dump, const Walk& walk,
                    uint32_t space, uint64_t address) {
  PassageSink sink(space, address);
  decode::Options options = walk.options;
  options.brief = true;
  decode::Decoder decoder(tables, sink, options);
  decoder.Decode(dump, walk.submissions);
  return sink.Take();
}

}  // namespace packsmith::hang
