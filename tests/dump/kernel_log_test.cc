// Dumps out of kernel logs: each form of prefix, and text that is not a prefix.

#include "runtime/dump/kernel_log.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith {
namespace {

TEST(KernelLog, LinesLoseTheirPrefixAndKeepTheirIndent) {
  for (const char* prefix :
       {"[  123.456789] ", "<6>[  123.456789] ", "[  123.456789] [  T1234] ",
        "[  123.456789] i915 0000:00:02.0: [drm] ", "[  123.456789] [drm] ",
        "Nov 22 14:00:00 host kernel: ", "Nov 22 14:00:00 host kernel: [  123.456789] ",
        "2026-11-22T14:00:00+0000 host kernel: i915 0000:00:02.0: [drm] ",
        "[    0.000001] xe 0000:03:00.0: [drm] Tile0: GT0: Capture 1.42: ",
        "[    0.000001] xe 0000:03:00.0: [drm] GT0: Capture,7: "}) {
    const std::string text =
        absl::StrCat(prefix, "PCI ID: 0x1912\n", prefix, "  HEAD: 0x00000010\n");
    EXPECT_TRUE(LooksLikeKernelLog(text)) << prefix;
    EXPECT_EQ(WithoutLogPrefixes(text), "PCI ID: 0x1912\n  HEAD: 0x00000010\n") << prefix;
  }
}

TEST(KernelLog, BrokenLinesAreWholeAgain) {
  EXPECT_EQ(WithoutLogPrefixes("[ 1.0] [Capture/1.1] >render ring --- batch = 0x1<\n"
                               "[ 1.0] [Capture/1.2] }:abc{\n"
                               "[ 1.0] [Capture/1.3] }def{\n"
                               "[ 1.0] [Capture/1.4] >ghi<\n"),
            "render ring --- batch = 0x1\n:abcdefghi\n");
}

TEST(KernelLog, LinesWithoutAPrefixStay) {
  EXPECT_EQ(WithoutLogPrefixes("a\n[ 1.5] b\n"), "a\nb\n");
  EXPECT_EQ(WithoutLogPrefixes("[0010] 01234567 01234567\n"), "[0010] 01234567 01234567\n");
}

TEST(KernelLog, ADumpAsTheKernelWritesItIsNone) {
  EXPECT_FALSE(LooksLikeKernelLog(""));
  EXPECT_FALSE(LooksLikeKernelLog("GPU HANG: ecode 9:1:0x85dffffb\nKernel: 6.1.0\n"));
  EXPECT_FALSE(LooksLikeKernelLog("[0010] 01234567 01234567 01234567 01234567\n"));
  EXPECT_FALSE(LooksLikeKernelLog("[fffe0000].length: 0x10\n[ 1.5] x\n"));
}

TEST(KernelLog, CutOffAnywhereNothingIsReadBeyondTheEnd) {
  const std::string text =
      "<6>Nov 22 host kernel: [  123.456789] [ T1] xe 0000:03:00.0: [drm] Tile0: GT0: Capture "
      "1.42: "
      "[Capture/1.2] }x{";
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string part = text.substr(0, size);
    LooksLikeKernelLog(part);
    EXPECT_LE(WithoutLogPrefixes(part).size(), size + 1);
  }
}

}  // namespace
}  // namespace packsmith
