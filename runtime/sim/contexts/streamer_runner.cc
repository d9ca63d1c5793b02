#include "runtime/sim/contexts/streamer_runner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/decode/fields/value.h"
#include "runtime/dump/memory.h"
#include "runtime/sim/contexts/context_image.h"

namespace packsmith::sim {
namespace {

constexpr uint64_t kRingPage = 4096;
constexpr uint64_t kCacheLine = 64;
// Commands of a batch that a switch of contexts executes.
constexpr uint64_t kMostAside = 65536;

}  // namespace

StreamerRunner::StreamerRunner(const tables::Tables& tables, MemoryAccess& memory,
                               Observer& observer, const Options& options)
    : tables_(tables),
      memory_(memory),
      observer_(observer),
      options_(options),
      head_(Find("RING_BUFFER_HEAD")),
      tail_(Find("RING_BUFFER_TAIL")),
      start_(Find("RING_BUFFER_START")),
      start_high_(Find("RING_BUFFER_START_UDW")),
      control_(Find("RCS_RING_BUFFER_CTL")),
      batch_(Find("BB_ADDR")),
      batch_high_(Find("BB_ADDR_UDW")),
      indirect_(Find("INDIRECT_CTX")),
      per_context_(Find("BB_PER_CTX_PTR")) {}

StreamerRunner::Register StreamerRunner::Find(absl::string_view name) const {
  Register found;
  const absl::StatusOr<Structure> structure = Structure::Find(tables_, name);
  if (!structure.ok()) return found;
  found.structure = *structure;
  found.offset =
      structure->container().register_offset - DescribedBase(tables_) + options_.engine_base;
  return found;
}

uint64_t StreamerRunner::Get(const Register& from, absl::string_view field) const {
  if (!from.structure) return 0;
  std::array<uint8_t, 8> bytes;
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64,
                    current_->streamer->registers().Read(from.offset));
  return from.structure->Get(bytes, from.structure->Field(field));
}

Streamer::Ring StreamerRunner::RingOfRegisters() const {
  Streamer::Ring ring;
  ring.address = Get(start_, "Starting Address") | Get(start_high_, "Starting Address Upper") << 32;
  if (Get(control_, "Ring Buffer Enable") != 0) {
    ring.size = (Get(control_, "Buffer Length (in pages - 1)") + 1) * kRingPage;
  }
  ring.head = Get(head_, "Head Offset");
  ring.tail = Get(tail_, "Tail Offset");
  return ring;
}

void StreamerRunner::EnterRing() {
  const Streamer::Ring ring = RingOfRegisters();
  Context& context = *current_;
  Streamer& streamer = *context.streamer;
  // A context that was preempted goes on where it was, unless it was given another ring or head.
  const bool goes_on = context.entered && ring.address == context.ring.address &&
                       ring.size == context.ring.size && ring.head == streamer.ring_head();
  if (goes_on) {
    streamer.SetRingTail(ring.tail);
  } else {
    streamer.EnterRing(ring);
  }
  context.ring = ring;
  context.entered = true;
}

void StreamerRunner::FinishRestore() {
  Streamer& streamer = *current_->streamer;
  const uint64_t lines = Get(indirect_, "Size of Indirect Context");
  if (lines != 0) {
    streamer.RunAside(Get(indirect_, "Indirect Context Address"), lines * kCacheLine, kMostAside);
  }
  if (Get(per_context_, "Valid") != 0) {
    streamer.RunAside(Get(per_context_, "Batch Buffer Per Context Address"), 0, kMostAside);
  }
}

bool StreamerRunner::InBatch() const {
  const Streamer& streamer = *current_->streamer;
  const Streamer::Ring& ring = current_->ring;
  return current_->entered &&
         (streamer.space() != kGlobalSpace || streamer.address() < ring.address ||
          streamer.address() - ring.address >= ring.size);
}

