// The blitter's packets, as the XML describes them, executed by the streamer.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/sim/streamer.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBatch = 0x10000, kDst = 0x20000, kSrc = 0x40000, kPat = 0x60000;

// An engine that executes blits.
class Blitter : public World {
 public:
  explicit Blitter(absl::string_view generation)
      : World(generation, {.engine = EngineOf(generation)}), generation_(generation) {}

  // The packet with its opcode and length, and addresses as the generation has them.
  struct Address {
    uint32_t address;
  };
  class Packet {
   public:
    Packet(Blitter& blitter, uint32_t opcode, uint32_t flags)
        : wide_(blitter.is_wide()), words_{2u << 29 | opcode << 22 | flags} {}
    Packet& operator<<(uint32_t word) {
      words_.push_back(word);
      return *this;
    }
    Packet& operator<<(Address address) {
      words_.push_back(address.address);
      if (wide_) words_.push_back(0);
      return *this;
    }
    std::vector<uint32_t> Take() {
      words_[0] |= static_cast<uint32_t>(words_.size() - 2);
      return words_;
    }

   private:
    bool wide_;
    std::vector<uint32_t> words_;
  };

  Packet Xy(uint32_t opcode, uint32_t flags = 0) { return {*this, opcode, flags}; }

  void Execute(std::initializer_list<std::vector<uint32_t>> packets) {
    std::vector<uint32_t> batch = Join(packets);
    batch.push_back(kEnd);
    Put(kBatch, std::move(batch));
    EXPECT_EQ(Run(kBatch), Stop::kEnded) << generation_;
  }
  std::vector<int> Bytes(uint64_t address, size_t size) {
    std::vector<uint8_t> bytes(size);
    EXPECT_EQ(memory().Read(0, address, absl::MakeSpan(bytes)), size);
    return {bytes.begin(), bytes.end()};
  }
  // Dwords from first on.
  static std::vector<uint32_t> Count(uint32_t first, size_t size) {
    std::vector<uint32_t> words(size);
    for (size_t i = 0; i < size; ++i) words[i] = first + static_cast<uint32_t>(i);
    return words;
  }

 private:
  bool is_wide() const {
    return generation_ != "gfx4" && generation_ != "gfx45" && generation_ != "gfx5" &&
           generation_ != "gfx6" && generation_ != "gfx7" && generation_ != "gfx75";
  }
  static uint32_t EngineOf(absl::string_view generation) {
    const tables::Tables tables = *FindGeneration(generation);
    uint32_t render = 0;
    for (uint32_t i = 0; i < tables.engines().size(); ++i) {
      const absl::string_view name = tables.string(tables.engines()[i].name);
      if (name == "blitter") return i;
      if (name == "render") render = i;
    }
    return render;
  }

  const std::string generation_;
};

constexpr const char* kOldGenerations[] = {"gfx4",  "gfx45", "gfx5", "gfx6",  "gfx7",
                                           "gfx75", "gfx8",  "gfx9", "gfx11", "gfx12"};
constexpr uint32_t kMask = 3u << 20;
constexpr uint32_t k32Bit = 3u << 24, kCopy = 0xccu << 16, kFill = 0xf0u << 16, kClip = 1u << 30;

constexpr uint32_t Point(uint32_t x, uint32_t y) { return y << 16 | x; }

TEST(BlitPacketsTest, ColorBlitsFillRectangles) {
  for (const char* generation : kOldGenerations) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(16));
    blitter.Execute(
        {(blitter.Xy(0x50, kMask) << (k32Bit | kFill | 16) << Point(1, 1) << Point(3, 2)
                                  << Blitter::Address{kDst} << 77u)
             .Take(),
         (blitter.Xy(0x40) << (kFill | 16) << Point(2, 3) << Blitter::Address{kDst + 13} << 5u)
             .Take()});
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    EXPECT_EQ(blitter.Read32(kDst), 0u);
    EXPECT_EQ(blitter.Read32(kDst + 12), 0x00050500u);
    EXPECT_EQ(blitter.Read32(kDst + 16), 0u);
    EXPECT_EQ(blitter.Read32(kDst + 20), 77u);
    EXPECT_EQ(blitter.Read32(kDst + 24), 77u);
    EXPECT_EQ(blitter.Read32(kDst + 28), 0x00050500u);
    EXPECT_EQ(blitter.Read32(kDst + 44), 0x00050500u);
    EXPECT_EQ(blitter.Read32(kDst + 60), 0u);
  }
}

