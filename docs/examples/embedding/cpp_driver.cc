// A driver in C++: a small command buffer, as it would be written into a buffer of the GPU.
#include <cstdio>
#include <vector>

#include "packsmith/gfx9.h"

namespace gfx9 = packsmith::gfx9;

// Values that are known when the driver is built are packed by the compiler, and a value that does
// not fit does not compile.
constexpr auto kStall = packed(gfx9::PIPE_CONTROL{
    .dc_flush_enable = true,
    .command_streamer_stall_enable = true,
});
constexpr auto kEnd = packed(gfx9::MI_BATCH_BUFFER_END{});

class CommandBuffer {
 public:
  // False if a value does not fit its field; nothing was appended then.
  template <class Packet>
  bool Emit(const Packet& packet) {
    uint32_t dwords[Packet::length];
    if (const packsmith::error e = packet.pack(dwords)) {
      std::fprintf(stderr, "%s does not fit\n", e.field);
      return false;
    }
    // The handles of the buffers that must be resident when this is submitted.
    packet.for_each_address([this](const packsmith::address& address, auto...) {
      if (address.buffer != 0) buffers_.push_back(address.buffer);
    });
    Append(dwords, Packet::length);
    return true;
  }
  void Append(const uint32_t* dwords, size_t count) {
    dwords_.insert(dwords_.end(), dwords, dwords + count);
  }

  const std::vector<uint32_t>& dwords() const { return dwords_; }
  const std::vector<uint32_t>& buffers() const { return buffers_; }

 private:
  std::vector<uint32_t> dwords_;
  std::vector<uint32_t> buffers_;
};

int main() {
  CommandBuffer commands;
  commands.Append(kStall.dw, gfx9::PIPE_CONTROL::length);
  const packsmith::address results(0x200008, /*buffer_handle=*/7);
  if (!commands.Emit(gfx9::MI_STORE_DATA_IMM{.address = results, .immediate_data = 42})) return 1;
  commands.Append(kEnd.dw, gfx9::MI_BATCH_BUFFER_END::length);

  const char* separator = "";
  for (const uint32_t dword : commands.dwords()) {
    std::printf("%s%08x", separator, dword);
    separator = " ";
  }
  std::puts("");
  return commands.buffers() == std::vector<uint32_t>{7} ? 0 : 1;
}