bool StreamerRunner::AtPreemptionPoint() const {
  const Streamer& streamer = *current_->streamer;
  if (!streamer.arbitration()) return false;
  std::array<uint8_t, 4> word;
  if (memory_.Read(streamer.space(), streamer.address(), absl::MakeSpan(word)) != word.size()) {
    return false;
  }
  const uint32_t index =
      tables_.FindPacket(options_.streamer.stream, uint64_t{1} << options_.streamer.engine,
                         static_cast<uint32_t>(decode::ReadBits(word, 0, 32)), 4);
  if (index == tables::kNone) return false;
  const tables::Container& packet = tables_.container(index);
  if (packet.role != tables::Role::kOther || packet.flows.count != 0) return true;
  for (const tables::Operation& operation : tables_.operations(packet)) {
    switch (operation.kind) {
      case tables::OperationKind::kArbitration:
      case tables::OperationKind::kArbitrationPoint:
      case tables::OperationKind::kWait:
      case tables::OperationKind::kFence:
        return true;
      default:
        break;
    }
  }
  return false;
}

RingStop StreamerRunner::Execute(uint64_t budget, bool yield) {
  Streamer& streamer = *current_->streamer;
  Stop stop = Stop::kBudget;
  if (!yield) {
    stop = streamer.Run(budget);
  } else {
    for (uint64_t i = 0; i < budget && stop == Stop::kBudget; ++i) {
      if (AtPreemptionPoint()) return RingStop::kPreemptible;
      stop = streamer.Run(1);
    }
  }
  switch (stop) {
    case Stop::kEnded:
      return RingStop::kDrained;
    case Stop::kWaiting:
      return RingStop::kWaiting;
    case Stop::kBudget:
      return RingStop::kBudget;
    case Stop::kFault:
      break;
  }
  return RingStop::kFault;
}

RunResult StreamerRunner::Run(uint64_t budget, bool yield) {
  if (current_ == nullptr) return {RingStop::kDrained, 0};
  Streamer& streamer = *current_->streamer;
  const uint64_t before = streamer.commands();
  if (std::exchange(restored_, false)) FinishRestore();
  EnterRing();
  const RingStop stop = Execute(budget, yield);
  streamer.registers().Write(head_.offset, ReadRegister(head_.offset, 0));
  return {stop, streamer.commands() - before};
}

uint32_t StreamerRunner::ReadRegister(uint32_t offset, uint32_t /*occurrence*/) {
  if (current_ == nullptr) return 0;
  const Streamer& streamer = *current_->streamer;
  const auto dword = [](const Register& of, absl::string_view field, uint64_t value) -> uint32_t {
    return of.structure->Dword(of.structure->Field(field), value).value_or(0);
  };
  if (current_->entered && offset == head_.offset && head_.structure) {
    return dword(head_, "Head Offset", streamer.ring_head());
  }
  if (current_->entered && offset == batch_.offset && batch_.structure) {
    if (!InBatch()) return 0;
    return dword(batch_, "Batch Buffer Head Pointer", streamer.address() & 0xffffffff) |
           dword(batch_, "Valid", 1);
  }
  if (current_->entered && offset == batch_high_.offset && batch_high_.structure) {
    return InBatch() ? static_cast<uint32_t>(streamer.address() >> 32) : 0;
  }
  return streamer.registers().Read(offset);
}

void StreamerRunner::WriteRegister(uint32_t offset, uint32_t value) {
  if (current_ != nullptr) current_->streamer->registers().Write(offset, value);
}

void StreamerRunner::BeginContext(uint64_t image, bool fresh) {
  if (contexts_.size() >= kMostContexts && contexts_.count(image) == 0) {
    contexts_.erase(std::min_element(
        contexts_.begin(), contexts_.end(),
        [](const auto& a, const auto& b) { return a.second.began < b.second.began; }));
  }
  Context& context = contexts_[image];
  if (fresh || context.streamer == nullptr) {
    StreamerOptions options = options_.streamer;
    if (options_.space_of) options.own_space = options_.space_of(image);
    context = Context();
    context.streamer = std::make_unique<Streamer>(tables_, memory_, options, observer_);
  }
  context.began = ++switches_;
  current_ = &context;
  restored_ = true;
}

}  // namespace packsmith::sim
