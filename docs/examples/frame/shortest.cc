// The first example of docs/runtime.md, whole. The argument is a node of /dev/dri, or the beginning
// of a core's name.
// Page: shortest
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/strip.h"
#include "packsmith/runtime/command/buffer_chunks.h"
#include "packsmith/runtime/intel/batch/batch.h"
#include "packsmith/runtime/intel/batch/gfx9.h"
#include "packsmith/runtime/intel/memory/driver_zones.h"
#include "packsmith/runtime/kernel/open.h"
#include "packsmith/runtime/memory/address_space.h"
#include "packsmith/runtime/memory/buffers.h"
#include "packsmith/runtime/memory/host_device.h"
#include "packsmith/runtime/memory/residency.h"

using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
namespace gfx9 = packsmith::gfx9;

// Ends the program where a driver would return the error.
void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}
template <class T>
T Must(absl::StatusOr<T>&& result) {
  Must(result.status());
  return *std::move(result);
}

// A GPU with --device=/dev/dri/NODE or --device=first; or else a device that needs no kernel and
// writes each job to a file, whose name the argument begins.
std::unique_ptr<Device> Open(absl::string_view argument) {
  if (absl::ConsumePrefix(&argument, "--device=")) {
    if (argument == "first") argument = "";
    return Must(OpenDevice({.path = std::string(argument), .generation = "gfx9"}));
  }
  return Must(HostDevice::Create({
      .device = {.family = "intel", .generation = "gfx9", .verx10 = 90},
      .core_prefix = std::string(argument),
  }));
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // A device, an address space, and buffers in them.
  const auto device = Open(argv[1]);
  auto space = Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = 90}))));
  auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId other = Must(space->FindZone("other"));
  const Buffer answer =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "answer", .zeroed = true}));

  // A batch: it asks for memory as it grows, and notes which buffers its packets point to.
  BufferChunks chunks(*buffers, {.zone = other});
  Batch<Gfx9> batch(chunks);
  batch.Emit(
      gfx9::MI_STORE_DATA_IMM{.address = {answer.address, answer.handle}, .immediate_data = 42},
      gfx9::PIPE_CONTROL{.command_streamer_stall_enable = true});
  Must(batch.End());  // returns the batch's first error, if any

  // A job: the batch, and the memory that it uses.
  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  Must(buffers->Use(residency.handles(), fence));
  Must(device->Wait(fence, absl::Seconds(1)));
  std::printf("answer %u\n", *answer.cpu);
}
// End
