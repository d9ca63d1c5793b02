// Jobs of two engines on a device, ordered by a timeline. --device= is "host", "first", or a GPU's
// node.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "docs/examples/must.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/command/relocation_list.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/engines.h"
#include "runtime/intel/batch/gfx11.h"
#include "runtime/intel/batch/gfx12.h"
#include "runtime/intel/batch/gfx125.h"
#include "runtime/intel/batch/gfx75.h"
#include "runtime/intel/batch/gfx8.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/batch/xe2.h"
#include "runtime/intel/batch/xe3.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/kernel/open.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/residency.h"
#include "runtime/submission/submitter.h"
#include "runtime/submission/timeline_memory.h"

namespace {

using example::Must;
using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
namespace gfx75 = packsmith::gfx75;

// Page: open
// A node of /dev/dri, for "first" the first one that works, or for "host" a device that needs no
// kernel.
std::unique_ptr<Device> Open(const std::string& name) {
  if (name == "host") {
    return Must(HostDevice::Create({.device = {.family = "intel", .generation = "gfx9"}}));
  }
  return Must(OpenDevice({.path = name == "first" ? "" : name}));
}
// End

// A recorded batch, with the memory that it uses.
template <class Gen>
struct Recorded {
  explicit Recorded(Buffers& buffers, ZoneId zone)
      : chunks(buffers, {.zone = zone}), batch(chunks), residency(buffers) {}
  QueueJob End() {
    Must(batch.End());
    for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
    const BatchPart& begin = batch.parts()[0];
    return {.batch_address = begin.chunk.gpu,
            .batch_length = begin.total * uint64_t{4},
            .residents = residency.residents()};
  }

  BufferChunks chunks;
  Batch<Gen> batch;
  Residency residency;
};

template <class Gen>
void Run(Device& device) {
  auto space =
      Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = Gen::kVersion}))));
  auto buffers = Buffers::Create(device, *space, {});
  const ZoneId other = Must(space->FindZone("other"));
  const Buffer data = Must(buffers->Create({.size = 4096, .zone = other, .zeroed = true}));
  const auto at = [&](uint64_t offset) {
    return packsmith::address{data.address + offset, data.handle};
  };

  // Page: queues
  auto submitter = Submitter::Create(device, {});
  const QueueId render = submitter->AddQueue({.engine = "render"});
  const QueueId copy = submitter->AddQueue({.engine = "copy"});
  const TimelineId uploads = submitter->AddTimeline();
  // End

  Recorded<Gen> draws(*buffers, other), copies(*buffers, other);
  // Page: value
  const auto values = Must(TimelineMemory::Create(*buffers, {.zone = other}));
  const TimelineMemory::Place place = Must(values->PlaceOf(uploads));
  const packsmith::address value{place.address, place.buffer};
  EmitWait(draws.batch, value, 1);
  // End
  draws.batch.Emit(typename Gen::CopyMemory{.destination_memory_address = at(8),
                                            .source_memory_address = at(0)});
  EmitSignal(draws.batch, EngineKind::kRender, at(64), 1);
  copies.batch.Emit(typename Gen::StoreData{.address = at(0), .immediate_data = 42});
  // Page: signal
  EmitSignal(copies.batch, EngineKind::kCopy, value, 1);
  // End

  // Page: submit
  const TimelinePoint uploaded[] = {{uploads, 1}};
  QueueJob drawing = draws.End(), copying = copies.End();
  drawing.waits = uploaded;    // held until somebody promises this value
  copying.signals = uploaded;  // promises it: both are handed to the kernel
  // The buffers are not used for anything else before the jobs are done.
  drawing.taken = [&](Fence fence) { Must(buffers->Use(draws.residency.uses(), fence)); };
  copying.taken = [&](Fence fence) { Must(buffers->Use(copies.residency.uses(), fence)); };
  const TimelinePoint drawn = Must(submitter->Submit(render, drawing));
  Must(submitter->Submit(copy, copying));
  // End

  // Page: wait
  const bool done = Must(submitter->Wait(drawn, absl::Seconds(10)));
  // End
  uint32_t words[3] = {};
  std::memcpy(words, data.cpu, sizeof(words));
  std::printf("done %d, stored %u, copied %u, value %d\n", done, words[0], words[2],
              static_cast<int>(Must(values->Value(uploads))));
}

// A kernel that moves memory corrects the words that hold addresses.
void RunMoved(Device& device) {
  auto space = Must(AddressSpace::Create({{.name = "all", .begin = 1 << 20, .end = 1u << 31}}));
  auto buffers = Buffers::Create(device, *space, {});
  const ZoneId all = Must(space->FindZone("all"));
  const Buffer data = Must(buffers->Create({.size = 4096, .zone = all, .zeroed = true}));
  BufferChunks chunks(*buffers, {.zone = all});

  // Page: relocations
  Batch<Gfx75> batch(chunks, {.relocations = true});
  const gfx75::MI_STORE_DATA_IMM::item values[] = {{.immediate_data = 42}};
  batch.EmitItems(gfx75::MI_STORE_DATA_IMM{.address = {data.address, data.handle}}, values);
  EmitSignal(batch, EngineKind::kRender, {data.address + 64, data.handle}, 1);
  Must(batch.End());

  RelocationList words(*buffers);
  Must(words.AddBatch(batch));
  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const Fence fence = Must(device.Submit({.batch_address = batch.parts()[0].chunk.gpu,
                                          .residents = residency.residents(),
                                          .relocations = words.all()}));
  // End
  const bool done = Must(device.Wait(fence, absl::Seconds(10)));
  uint32_t found[17] = {};
  std::memcpy(found, data.cpu, sizeof(found));
  std::printf("done %d, stored %u, signalled %u\n", done, found[0], found[16]);
}

// By the generation's name.
constexpr std::pair<const char*, void (*)(Device&)> kRuns[] = {
    {"gfx75", RunMoved},   {"gfx8", Run<Gfx8>},     {"gfx9", Run<Gfx9>}, {"gfx11", Run<Gfx11>},
    {"gfx12", Run<Gfx12>}, {"gfx125", Run<Gfx125>}, {"xe2", Run<Xe2>},   {"xe3", Run<Xe3>},
};

}  // namespace

int main(int argc, char** argv) {
  absl::string_view name = argc == 2 ? argv[1] : "";
  if (!absl::ConsumePrefix(&name, "--device=") || name.empty()) {
    std::fputs("usage: submission --device=host|first|/dev/dri/NODE\n", stderr);
    return 2;
  }
  const std::unique_ptr<Device> device = Open(std::string(name));
  const std::string generation = device->generation();
  for (const auto& [name_of, run] : kRuns) {
    if (generation != name_of) continue;
    run(*device);
    return 0;
  }
  std::fprintf(stderr, "the example has no batches for %s\n", generation.c_str());
  return 1;
}