TEST(BlitPacketsTest, CopiesTakeSourcesOfTheirOwnPitch) {
  for (const char* generation : kOldGenerations) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(16));
    blitter.Put(kSrc, Blitter::Count(100, 64));
    blitter.Execute({(blitter.Xy(0x53, kMask)
                      << (k32Bit | kCopy | 16) << Point(1, 0) << Point(3, 2)
                      << Blitter::Address{kDst} << Point(2, 3) << 32u << Blitter::Address{kSrc})
                         .Take(),
                     // Bytes from right to left: the addresses are those of the last ones.
                     (blitter.Xy(0x43, kMask)
                      << (kCopy | 1u << 30 | 16) << Point(4, 1) << Blitter::Address{kDst + 51}
                      << 32u << Blitter::Address{kSrc + 7})
                         .Take()});
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    EXPECT_EQ(blitter.Read32(kDst + 4), 126u);
    EXPECT_EQ(blitter.Read32(kDst + 8), 127u);
    EXPECT_EQ(blitter.Read32(kDst + 16), 0u);
    EXPECT_EQ(blitter.Read32(kDst + 20), 134u);
    EXPECT_EQ(blitter.Read32(kDst + 24), 135u);
    EXPECT_EQ(blitter.Read32(kDst + 48), 101u);
  }
}

TEST(BlitPacketsTest, OverlappingCopiesChooseTheirOrder) {
  for (const char* generation : kOldGenerations) {
    Blitter blitter(generation);
    blitter.Put(kDst, Blitter::Count(0, 32));
    blitter.Execute({(blitter.Xy(0x53, kMask)
                      << (k32Bit | kCopy | 16) << Point(1, 1) << Point(4, 8)
                      << Blitter::Address{kDst} << Point(0, 0) << 16u << Blitter::Address{kDst})
                         .Take()});
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    for (uint32_t y = 1; y < 8; ++y) {
      for (uint32_t x = 1; x < 4; ++x) {
        EXPECT_EQ(blitter.Read32(kDst + y * 16 + x * 4), (y - 1) * 4 + x - 1);
      }
    }
  }
}

TEST(BlitPacketsTest, TextPixelsAndScanLinesUseTheSetup) {
  for (const char* generation : kOldGenerations) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(16));
    blitter.Put(kSrc, {0x0000c0a0});
    const uint32_t transparent = std::string(generation) == "gfx5" ? 1u << 28 : 1u << 29;
    blitter.Execute({
        (blitter.Xy(0x01) << (kCopy | kClip | transparent | 16) << Point(0, 0) << Point(7, 4)
                          << Blitter::Address{kDst} << 5u << 6u << Blitter::Address{0})
            .Take(),
        // Bytes 1010 0000 and 1100 0000, one for each row.
        (blitter.Xy(0x26, 1u << 16) << Point(4, 0) << Point(9, 2) << Blitter::Address{kSrc}).Take(),
        // The same bits in the packet, packed: 101 and 110.
        (blitter.Xy(0x31) << Point(0, 2) << Point(3, 4) << 0x000000b8u).Take(),
        // From here on fills, and a smaller clipping rectangle.
        (blitter.Xy(0x11) << (kFill | kClip | 16) << Point(0, 0) << Point(16, 4)
                          << Blitter::Address{kDst} << 5u << 6u << 0x000000c0u << 0u)
            .Take(),
        (blitter.Xy(0x03) << Point(8, 0) << Point(11, 4)).Take(),
        (blitter.Xy(0x25) << Point(7, 0) << Point(16, 1)).Take(),
        (blitter.Xy(0x24) << Point(10, 3)).Take(),
        (blitter.Xy(0x24) << Point(11, 3)).Take(),
    });
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    EXPECT_THAT(blitter.Bytes(kDst, 16),
                ElementsAre(0, 0, 0, 0, 6, 0, 6, 0, 6, 6, 5, 0, 0, 0, 0, 0))
        << generation;
    EXPECT_THAT(blitter.Bytes(kDst + 16, 8), ElementsAre(0, 0, 0, 0, 6, 6, 0, 0)) << generation;
    EXPECT_THAT(blitter.Bytes(kDst + 32, 4), ElementsAre(6, 0, 6, 0)) << generation;
    EXPECT_THAT(blitter.Bytes(kDst + 48, 12), ElementsAre(6, 6, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0))
        << generation;
  }
}

