// Packets of a program's own in a command buffer, on Gfx9. The argument is that of device.h.
#include <cstdio>
#include <memory>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/intel/driver/command_buffer_of.h"
#include "runtime/intel/state/gfx9.h"

using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
namespace gfx9 = packsmith::gfx9;
using example::Must;

namespace {

// Page: packets
// Stores the time at which everything before is done.
bool StoreTime(CommandBuffer& commands, const Buffer& to) {
  using Wait = gfx9::PIPE_CONTROL;
  auto& mine = static_cast<CommandBufferOf<Gfx9>&>(commands);
  return mine.Use(to, CacheDomain::kOtherWrite) &&
         mine.packets().Emit(Wait{.post_sync_operation = Wait::POST_SYNC_OPERATION_WRITE_TIMESTAMP,
                                  .command_streamer_stall_enable = true,
                                  .address = {to.address, to.handle}});
}
// End

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  const auto device =
      option.Open({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90}});
  const auto context = Must(Context::Create(*device, {}));
  const Buffer time = Must(context->NewBuffer(64, "time"));
  const auto commands = Must(context->NewCommandBuffer({}));
  StoreTime(*commands, time);
  const Fence fence = Must(context->Submit(*commands));
  example::Expect(Must(context->Wait(fence, absl::Seconds(10))), "the job is done");
  option.KeepCores();
}
