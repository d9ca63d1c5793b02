// Submits what a GPU core dump has to a device: the same memory at the same addresses.
// --device= is "host", or a GPU's node. The GPU must be of the dump's generation.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "docs/examples/must.h"
#include "runtime/dump/read.h"
#include "runtime/kernel/open.h"
#include "runtime/memory/device.h"
#include "runtime/memory/host_device.h"

namespace {

using example::Must;
using namespace packsmith::gpu;  // NOLINT: an example

// Page: memory
// Binds the memory of one space, with whole pages around it.
std::vector<Resident> Bind(Device& device, const packsmith::Dump& dump, uint32_t space) {
  const uint64_t page = device.page();
  std::map<uint64_t, uint64_t> ranges;  // begin and end
  for (const packsmith::Memory::Segment& segment : dump.memory.segments()) {
    if (segment.space != space) continue;
    const uint64_t begin = segment.address / page * page, end = segment.last() / page * page + page;
    if (!ranges.empty() && ranges.rbegin()->second >= begin) {
      ranges.rbegin()->second = std::max(ranges.rbegin()->second, end);
    } else {
      ranges[begin] = end;
    }
  }
  std::vector<Resident> residents;
  for (const auto& [begin, end] : ranges) {
    const MemoryId memory = Must(device.Create({.size = end - begin}));
    uint8_t* const bytes = Must(device.Map(memory)).data();
    for (const packsmith::Memory::Segment& mapped : dump.memory.segments()) {
      const packsmith::Memory::Segment& segment = dump.memory.Resolve(mapped);
      if (segment.space != space || segment.address < begin || segment.address >= end) continue;
      if (segment.bytes.empty()) continue;
      std::memcpy(bytes + (segment.address - begin), segment.bytes.data(), segment.bytes.size());
    }
    Must(device.Bind({.address = begin, .size = end - begin, .memory = memory}));
    residents.push_back({.memory = memory, .address = begin, .written = true, .size = end - begin});
  }
  return residents;
}
// End

// Page: jobs
void Submit(Device& device, const packsmith::Dump& dump) {
  if (dump.submissions.empty()) return;
  const uint32_t space = dump.submissions[0].space;
  const std::vector<Resident> residents = Bind(device, dump, space);
  for (const packsmith::Submission& submission : dump.submissions) {
    if (submission.space != space) continue;
    std::vector<JobBase> bases;
    for (const auto& base : submission.bases) bases.push_back({base.name, base.address});
    const Fence fence = Must(device.Submit({.engine = submission.engine,
                                            .batch_address = submission.batch_address,
                                            .batch_length = submission.batch_length,
                                            .residents = residents,
                                            .bases = bases}));
    const bool done = Must(device.Wait(fence, absl::Seconds(10)));
    std::printf("submission %u on %s: %s\n", submission.index, submission.engine.c_str(),
                done ? "done" : "hangs");
  }
}
// End

}  // namespace

int main(int argc, char** argv) {
  absl::string_view name = argc == 3 ? argv[1] : "";
  if (!absl::ConsumePrefix(&name, "--device=") || name.empty()) {
    std::fputs("usage: resubmit --device=host|/dev/dri/NODE DUMP\n", stderr);
    return 2;
  }
  const packsmith::Dump dump = Must(packsmith::ReadDump(argv[2]));
  std::unique_ptr<Device> device;
  if (name == "host") {
    device = Must(HostDevice::Create({.device = dump.device}));
  } else {
    device = Must(OpenDevice({.path = std::string(name), .generation = dump.device.generation}));
  }
  Submit(*device, dump);
  return 0;
}
