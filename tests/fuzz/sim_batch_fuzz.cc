// Any bytes as a batch or a ring in memory, which is executed: jumps into data, writes into itself,
// page tables that point to themselves. It must end with the budget, whatever it does.
//
// The first byte chooses the generation, the second one the engine, the third one how memory is
// reached, the fourth one where execution begins. The rest is physical memory from address 0 on;
// zeros follow it. Addresses of packets are physical ones, or those of page tables in that memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/dump/memory.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/page_tables.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/vertices/draw_state.h"
#include "runtime/sim/vertices/vertex_fetch.h"
#include "runtime/sim/work.h"

namespace packsmith::sim {
namespace {

constexpr uint64_t kMostCommands = 150, kMostBlits_B = 1 << 20;
constexpr uint64_t kMostIndirectDraws = 100;
constexpr uint64_t kZeros_B = 65536;
constexpr uint64_t kMostWorks = 4, kMostVertices = 16, kMostTables = 3;
constexpr size_t kMostPages = 8;

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

struct Generation {
  explicit Generation(const tables::Tables& of) : tables(of), vertices(tables) {}
  const tables::Tables tables;
  VertexDescription vertices;
};

// Those that say what packets do.
const std::vector<std::unique_ptr<Generation>>& Generations() {
  static const auto& all = *[] {
    auto* const out = new std::vector<std::unique_ptr<Generation>>;
    for (const tables::Tables& tables : BuiltInGenerations()) {
      for (const tables::Container& container : tables.containers()) {
        if (container.operations.count == 0) continue;
        out->push_back(std::make_unique<Generation>(tables));
        break;
      }
    }
    return out;
  }();
  return all;
}

// A context's addresses go through its page tables; global ones are physical.
class TranslatedMemory : public MemoryAccess {
 public:
  TranslatedMemory(MemoryAccess& physical, std::optional<PageTables> tables)
      : physical_(physical), tables_(std::move(tables)) {}

  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
    if (space == kGlobalSpace || !tables_) return physical_.Read(kGlobalSpace, address, out);
    return tables_->Read(address, out);
  }
  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override {
    if (space == kGlobalSpace || !tables_) return physical_.Write(kGlobalSpace, address, bytes);
    return tables_->Write(address, bytes);
  }

 private:
  MemoryAccess& physical_;
  std::optional<PageTables> tables_;
};

// Looks at everything that it is told.
class Watcher : public Observer {
 public:
  Watcher(Generation& generation, const MemoryAccess& memory)
      : generation_(generation), memory_(memory), state_(generation.vertices) {}

  void Watch(const Streamer& streamer) { streamer_ = &streamer; }
  uint64_t commands() const { return commands_; }
  bool faulted() const { return faulted_; }

  void OnCommand(const Command& command) override {
    ++commands_;
    Demand(!command.bytes.empty());
    state_.See(*command.container, command.bytes, command.space);
  }
  void OnSkipped(const Command&) override { ++commands_; }
  void OnStore(const Command&, uint32_t, uint64_t, absl::Span<const uint8_t> bytes) override {
    Demand(!bytes.empty());
  }
  void OnProblem(const Problem& problem) override {
    Demand(!problem.text.empty());
    faulted_ = faulted_ || problem.kind == ProblemKind::kFault;
  }
  void OnWork(const Work& work) override {
    if (++works_ > kMostWorks) return;
    ParametersOf(generation_.tables, work);
    for (const StatePacket& packet : StateOf(generation_.tables, *streamer_, work.role)) {
      Demand(packet.container != nullptr && !packet.bytes.empty());
    }
    if (work.role != tables::Role::kDraw) return;
    DrawParameters parameters;
    if (work.arguments.size() >= 2) {
      parameters.vertex_count = work.arguments[0];
      parameters.instance_count = work.arguments[1];
    }
    absl::StatusOr<VertexDraw> draw =
        state_.Draw(*work.command.container, work.command.bytes, parameters, work.command.space);
    if (!draw.ok()) return;
    absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(memory_, *std::move(draw));
    if (!fetch.ok()) return;
    VertexWalk walk(*fetch);
    for (uint64_t i = 0; i < kMostVertices && walk.Next(); ++i) {
      if (!walk.vertex().index.restart) fetch->Fetch(walk.vertex());
    }
    PrimitiveWalk primitives(*fetch, kMostVertices);
    while (const Primitive* const primitive = primitives.Next()) {
      Demand(primitive->size <= kMostPrimitiveVertices && primitive->provoking < primitive->size);
    }
    CountDraw(*fetch, kMostVertices);
  }

 private:
  Generation& generation_;
  const MemoryAccess& memory_;
  VertexState state_;
  const Streamer* streamer_ = nullptr;
  uint64_t commands_ = 0, works_ = 0;
  bool faulted_ = false;
};

std::optional<PageTables> Tables(const Generation& generation, MemoryAccess& physical,
                                 uint8_t how) {
  PageTableRoot root;
  root.kind = static_cast<PageTableKind>(how >> 3 & 3);
  root.entries = 512;
  const uint64_t first = uint64_t{how & 7u} * 4096;
  root.tables = {first, first, first + 4096, 0};
  absl::StatusOr<PageTables> tables = PageTables::Open(generation.tables, physical, root,
                                                       {kGlobalSpace, kGlobalSpace, kGlobalSpace});
  if (!tables.ok()) return std::nullopt;
  const PageTableListing listing = tables->List([](const MappedRange&) {}, kMostTables);
  Demand(listing.tables <= kMostTables);
  return *std::move(tables);
}

}  // namespace
}  // namespace packsmith::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  using namespace packsmith::sim;
  if (size < 8) return 0;
  Generation& generation = *Generations()[data[0] % Generations().size()];
  const uint8_t how = data[2];
  // A block of its own, so that a sanitizer sees reads past it.
  const std::vector<uint8_t> bytes(data + 4, data + size);
  Memory base;
  Demand(base.Map(kGlobalSpace, 0, bytes, bytes.size() + kZeros_B).ok());
  OverlayMemory physical(base, kMostPages);
  TranslatedMemory memory(physical,
                          (how & 0x80) != 0 ? Tables(generation, physical, how) : std::nullopt);
  StreamerOptions options;
  options.engine = (data[1] & 0x7f) % static_cast<uint32_t>(generation.tables.engines().size());
  options.all_engines = (data[1] & 0x80) != 0;
  options.prefetch = (how & 0x40) == 0;
  options.status_page = options.context_status_page = 0x1000;
  options.most_blit_bytes = kMostBlits_B;
  options.most_indirect_draws = kMostIndirectDraws;
  Watcher watcher(generation, memory);
  Streamer streamer(generation.tables, memory, options, watcher);
  watcher.Watch(streamer);
  const uint64_t start = uint64_t{data[3]} * 4;
  if ((how & 0x20) != 0) {
    streamer.EnterRing({0, 4096, start, (start + 2048) % 4096});
  } else {
    streamer.EnterBatch(0, start);
  }
  const Stop stop = streamer.Run(kMostCommands);
  Demand(streamer.commands() <= kMostCommands && watcher.commands() <= kMostCommands);
  Demand((stop == Stop::kFault) == watcher.faulted());
  Demand(stop != Stop::kBudget || streamer.commands() == kMostCommands);
  // It stays where it stopped.
  if (stop == Stop::kFault || stop == Stop::kEnded) Demand(streamer.Run(1) == stop);
  const absl::StatusOr<ContextImage> image = ContextImage::Parse(generation.tables, {}, bytes);
  if (image.ok()) Demand(!image->registers().empty());
  return 0;
}
