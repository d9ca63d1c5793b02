// Writes the dumps of tests/agx/data to a folder.
#include <cstdio>
#include <string>

#include "runtime/dump/elf_core.h"
#include "tests/agx/cores.h"

int main(int argc, char** argv) {
  using namespace packsmith;
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_cores FOLDER\n");
    return 2;
  }
  for (const agx::Core& core : agx::kCores) {
    decode::World world;
    agx::Fill(core, world);
    const absl::Status status = WriteElfCore(world.dump(), std::string(argv[1]) + "/" + core.name);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
  }
  return 0;
}