TEST(BlitPacketsTest, ScanLinesHaveTheSetupsPatternOfPixels) {
  for (const char* generation : {"gfx6", "gfx8"}) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(4));
    blitter.Put(
        kPat, {0x03020100, 0x07060504, 0x13121110, 0x17161514, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    blitter.Execute(
        {(blitter.Xy(0x01) << (kFill | 16) << Point(0, 0) << Point(0, 0) << Blitter::Address{kDst}
                           << 5u << 6u << Blitter::Address{kPat})
             .Take(),
         (blitter.Xy(0x25, 1u << 8 | 3u << 12) << Point(1, 0) << Point(6, 1)).Take()});
    EXPECT_THAT(blitter.problems(), IsEmpty());
    EXPECT_THAT(blitter.Bytes(kDst, 7), ElementsAre(0, 0x14, 0x15, 0x16, 0x17, 0x10, 0));
  }
}

TEST(BlitPacketsTest, PatternsAndOneBitSourcesAreInMemoryOrInThePacket) {
  for (const char* generation : kOldGenerations) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(32));
    std::vector<uint32_t> pattern(16);
    for (uint32_t i = 0; i < 16; ++i)
      pattern[i] = 0x03020100 + (i % 2) * 0x04040404 + i / 2 * 0x10101010;
    blitter.Put(kPat, pattern);
    blitter.Put(kSrc, {0x00600001});
    const auto row = [](uint32_t y) { return std::pair(Point(0, y), Point(4, y + 1)); };
    const auto xy = [&](uint32_t opcode, uint32_t flags, uint32_t rop, uint32_t y) {
      Blitter::Packet packet = blitter.Xy(opcode, flags);
      packet << (rop | 16) << row(y).first << row(y).second << Blitter::Address{kDst};
      return packet;
    };
    std::vector<uint32_t> immediate = (xy(0x72, 1u << 12, kFill, 1)).Take();
    immediate[0] += 16;
    immediate.insert(immediate.end(), pattern.begin(), pattern.end());
    blitter.Execute({
        (xy(0x51, 0, kFill, 0) << Blitter::Address{kPat}).Take(),
        immediate,
        // 0011 …; one bit of each row before.
        (xy(0x52, 0, kFill, 2) << 5u << 6u << 0x00300000u << 0u).Take(),
        (xy(0x54, 7u << 17, kCopy, 3) << Blitter::Address{kSrc} << 5u << 6u).Take(),
        (xy(0x71, 7u << 17, kCopy, 4) << 5u << 6u << 0x0000a001u).Take(),
        // Source and pattern together, XORed.
        (xy(0x55, 1u << 8, 0x3cu << 16, 5)
         << Point(0, 0) << 16u << Blitter::Address{kPat} << Blitter::Address{kPat})
            .Take(),
        (xy(0x58, 0, 0x3cu << 16, 6)
         << Blitter::Address{kSrc} << 0u << 0xffu << 1u << 2u << 0u << 0x00300000u)
            .Take(),
        // Written where the source is not from 1 to 2.
        (xy(0x73, 1u << 17, kCopy, 7) << Point(0, 0) << 16u << Blitter::Address{kPat} << 1u << 2u)
            .Take(),
    });
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    const auto bytes = [&](uint32_t y) { return blitter.Bytes(kDst + y * 16, 5); };
    EXPECT_THAT(bytes(0), ElementsAre(0x00, 0x01, 0x02, 0x03, 0)) << generation;
    EXPECT_THAT(bytes(1), ElementsAre(0x11, 0x12, 0x13, 0x14, 0)) << generation;
    EXPECT_THAT(bytes(2), ElementsAre(5, 5, 6, 6, 0)) << generation;
    EXPECT_THAT(bytes(3), ElementsAre(6, 5, 5, 5, 0)) << generation;
    EXPECT_THAT(bytes(4), ElementsAre(6, 6, 5, 6, 0)) << generation;
    EXPECT_THAT(bytes(5), ElementsAre(0x60, 0x60, 0x60, 0x60, 0)) << generation;
    EXPECT_THAT(bytes(6), ElementsAre(1, 1, 2, 2, 0)) << generation;
    EXPECT_THAT(bytes(7), ElementsAre(0, 0, 0, 3, 0)) << generation;
  }
}

