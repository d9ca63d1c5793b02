// The dumps in tests/agx/data are the frames that frame.cc makes.
#include "tests/agx/cores.h"

#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"
#include "runtime/dump/elf_core.h"

namespace packsmith::agx {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

TEST(Cores, AreTheFramesOfTheTests) {
  for (const Core& core : kCores) {
    decode::World world;
    Fill(core, world);
    const std::string path = testing::TempDir() + "/" + core.name;
    ASSERT_TRUE(WriteElfCore(world.dump(), path).ok());
    EXPECT_TRUE(Contents(path) == Contents(std::string("tests/agx/data/") + core.name))
        << core.name << " is another; run tests/agx:make_cores for tests/agx/data if it should be";
  }
}

}  // namespace
}  // namespace packsmith::agx
