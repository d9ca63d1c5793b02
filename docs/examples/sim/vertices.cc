// What docs/sim.md shows of vertices, built and run. Each named block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: a dump, and the number of
// a draw; prints its vertices.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/types/span.h"
#include "docs/examples/must.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/vertices/draw_state.h"
#include "runtime/sim/vertices/vertex_fetch.h"
#include "runtime/sim/work.h"

namespace {

using example::Must;
using namespace packsmith;  // NOLINT: an example

// Page: vertices
class Vertices : public sim::Observer {
 public:
  Vertices(sim::VertexDescription& description, const sim::MemoryAccess& memory, uint64_t wanted)
      : tables_(description.tables()), memory_(memory), wanted_(wanted), state_(description) {}

  void OnCommand(const sim::Command& command) override {
    state_.See(*command.container, command.bytes);
  }

  void OnWork(const sim::Work& work) override {
    // From the packet, from registers, or from memory; meshes and dispatches have none.
    const std::optional<sim::DrawParameters> numbers = sim::DrawParametersOf(tables_, work);
    if (!numbers || ++draws_ != wanted_) return;
    sim::VertexFetch fetch = Must(sim::VertexFetch::Make(
        memory_, Must(state_.Draw(*work.command.container, work.command.bytes, *numbers))));
    sim::VertexWalk walk(fetch);
    while (walk.Next()) {
      if (walk.vertex().index.restart) continue;
      fetch.Fetch(walk.vertex());
      Use(walk.vertex(), fetch.vue());
    }
  }
  // End

  bool found() const { return draws_ >= wanted_; }

 private:
  static void Use(const sim::Vertex& vertex, absl::Span<const uint32_t> vue) {
    std::printf("vertex %u:", vertex.number);
    for (const uint32_t dword : vue) {
      float value = 0;
      std::memcpy(&value, &dword, sizeof(value));
      std::printf(" %g", static_cast<double>(value));
    }
    std::printf("\n");
  }

  const tables::Tables& tables_;
  const sim::MemoryAccess& memory_;
  const uint64_t wanted_;
  sim::VertexState state_;
  uint64_t draws_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: vertices DUMP DRAW\n");
    return 2;
  }
  const Dump dump = Must(ReadDump(argv[1]));
  const tables::Tables tables = Must(FindGeneration(dump.device.generation));
  const uint64_t wanted = std::strtoull(argv[2], nullptr, 10);
  // Page: run
  sim::OverlayMemory memory(dump.memory);
  sim::VertexDescription description(tables);
  Vertices vertices(description, memory, wanted);
  sim::Streamer streamer(tables, memory, {.engine = 0}, vertices);
  for (const Submission& submission : dump.submissions) {
    streamer.EnterBatch(submission.space, submission.batch_address);
    streamer.Run(1'000'000);
  }
  // End
  return vertices.found() ? 0 : 1;
}
