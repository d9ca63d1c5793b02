// Draws and computes on one generation. Arguments: its name, and those of device.h.

#include <cstdio>
#include <string>

#include "docs/examples/device.h"
#include "docs/examples/frame/frame.h"

namespace {

constexpr struct {
  const char* name;
  void (*draw)(const example::DeviceOption& option);
} kGenerations[] = {
    {"gfx8", frame::FrameOfGfx8},   {"chv", frame::FrameOfCherryview},
    {"gfx9", frame::FrameOfGfx9},   {"gfx11", frame::FrameOfGfx11},
    {"gfx12", frame::FrameOfGfx12}, {"gfx125", frame::FrameOfGfx125},
    {"xe2", frame::FrameOfXe2},     {"xe3", frame::FrameOfXe3},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& generation : kGenerations) {
    if (argc < 2 || argv[1] != std::string(generation.name)) continue;
    const example::DeviceOption option(argc - 1, argv + 1, "CORE");
    generation.draw(option);
    option.KeepCores();
    return 0;
  }
  std::fputs("usage: frame gfx8|chv|gfx9|gfx11|gfx12|gfx125|xe2|xe3 [--device=host] CORE\n",
             stderr);
  return 2;
}
