// Calls with arbitrary arguments, which a kernel is reported to have accepted or refused: the
// tracer takes them all.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "runtime/capture/asahi/asahi.h"
#include "runtime/capture/i915/i915.h"
#include "runtime/capture/xe/xe.h"
#include "tests/capture/sandbox.h"
#include "tests/capture/trace/traced.h"

namespace packsmith::capture {
namespace {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t end) { return engine_() % end; }

  // Handles, flags, sizes, pointers into the program's memory, and anything.
  uint64_t Word() {
    switch (Below(9)) {
      case 0:
        return 0;
      case 1:
      case 2:
      case 7:
        return 1 + Below(3);
      case 3:
        return SandboxMemory::kBegin + Below(0x8000) / 8 * 8;
      case 4:
        return Below(32) << 12;
      case 5:
        return uint64_t{1} << Below(64);
      case 6:
        return ~Below(1 << 16);
      default:
        return engine_();
    }
  }
  void Fill(absl::Span<uint8_t> bytes) {
    for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      const uint64_t word = Word();
      // Fields of 4 and of 8 bytes.
      const size_t size = at % 8 == 0 && at + 8 <= bytes.size() && Below(2) == 0 ? 8 : 4;
      std::memcpy(bytes.data() + at, &word, size);
      if (size == 8) at += 4;
    }
  }

 private:
  std::mt19937_64 engine_;
};

// Ranges that the tracer hands on can be looked at.
class Looker : public TraceSink {
 public:
  void OnSubmit(const Work& work) override {
    for (const auto& [address, mapping] : work.memory->mappings()) {
      EXPECT_NE(mapping.size, 0u);
      EXPECT_GE(address + (mapping.size - 1), address);
      uint8_t first = 0;
      if (mapping.object != nullptr && mapping.offset < mapping.object->size()) {
        EXPECT_TRUE(mapping.object->Read(mapping.offset, {&first, 1}));
      }
    }
  }
};

template <typename Maker>
void TakeAll(absl::string_view device, const Maker& maker, bool submits = true) {
  TracedMachine machine(device, maker);
  const std::shared_ptr<File> file = machine.kernel.Open(machine.device->render_minor());
  MockAccess access(file);
  Looker looker;
  Tracer tracer(looker);
  const Tracer::Interests interests = tracer.Open(1, machine.device->render_minor(), access);
  const auto memory = std::make_shared<SandboxMemory>(0x10000);
  SandboxCaller caller(memory);
  Random random(7);
  std::vector<uint8_t> bytes(144);
  for (int i = 0; i < 20000; ++i) {
    if (i % 16 == 0) random.Fill(absl::MakeSpan(memory->bytes));
    uint32_t number = 0;
    do {
      number = static_cast<uint32_t>(random.Below(256));
    } while (interests[number] == TraceInterest::kNone);
    random.Fill(absl::MakeSpan(bytes));
    TracedCall call = {.request = uint32_t{'d'} << 8 | number,
                       .bytes = absl::MakeSpan(bytes).first(
                           random.Below(4) == 0 ? random.Below(bytes.size()) : bytes.size()),
                       .caller = caller,
                       .access = access};
    uint64_t ticket = 0;
    if (interests[number] == TraceInterest::kBeforeAndAfter) {
      ticket = tracer.Before(1, call);
      random.Fill(absl::MakeSpan(bytes));
    }
    call.result = random.Below(4) == 0 ? -EINVAL : 0;
    tracer.After(1, ticket, call);
  }
  EXPECT_EQ(tracer.submissions() > 0, submits);
  tracer.Close(1);
}

TEST(TraceRandom, I915) { TakeAll("tgl", MakeI915); }
TEST(TraceRandom, Xe) { TakeAll("tgl", MakeXe); }
// Random bytes are not commands of asahi.
TEST(TraceRandom, Asahi) { TakeAll("g13g", MakeAsahi, /*submits=*/false); }

}  // namespace
}  // namespace packsmith::capture