TEST(BlitPacketsTest, TiledSurfacesAreInXTilesUnlessTheRegisterSaysY) {
  for (const char* generation : {"gfx4", "gfx6", "gfx75", "gfx8", "gfx12"}) {
    for (const uint32_t swctrl : {0u, 0x00030002u, 0x00030003u}) {
      const bool has_register = std::string(generation) != "gfx4";
      Blitter blitter(generation);
      blitter.Put(kDst, std::vector<uint32_t>(2048));
      std::vector<uint32_t> source(1024);
      source[130] = 0xabcd;  // pixel (2, 1) of X tiles
      source[6] = 0xef01;    // of Y tiles
      blitter.Put(kSrc, source);
      blitter.Execute({{0x11000001, 0x22200, swctrl},
                       (blitter.Xy(0x53, kMask | 1u << 11 | 1u << 15)
                        << (k32Bit | kCopy | 256) << Point(5, 3) << Point(6, 4)
                        << Blitter::Address{kDst} << Point(2, 1) << 128u << Blitter::Address{kSrc})
                           .Take()});
      EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
      const bool y_destination = has_register && (swctrl & 2) != 0;
      const bool y_source = has_register && (swctrl & 1) != 0;
      // Pixel (5, 3): row 3 of 512 B, or row 3 in the second column of 16 B.
      EXPECT_EQ(blitter.Read32(kDst + (y_destination ? 512 + 3 * 16 + 4 : 3 * 512 + 20)),
                y_source ? 0xef01u : 0xabcdu)
          << generation << ", " << swctrl;
    }
  }
}

TEST(BlitPacketsTest, FastCopiesKnowTheTilingsOfTheirGeneration) {
  struct Case {
    const char* generation;
    uint32_t method, type;
    uint32_t place;  // of pixel (5, 3) of 32 bits
  };
  for (const Case& test : {
           Case{"gfx9", 0, 0, 3 * 256 + 5 * 4},
           Case{"gfx9", 1, 0, 3 * 512 + 5 * 4},
           Case{"gfx9", 2, 0, 512 + 3 * 16 + 4},
           Case{"gfx9", 2, 1, 128 + 3 * 16 + 4},
           Case{"gfx9", 3, 0, 128 + 3 * 16 + 4},
           Case{"gfx12", 2, 0, 512 + 3 * 16 + 4},
           Case{"gfx12", 3, 0, 128 + 3 * 16 + 4},
           Case{"gfx125", 2, 1, 64 + 3 * 16 + 4},
           Case{"gfx125", 3, 0, 64 + 3 * 16 + 4},
           Case{"xe2", 2, 1, 64 + 3 * 16 + 4},
           Case{"xe3", 3, 0, 64 + 3 * 16 + 4},
       }) {
    Blitter blitter(test.generation);
    blitter.Put(kDst, std::vector<uint32_t>(16384));
    blitter.Put(kSrc, Blitter::Count(0, 64));
    // Tiled: 512 B, in dwords.
    const uint32_t pitch = test.method == 0 ? 256 : 128;
    blitter.Execute({(blitter.Xy(0x42, test.method << 13)
                      << (k32Bit | test.type << 30 | pitch) << Point(5, 3) << Point(6, 4)
                      << Blitter::Address{kDst} << Point(1, 2) << 32u << Blitter::Address{kSrc})
                         .Take()});
    EXPECT_THAT(blitter.problems(), IsEmpty()) << test.generation;
    EXPECT_EQ(blitter.Read32(kDst + test.place), 17u)
        << test.generation << ", " << test.method << ", " << test.type;
  }
}

