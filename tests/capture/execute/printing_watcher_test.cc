#include "runtime/capture/execute/printing_watcher.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/capture/execute/unpack_options.h"
#include "tests/capture/execute/works.h"

namespace packsmith::capture {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

// Takes what has come since the last call.
class Text : public decode::Output {
 public:
  void Append(absl::string_view text) override { text_.append(text.data(), text.size()); }
  std::string Take() { return std::exchange(text_, ""); }

 private:
  std::string text_;
};

class PrintingWatcherTest : public ::testing::Test {
 protected:
  std::unique_ptr<PrintingWatcher> Make(absl::string_view options = "") {
    return std::make_unique<PrintingWatcher>(text_, *ParseUnpackOptions(options),
                                             [this] { return now_ += 1'500'000'000; });
  }
  std::shared_ptr<const Work> Batch(const std::vector<std::vector<uint32_t>>& packets) {
    return std::make_shared<Work>(works_.Batch(batch_, packets));
  }

  Works works_{"skl"};
  Placed batch_ = works_.Place(kBatch, 4096, "batch"), data_ = works_.Place(kData);
  Text text_;
  int64_t now_ = 0;
};

TEST_F(PrintingWatcherTest, ShowsASubmissionAtOnceUnderItsHead) {
  const auto watcher = Make();
  auto work = std::make_shared<Work>(*Batch({works_.Store(kData, 5)}));
  work->context = 3;
  work->warnings = {"I915_GEM_EXECBUFFER2: something\n"};
  watcher->OnSubmit(work);
  EXPECT_THAT(
      text_.Take(),
      AllOf(StartsWith("== 1  1.500000 s  test[42]  i915 skl  render0  context 3\n"
                       "warning: I915_GEM_EXECBUFFER2: something\\x0a\n"),
            HasSubstr("device  "), HasSubstr("in batch+0x0"), HasSubstr("MI_STORE_DATA_IMM"),
            HasSubstr("Immediate Data"), HasSubstr("MI_BATCH_BUFFER_END")));
  watcher->OnSubmit(Batch({works_.Copy(kData, kData)}));
  EXPECT_THAT(text_.Take(), AllOf(StartsWith("== 2  3.000000 s"), HasSubstr("MI_COPY_MEM_MEM"),
                                  Not(HasSubstr("device  ")), Not(HasSubstr("MI_STORE_DATA_IMM"))));
  watcher->Finish();
  EXPECT_THAT(text_.Take(), HasSubstr("summary  2 submissions, 4 packets"));
}

TEST_F(PrintingWatcherTest, EqualPacketsAtTheEndAreShownAtOnce) {
  const auto watcher = Make("no-offsets");
  const Work work = works_.Make(kBatch);  // no-ops to the end of the buffer
  watcher->OnSubmit(std::make_shared<Work>(work));
  EXPECT_THAT(text_.Take(), HasSubstr("MI_NOOP"));
}

TEST_F(PrintingWatcherTest, StateCarriesOverWithinAContext) {
  const auto watcher = Make();
  // A base address, and in the next submission a pointer that is relative to it.
  watcher->OnSubmit(Batch({sim::Packet(
      works_.tables(), "STATE_BASE_ADDRESS",
      {{"Dynamic State Base Address", kData}, {"Dynamic State Base Address Modify Enable", 1}})}));
  text_.Take();
  const std::vector<uint32_t> pointer =
      sim::Packet(works_.tables(), "3DSTATE_CC_STATE_POINTERS",
                  {{"Color Calc State Pointer", 64}, {"Color Calc State Pointer Valid", 1}});
  watcher->OnSubmit(Batch({pointer}));
  EXPECT_THAT(text_.Take(), HasSubstr("0x000000200040  COLOR_CALC_STATE"));
  auto other = std::make_shared<Work>(works_.Make(kBatch));
  other->context = 9;
  watcher->OnSubmit(other);
  EXPECT_THAT(text_.Take(), Not(HasSubstr("0x000000200040")));
}

TEST_F(PrintingWatcherTest, OptionsAreUnpacks) {
  const auto packets = {works_.Store(kData, 0), works_.Copy(kData, kData)};
  auto watcher = Make("--hide-zero --filter=MI_STORE*");
  watcher->OnSubmit(Batch(packets));
  EXPECT_THAT(text_.Take(), AllOf(HasSubstr("MI_STORE_DATA_IMM"), HasSubstr("fields zero"),
                                  Not(HasSubstr("MI_COPY_MEM_MEM"))));
  watcher = Make("format=names no-offsets");
  watcher->OnSubmit(Batch(packets));
  EXPECT_THAT(text_.Take(), EndsWith("MI_STORE_DATA_IMM\nMI_COPY_MEM_MEM\nMI_BATCH_BUFFER_END\n"));
  watcher = Make("format=stats");
  watcher->OnSubmit(Batch(packets));
  EXPECT_EQ(text_.Take(), "");
  watcher->OnSubmit(Batch(packets));
  watcher->Finish();
  EXPECT_THAT(text_.Take(), AllOf(HasSubstr("MI_COPY_MEM_MEM"), HasSubstr("2")));
}

TEST_F(PrintingWatcherTest, JsonHasARecordForTheHead) {
  const auto watcher = Make("format=jsonl");
  auto work = std::make_shared<Work>(*Batch({works_.Store(kData, 5)}));
  work->process = "a\"b";
  work->warnings = {"one", "two"};
  watcher->OnSubmit(work);
  EXPECT_THAT(
      text_.Take(),
      AllOf(StartsWith("{\"type\":\"work\",\"number\":1,\"time_ns\":1500000000,"
                       "\"process\":\"a\\\"b\",\"pid\":42,\"interface\":\"i915\","
                       "\"device\":\"skl\",\"engine\":\"render\",\"instance\":0,\"context\":1,"
                       "\"warnings\":[\"one\",\"two\"]}\n"),
            HasSubstr("\"MI_STORE_DATA_IMM\""), EndsWith("}\n")));
  watcher->OnDone(*work, Outcome::kHung, "so");
  EXPECT_EQ(text_.Take(), "{\"type\":\"hung\",\"number\":1,\"why\":\"so\"}\n");
}

TEST_F(PrintingWatcherTest, HangsAreNamed) {
  const auto watcher = Make();
  const auto work = Batch({});
  watcher->OnSubmit(work);
  text_.Take();
  watcher->OnDone(*work, Outcome::kDone, "");
  EXPECT_EQ(text_.Take(), "");
  watcher->OnDone(*work, Outcome::kHung, "PACKET at 0x1\x1b[31m");
  EXPECT_EQ(text_.Take(), "== 1 hung: PACKET at 0x1\\x1b[31m\n");
}

TEST_F(PrintingWatcherTest, DevicesHaveTheirOwnDescriptions) {
  const auto watcher = Make("format=jsonl");
  watcher->OnSubmit(Batch({}));
  text_.Take();
  Works older("hsw");
  const Placed batch = older.Place(kBatch);
  watcher->OnSubmit(std::make_shared<Work>(older.Batch(batch, {older.Store(kBatch, 1)})));
  // Ids of another range.
  EXPECT_THAT(text_.Take(), AllOf(HasSubstr("\"gfx75\""), HasSubstr("\"id\":281474976710656")));
}

TEST(UnpackOptions, AreSeparatedByBlanks) {
  const absl::StatusOr<UnpackOptions> options = ParseUnpackOptions(
      "  --format=jsonl strict\thide-zero --no-offsets filter=A,B* --follow=none "
      "max-packets=5 --color=always continue-past-end max-calls=7 max-code=8 max-stores=9");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->format, UnpackOptions::Format::kJsonl);
  EXPECT_TRUE(options->strict && options->hide_zero && options->no_offsets && options->color &&
              options->continue_past_end);
  EXPECT_THAT(options->filter, ElementsAre("A", "B*"));
  EXPECT_EQ(options->follow, decode::Follow::kNone);
  EXPECT_EQ(options->max_packets, 5u);
  EXPECT_EQ(options->max_calls, 7u);
  EXPECT_EQ(options->max_code, 8u);
  EXPECT_EQ(options->max_stores, 9u);
  ASSERT_TRUE(ParseUnpackOptions("").ok());
  EXPECT_EQ(ParseUnpackOptions("")->format, UnpackOptions::Format::kText);
  EXPECT_FALSE(ParseUnpackOptions("color=auto")->color);
}

TEST(UnpackOptions, MistakesAreNamed) {
  const auto message = [](absl::string_view text) {
    return std::string(ParseUnpackOptions(text).status().message());
  };
  EXPECT_THAT(message("hide-zeros"),
              AllOf(HasSubstr("no option hide-zeros"), HasSubstr("did you mean hide-zero?")));
  EXPECT_THAT(message("format=txt"),
              AllOf(HasSubstr("format=txt: must be one of text, jsonl, stats, names"),
                    HasSubstr("did you mean text?")));
  EXPECT_EQ(message("--strict=yes"), "--unpack: strict takes no value");
  EXPECT_EQ(message("filter"), "--unpack: filter needs a value: filter=...");
  EXPECT_EQ(message("max-calls=0"), "--unpack: max-calls=0: must be a number from 1 to 256");
  EXPECT_EQ(message("max-pointers=65"), "--unpack: max-pointers=65: must be a number from 1 to 64");
}

}  // namespace
}  // namespace packsmith::capture
