// Submissions that no driver makes: nothing but the memory that they have is written, and all of it
// ends.
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/capture/execute/hang_report.h"
#include "runtime/capture/execute/printing_watcher.h"
#include "runtime/capture/execute/sim_executor.h"
#include "runtime/capture/execute/submission_checks.h"
#include "tests/capture/execute/works.h"

namespace packsmith::capture {
namespace {

constexpr uint64_t kBatch = 0x100000, kData = 0x110000, kUser = 0x120000, kLast = 0x130000;

// Packets of the generation with random bits in their fields, and addresses that are mostly near
// what is mapped.
class RandomBatches {
 public:
  RandomBatches(const Works& works, uint32_t seed) : works_(works), random_(seed) {
    for (const tables::Container& one : works.tables().containers()) {
      if (one.kind == tables::ContainerKind::kPacket) packets_.push_back(&one);
    }
  }

  void Fill(uint32_t* at, size_t words) {
    const uint32_t* const end = at + words;
    while (at != end) {
      const tables::Container& packet = *packets_[random_() % packets_.size()];
      std::vector<uint32_t> bits =
          sim::Packet(works_.tables(), works_.tables().string(packet.name), {});
      for (size_t i = 1; i < bits.size(); ++i) bits[i] = Word();
      // Sometimes flags, or a length, of the header too.
      if (!bits.empty() && random_() % 4 == 0) bits[0] ^= 1u << random_() % 24;
      for (size_t i = 0; i < bits.size() && at != end; ++i) *at++ = bits[i];
    }
  }

 private:
  uint32_t Word() {
    switch (random_() % 4) {
      case 0:
        return 0;
      case 1:
        return static_cast<uint32_t>(kBatch - 0x1000 + random_() % 0x40000);
      case 2:
        return random_() % 64;
      default:
        return static_cast<uint32_t>(random_());
    }
  }

  const Works& works_;
  std::mt19937 random_;
  std::vector<const tables::Container*> packets_;
};

class HostileTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, HostileTest,
                         ::testing::Values("g45", "ivb", "hsw", "skl", "tgl", "dg2", "lnl"));

TEST_P(HostileTest, RandomBatchesChangeOnlyWhatTheyMayAndEnd) {
  Works works(GetParam());
  const Placed batch = works.Place(kBatch, 8192), data = works.Place(kData, 8192);
  // Never mapped, or read-only.
  const Placed witness{works.MakeObject(8192), 0}, constant = works.Place(kLast);
  works.map().Map({.address = kLast, .size = 4096, .object = constant.object, .writable = false});
  std::vector<uint8_t> process(3 * 4096, 0x55);
  OwnCaller caller;
  works.map().Map({.address = kUser,
                   .size = 4096,
                   .object = works.MakeUserObject(
                       caller.memory(), reinterpret_cast<uint64_t>(process.data() + 4096), 4096)});
  works.map().Map({.address = kUser + 4096,
                   .size = 16384,
                   .object = data.object,
                   .offset = 4096,
                   .repeats = 4096});
  works.map().Map({.address = kUser + 20480, .size = 8192, .object = nullptr});
  SimExecutorOptions options;
  options.max_commands = 3000;
  options.most_bytes_of_a_blit = 1 << 16;
  options.most_indirect_draws = 1 << 12;
  uint64_t lines = 0;
  options.say = [&](absl::string_view line) {
    ++lines;
    EXPECT_EQ(line.find('\n'), absl::string_view::npos);
  };
  struct : decode::Output {
    void Append(absl::string_view) override {}
  } nowhere;
  uint64_t hangs = 0, done = 0;
  for (uint32_t seed = 0; seed < 30; ++seed) {
    // Afresh, since some batches hang what comes after them.
    SimExecutor executor(options);
    PrintingWatcher printer(nowhere, {});
    SubmissionChecks checks([](const Work&, absl::string_view) {});
    RandomBatches random(works, seed);
    random.Fill(batch.words(), 1024);
    random.Fill(data.words(), 1024);
    std::memset(batch.words() + 1024, 0, 4096);
    batch.words()[2047] = 0x05000000;  // MI_BATCH_BUFFER_END
    const bool copies = seed % 3 == 1 && works.info().version_x10 >= 60;
    Work work = works.Make(kBatch, copies ? "copy" : "render");
    work.global = works.info().version_x10 < 60;
    work.scratch_page = seed % 2 == 1;
    if (seed % 5 == 0) work.interface = "xe";
    const auto shared = std::make_shared<const Work>(work);
    printer.OnSubmit(shared);
    checks.OnSubmit(shared);
    std::string why;
    Outcome outcome = Outcome::kWaiting;
    for (int i = 0; i < 3 && outcome == Outcome::kWaiting; ++i) {
      outcome = executor.Execute(work, why);
    }
    if (outcome == Outcome::kWaiting) executor.Forget(work);
    if (outcome == Outcome::kHung) {
      ++hangs;
      EXPECT_FALSE(why.empty());
    } else if (outcome == Outcome::kDone) {
      ++done;
    }
    EXPECT_TRUE(MakeHangReport(work, executor.PlaceOfHang(work), why, 0).ok());
    printer.Finish();
    for (size_t i = 0; i < 2048; ++i) ASSERT_EQ(witness.words()[i], 0u);
    for (size_t i = 0; i < 1024; ++i) ASSERT_EQ(constant.words()[i], 0u);
    for (size_t i = 0; i < 4096; ++i) {
      ASSERT_EQ(process[i], 0x55);
      ASSERT_EQ(process[8192 + i], 0x55);
    }
  }
  // They get somewhere.
  EXPECT_GE(hangs, 5u);
  EXPECT_GE(lines, 5u);
  RecordProperty("done", static_cast<int>(done));
}

TEST(Hostile, StrangeWorksAreNotFollowed) {
  Works works("skl");
  works.Place(kBatch);
  SimExecutor executor;
  std::string why;
  // No stream, an address that nothing has, a stream of that name is not described.
  Work work = works.Make(kBatch);
  work.streams.clear();
  EXPECT_EQ(executor.Execute(work, why), Outcome::kDone);
  work.number = 2;
  work.streams.push_back({.address = ~uint64_t{0}, .length = ~uint64_t{0}, .stream = "none"});
  EXPECT_EQ(executor.Execute(work, why), Outcome::kHung);
  EXPECT_TRUE(MakeHangReport(work, HangPlace{.stream = 7}, why, 0).ok());
  work.number = 3;
  work.streams.assign(100, {.address = kBatch});
  work.engine = "";
  work.engine_class = ~0u;
  work.engine_instance = ~0u;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kHung);
  EXPECT_TRUE(MakeHangReport(work, executor.PlaceOfHang(work), why, 0).ok());
}

}  // namespace
}  // namespace packsmith::capture
