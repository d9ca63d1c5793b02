// The commands that clear a render target, as dwords: packed by the C++ header.
#include <cinttypes>
#include <cstdio>

#include "packsmith/rocket1.h"
#include "packsmith/rocket1_names.h"

using namespace packsmith::rocket1;

int main() {
  uint32_t dwords[CLEAR::length + END::length];
  const CLEAR clear{
      .blend = Blend::Add, .width = 640, .height = 480, .target = 0x123456700, .color = 0xff8000};
  if (const packsmith::error wrong = clear.pack(dwords)) {
    std::fprintf(stderr, "%s\n", packsmith::to_text(wrong).c_str());
    return 1;
  }
  constexpr auto end = packed(END{});
  dwords[CLEAR::length] = end.dw[0];
  for (const uint32_t dword : dwords) std::printf("%08" PRIx32 "\n", dword);
  return 0;
}