TEST(BlitPacketsTest, BlockCopiesHavePitchesLessOneAndOffsets) {
  for (const char* generation : {"gfx12", "gfx125", "xe2", "xe3"}) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(64));
    blitter.Put(kSrc, Blitter::Count(0, 64));
    Blitter::Packet packet = blitter.Xy(0x41, 2u << 19);
    packet << 31u << Point(1, 0) << Point(3, 2) << Blitter::Address{kDst} << Point(2, 1)
           << Point(1, 0) << 63u << Blitter::Address{kSrc} << Point(1, 1);
    if (std::string(generation) != "gfx12") {
      for (int i = 0; i < 10; ++i) packet << 0u;
    }
    blitter.Execute({packet.Take()});
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    // Pixel (1 + 2, 0 + 1) of rows of 8 from pixel (1 + 1, 0 + 1) of rows of 16.
    EXPECT_EQ(blitter.Read32(kDst + 8 * 4 + 3 * 4), 18u) << generation;
    EXPECT_EQ(blitter.Read32(kDst + 8 * 4 + 4 * 4), 19u) << generation;
    EXPECT_EQ(blitter.Read32(kDst + 16 * 4 + 4 * 4), 35u) << generation;
    EXPECT_EQ(blitter.Read32(kDst + 16 * 4 + 5 * 4), 0u) << generation;
  }
}

TEST(BlitPacketsTest, BlockCopiesFindLevelsAndArrayElements) {
  for (const char* generation : {"gfx125", "xe2", "xe3"}) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(32768));
    blitter.Put(kSrc, Blitter::Count(7, 1));
    Blitter::Packet packet = blitter.Xy(0x41, 2u << 19);
    // Tile4, 512 B a row; an image of 128 by 64, whose second level begins in row 64; elements
    // are 128 rows apart.
    packet << (2u << 30 | 127) << Point(0, 0) << Point(1, 1) << Blitter::Address{kDst} << 0u << 0u
           << 63u << Blitter::Address{kSrc} << 0u << 0u << 0u << 0u << 0u
           << (1u << 29 | 127u << 14 | 63u) << (128u / 4 << 4 | 1u)
           << (1u << 21 | 15u << 8 | 1u << 3 | 2u) << (1u << 29) << 0u << (15u << 8 | 1u << 3);
    blitter.Execute({packet.Take()});
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    EXPECT_EQ(blitter.Read32(kDst + (128 + 64) / 32 * 4 * 4096), 7u) << generation;
  }
}

TEST(BlitPacketsTest, FastColorsFillUpTo128Bits) {
  for (const char* generation : {"gfx12", "gfx125", "xe2", "xe3"}) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(16));
    Blitter::Packet packet = blitter.Xy(0x44, 5u << 19);
    packet << 31u << Point(1, 0) << Point(2, 2) << Blitter::Address{kDst} << 0u << 1u << 2u << 3u
           << 4u;
    if (std::string(generation) != "gfx12") {
      for (int i = 0; i < 5; ++i) packet << 0u;
    }
    blitter.Execute({packet.Take()});
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    for (uint32_t i = 0; i < 16; ++i) {
      EXPECT_EQ(blitter.Read32(kDst + i * 4), i % 8 < 4 ? 0u : i % 8 - 3) << generation << i;
    }
  }
}

TEST(BlitPacketsTest, MemoryCopiesAndFillsAreLinearOrInRows) {
  for (const char* generation : {"xe2", "xe3"}) {
    Blitter blitter(generation);
    blitter.Put(kDst, std::vector<uint32_t>(256));
    blitter.Put(kSrc, Blitter::Count(1, 256));
    const auto copy = [&](uint32_t flags, uint32_t width, uint32_t height, uint32_t from,
                          uint32_t to) {
      return (blitter.Xy(0x5a, flags) << width - 1 << height - 1 << 15u << 31u
                                      << Blitter::Address{from} << Blitter::Address{to} << 0u)
          .Take();
    };
    const auto fill = [&](uint32_t flags, uint32_t width, uint32_t height, uint32_t to) {
      return (blitter.Xy(0x5b, flags)
              << width - 1 << height - 1 << 31u << Blitter::Address{to} << 0xab000000u)
          .Take();
    };
    blitter.Execute({
        copy(0, 4, 9, kSrc, kDst),                     // linear: the height does not count
        copy(1u << 17, 8, 2, kSrc + 4, kDst + 64),     // two rows
        copy(1u << 19, 1, 1, kSrc + 256, kDst + 256),  // a page of 256 B
        fill(0, 3, 9, kDst + 512),                     // linear
        fill(1u << 17, 2, 3, kDst + 640),              // three rows
    });
    EXPECT_THAT(blitter.problems(), IsEmpty()) << generation;
    EXPECT_EQ(blitter.Read32(kDst), 1u);
    EXPECT_EQ(blitter.Read32(kDst + 4), 0u);
    EXPECT_EQ(blitter.Read32(kDst + 64), 2u);
    EXPECT_EQ(blitter.Read32(kDst + 68), 3u);
    EXPECT_EQ(blitter.Read32(kDst + 72), 0u);
    EXPECT_EQ(blitter.Read32(kDst + 96), 6u);
    EXPECT_EQ(blitter.Read32(kDst + 256), 65u);
    EXPECT_EQ(blitter.Read32(kDst + 508), 128u);
    EXPECT_EQ(blitter.Read32(kDst + 512), 0x00abababu);
    EXPECT_EQ(blitter.Read32(kDst + 544), 0u);
    EXPECT_EQ(blitter.Read32(kDst + 640), 0xababu);
    EXPECT_EQ(blitter.Read32(kDst + 704), 0xababu);
    EXPECT_EQ(blitter.Read32(kDst + 736), 0u);
  }
}

