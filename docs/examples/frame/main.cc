// Draws and computes on one generation: the arguments are its name and the path of the job's core.

#include <cstdio>
#include <string>

#include "docs/examples/frame/frame.h"

namespace {

constexpr struct {
  const char* name;
  void (*draw)(const std::string& prefix);
} kGenerations[] = {
    {"gfx9", frame::FrameOfGfx9},
    {"gfx11", frame::FrameOfGfx11},
    {"gfx12", frame::FrameOfGfx12},
    {"gfx125", frame::FrameOfGfx125},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& generation : kGenerations) {
    if (argc != 3 || argv[1] != std::string(generation.name)) continue;
    const std::string core = argv[2], prefix = core + "-";
    generation.draw(prefix);
    if (std::rename((prefix + "000001.core").c_str(), core.c_str()) == 0) return 0;
    std::perror(core.c_str());
    return 1;
  }
  std::fputs("usage: frame gfx9|gfx11|gfx12|gfx125 CORE\n", stderr);
  return 2;
}
