// What a draw or dispatch reads and writes, as far as its state tells, and the hook for what
// shaders do.
#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/sim/execution.h"

namespace packsmith::sim {
namespace {

class SeenWorkMemory : public WorkMemory {
 public:
  SeenWorkMemory(SeenMemory& memory, FetchWindow& window, const Command& command)
      : memory_(memory), window_(window), command_(command) {}

  size_t Read(tables::ClientKind reader, uint32_t space, uint64_t address,
              absl::Span<uint8_t> out) override {
    return memory_.Read(reader, space, address, out, command_);
  }
  size_t Write(tables::ClientKind writer, uint32_t space, uint64_t address,
               absl::Span<const uint8_t> bytes) override {
    const size_t written = memory_.Write(writer, space, address, bytes, command_);
    window_.OnWrite(space, address, written);
    return written;
  }

 private:
  SeenMemory& memory_;
  FetchWindow& window_;
  const Command& command_;
};

}  // namespace

void Execution::DoWork(absl::Span<const uint32_t> arguments, const tables::Container* layout) {
  const Work work{command_, plan_.container->role, streamer_.works_++, arguments, layout};
  SeenMemory& seen = streamer_.seen_;
  streamer_.statistics_.Count(work, streamer_, streamer_.memory_, streamer_.options_.own_space,
                              streamer_.registers_);
  streamer_.observer_.OnWork(work);
  if (!seen.tracks()) {
    SeenWorkMemory memory(seen, streamer_.window_, command_);
    streamer_.observer_.OnShaders(work, memory);
    return;
  }
  const auto state = [this](const tables::Container& of) {
    return StateBytes{streamer_.StateOf(of), streamer_.StateNumber(of)};
  };
  // State costs time: it matters if anything was written, or if this writes.
  absl::InlinedVector<MemoryUse, 4> written;
  if (!seen.idle() || streamer_.used_.StreamsOut(state)) {
    streamer_.used_.ForEach(*plan_.container, command_.bytes, state, [&](const MemoryUse& use) {
      if (use.writes) {
        written.push_back(use);
      } else {
        seen.Look(use.client, use.range, command_, use.what);
      }
    });
  }
  SeenWorkMemory memory(seen, streamer_.window_, command_);
  streamer_.observer_.OnShaders(work, memory);
  for (const MemoryUse& use : written) seen.Mark(use.client, use.range, command_);
}

}  // namespace packsmith::sim