std::vector<std::pair<ProblemKind, std::string>> ProblemsOf(const World& world) {
  std::vector<std::pair<ProblemKind, std::string>> out;
  for (const Problem& problem : world.problems()) out.emplace_back(problem.kind, problem.text);
  return out;
}

TEST(BlitPacketsTest, WhatCannotBeDoneIsReportedAndTheBatchGoesOn) {
  Blitter blitter("gfx9");
  blitter.Put(kDst, std::vector<uint32_t>(4));
  blitter.Execute(
      {(blitter.Xy(0x50) << (kFill | 16) << Point(0, 0) << Point(16, 2) << Blitter::Address{kDst}
                         << 9u)
           .Take(),
       (blitter.Xy(0x59) << (kFill | 16) << Point(0, 0) << Point(4, 1) << Blitter::Address{kDst}
                         << 0u << 0u)
           .Take(),
       // Reserved mode of a color key.
       (blitter.Xy(0x76, 7u << 17) << (kFill | 16) << Point(0, 0) << Point(4, 1)
                                   << Blitter::Address{kDst} << Blitter::Address{kDst} << 0u << 0u)
           .Take(),
       // A pitch that is no multiple of a tile.
       (blitter.Xy(0x50, 1u << 11)
        << (kFill | 16) << Point(0, 0) << Point(4, 1) << Blitter::Address{kDst} << 0u)
           .Take(),
       StoreQword(kDst, 0x11)});
  using testing::Pair;
  EXPECT_THAT(
      ProblemsOf(blitter),
      ElementsAre(
          Pair(ProblemKind::kApproximate,
               HasSubstr("XY_COLOR_BLT: the blit cannot write to 0x20010, for pixel (0, 1)")),
          Pair(ProblemKind::kUnsupported, HasSubstr("XY_MONO_PAT_FIXED_BLT")),
          Pair(ProblemKind::kUnsupported, HasSubstr("XY_PAT_CHROMA_BLT: the operand \"mode\"")),
          Pair(ProblemKind::kUnsupported, HasSubstr("multiple of the tile's width, 512 B; 64 B"))));
  EXPECT_EQ(blitter.Read32(kDst), 0x11u);
  EXPECT_EQ(blitter.Read32(kDst + 12), 0x09090909u);
}

// Tells what was stored.
class StoringBlitter : public Blitter {
 public:
  using Blitter::Blitter;
  void OnStore(const Command&, uint32_t space, uint64_t address,
               absl::Span<const uint8_t> bytes) override {
    stores.emplace_back(space, address, bytes.size());
  }
  std::vector<std::tuple<uint32_t, uint64_t, size_t>> stores;
};

TEST(BlitPacketsTest, TheObserverIsToldWhatBlitsWrite) {
  StoringBlitter blitter("gfx9");
  blitter.Put(kDst, std::vector<uint32_t>(16));
  blitter.Execute({(blitter.Xy(0x50)
                    << (kFill | 16) << Point(1, 1) << Point(4, 3) << Blitter::Address{kDst} << 9u)
                       .Take()});
  EXPECT_THAT(blitter.stores, ElementsAre(std::tuple(0u, kDst + 17, size_t{3}),
                                          std::tuple(0u, kDst + 33, size_t{3})));
}

}  // namespace
}  // namespace packsmith::sim
