// Runs a fuzz harness without a fuzzer: `program FILE...` makes three tests of each file, the file
// as it is, its beginnings, and altered copies. Deterministic, so that a failure repeats; each
// input is handed over in a heap block of exactly its size, so that a sanitizer sees a read past
// its end.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

// Inputs per test; large files get fewer, so that the time of a test stays about the same. Most
// mistakes show only under a sanitizer, so that more is tried there.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PACKSMITH_SANITIZED 1
#endif
#endif
#if defined(PACKSMITH_SANITIZED) || defined(__SANITIZE_ADDRESS__)
constexpr size_t kInputs = 1000;
#else
constexpr size_t kInputs = 500;
#endif
constexpr size_t kBytesPerTest = 64 << 20;

size_t InputsFor(const Bytes& bytes) {
  return std::clamp(kBytesPerTest / (bytes.size() + 1), size_t{20}, kInputs);
}

void Run(const uint8_t* data, size_t size) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[size]);
  std::copy_n(data, size, exact.get());
  LLVMFuzzerTestOneInput(exact.get(), size);
}

void Alter(Bytes& bytes, std::mt19937_64& random) {
  // Edge values of sizes and counts.
  static constexpr uint64_t kEdges[] = {0,
                                        1,
                                        0x7f,
                                        0x80,
                                        0xff,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        0x7fffffffffffffff,
                                        0x8000000000000000,
                                        0xfffffffffffffff8,
                                        0xffffffffffffffff};
  const size_t at = bytes.empty() ? 0 : random() % bytes.size();
  switch (bytes.empty() ? 2 : random() % 6) {
    case 0:
      bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
      break;
    case 1: {
      const uint64_t value = kEdges[random() % std::size(kEdges)];
      const size_t width = size_t{1} << random() % 4;
      for (size_t i = 0; i < width && at + i < bytes.size(); ++i) {
        bytes[at + i] = static_cast<uint8_t>(value >> 8 * i);
      }
      break;
    }
    case 2: {
      const Bytes inserted(1 + random() % 16, static_cast<uint8_t>(random()));
      bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), inserted.begin(), inserted.end());
      break;
    }
    case 3: {
      const size_t count = std::min<size_t>(1 + random() % 16, bytes.size() - at);
      bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at),
                  bytes.begin() + static_cast<ptrdiff_t>(at + count));
      break;
    }
    case 4: {
      // A part of the file over another: structures that refer to the wrong place.
      const size_t from = random() % bytes.size();
      const size_t count = std::min<size_t>(1 + random() % 64, bytes.size() - std::max(at, from));
      const Bytes part(bytes.begin() + static_cast<ptrdiff_t>(from),
                       bytes.begin() + static_cast<ptrdiff_t>(from + count));
      std::copy(part.begin(), part.end(), bytes.begin() + static_cast<ptrdiff_t>(at));
      break;
    }
    default:
      bytes[at] = static_cast<uint8_t>(random());
  }
}

class CorpusTest : public testing::Test {
 public:
  using Action = void (*)(const Bytes&);
  CorpusTest(std::string path, Action action) : path_(std::move(path)), action_(action) {}

  void TestBody() override {
    std::ifstream in(path_, std::ios::binary);
    ASSERT_TRUE(in) << "cannot open " << path_;
    action_(Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()));
  }

 private:
  const std::string path_;
  const Action action_;
};

void AsItIs(const Bytes& bytes) { Run(bytes.data(), bytes.size()); }

void Beginnings(const Bytes& bytes) {
  const size_t step = std::max<size_t>(1, bytes.size() / InputsFor(bytes));
  for (size_t size = 0; size < bytes.size(); size += step) Run(bytes.data(), size);
}

void Altered(const Bytes& bytes) {
  std::mt19937_64 random(20240229);
  const char* factor = std::getenv("FUZZ_FACTOR");
  const size_t count =
      InputsFor(bytes) *
      std::max<size_t>(1, factor == nullptr ? 1 : std::strtoul(factor, nullptr, 10));
  for (size_t i = 0; i < count; ++i) {
    Bytes altered = bytes;
    for (uint64_t n = 1 + random() % 4; n > 0; --n) Alter(altered, random);
    Run(altered.data(), altered.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    fprintf(stderr, "usage: %s FILE...\n", argv[0]);
    return EXIT_FAILURE;
  }
  const struct {
    const char* name;
    CorpusTest::Action action;
  } kKinds[] = {{"AsItIs", AsItIs}, {"Beginnings", Beginnings}, {"Altered", Altered}};
  for (const auto& kind : kKinds) {
    for (int i = 1; i < argc; ++i) {
      const std::string path = argv[i];
      const std::string name = path.substr(path.rfind('/') + 1);
      testing::RegisterTest(kind.name, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [path, action = kind.action]() -> testing::Test* {
                              return new CorpusTest(path, action);
                            });
    }
  }
  return RUN_ALL_TESTS();
}
