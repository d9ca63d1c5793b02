// Pages, read back.
#include "runtime/html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/read.h"
#include "tests/decode/world.h"

namespace packsmith::html {
namespace {

using decode::TablesOf;
using decode::World;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr absl::string_view kOpening = "<script type=\"application/x-packsmith\">";

// The kinds of messages that the tests look at.
constexpr uint8_t kText = 1, kRecord = 6, kPicture = 7, kFact = 8;

struct Read {
  std::string page;
  std::string content;
  std::vector<std::pair<uint8_t, std::string>> messages;

  std::vector<std::string> Of(uint8_t kind) const {
    std::vector<std::string> found;
    for (const auto& [one, bytes] : messages) {
      if (one == kind) found.push_back(bytes);
    }
    return found;
  }
  // The facts of a type.
  std::vector<std::string> Facts(absl::string_view type) const {
    std::vector<std::string> found;
    for (const std::string& json : Of(kFact)) {
      rapidjson::Document document;
      document.Parse(json.c_str());
      EXPECT_FALSE(document.HasParseError()) << json;
      if (document["type"].GetString() == type) found.push_back(json);
    }
    return found;
  }
};

uint64_t Number(absl::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 127u} << shift;
    if (byte < 128) break;
  }
  return value;
}

std::string Inflated(const std::string& compressed) {
  std::string all;
  z_stream stream{};
  EXPECT_EQ(inflateInit(&stream), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  int result = Z_OK;
  while (result == Z_OK) {
    char room[4096];
    stream.next_out = reinterpret_cast<Bytef*>(room);
    stream.avail_out = sizeof(room);
    result = inflate(&stream, Z_NO_FLUSH);
    all.append(room, sizeof(room) - stream.avail_out);
  }
  EXPECT_EQ(result, Z_STREAM_END);
  inflateEnd(&stream);
  return all;
}

Read ReadBack(std::string page) {
  Read read;
  read.page = std::move(page);
  std::string compressed;
  for (absl::string_view rest = read.page;;) {
    const size_t at = rest.find(kOpening);
    if (at == absl::string_view::npos) break;
    rest.remove_prefix(at + kOpening.size());
    std::string some;
    EXPECT_TRUE(absl::Base64Unescape(rest.substr(0, rest.find('<')), &some));
    compressed += some;
  }
  read.content = Inflated(compressed);
  for (absl::string_view rest = read.content; !rest.empty();) {
    const auto kind = static_cast<uint8_t>(rest[0]);
    rest.remove_prefix(1);
    const uint64_t size = Number(rest);
    EXPECT_LE(size, rest.size());
    read.messages.emplace_back(kind, std::string(rest.substr(0, size)));
    rest.remove_prefix(size);
  }
  return read;
}

Read PageOf(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
            PageOptions options = {}, absl::string_view report = "") {
  decode::StringOutput output;
  const std::unique_ptr<Page> page = MakePage(output, std::move(options));
  decode::Options decoding;
  decoding.leads = true;
  decode::Decoder decoder(tables, *page, decoding);
  if (!report.empty()) page->OnInsert(report);
  for (const Dump* dump : dumps) decoder.Decode(*dump);
  decoder.Finish();
  page->Finish();
  return ReadBack(output.text());
}

// Packets whose first dwords are tag << 24; an image of 2 by 2 texels, whose format may be one that
// has no components.
const tables::Tables& Gpu() {
  static const tables::Tables tables = TablesOf(R"(
<packsmith family="test" generation="pages">
  <data name="texels"/>
  <data name="code" code="true"><instruction mask="0" value="0" bytes="8" end="31"/></data>
  <stream name="batch"/>
  <struct name="IMAGE" dwords="3">
    <field name="Format" dword="0" bits="3:0" type="uint">
      <value name="BYTES" value="1" components="R8 G8 B8 A8 unorm"/>
      <value name="FLOATS" value="2" components="R32 float"/>
      <value name="BLOCKS" value="3"/>
      <value name="DEPTHS" value="4" components="D24 unorm S8 uint"/>
    </field>
    <field name="Order" dword="0" bits="7:4" type="uint"/>
    <field name="Size" dword="1" bits="15:0" type="uint"/>
    <field name="Texels" dword="2" bits="31:0" type="address"><points to="texels" access="read"/></field>
    <image when="Order=0" address="Texels" format="Format" width="Size" height="Size" pitch="Size*4" tiling="linear"/>
    <image when="Order=1" address="Texels" format="Format" width="Size" height="Size" tiling="compressed"/>
    <image when="Order=2" address="Texels" format="Format" width="Size" height="Size" pitch="512" tiling="X"/>
    <image address="Texels" format="Format" width="Size" height="Size"/>
  </struct>
  <packet name="END" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x05"/>
    <flow kind="end"/>
  </packet>
  <packet name="RUN" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x12"/>
    <field name="Code" dword="1" bits="31:0" type="address"><points to="code"/></field>
  </packet>
  <packet name="USE" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x11"/>
    <field name="Number" dword="0" bits="7:0" type="uint"/>
    <field name="Image" dword="1" bits="31:0" type="address"><points to="IMAGE" when="Image"/></field>
  </packet>
</packsmith>)");
  return tables;
}

World Using(uint32_t format, uint32_t order, uint32_t size, std::vector<uint32_t> texels) {
  World world;
  world.Put(0x1000, {0x11000007, 0x2000, 0x05000000});
  world.Put(0x2000, {format | order << 4, size, 0x4000});
  if (!texels.empty()) world.Put(0x4000, texels);
  world.Submit(0x1000, 12);
  return world;
}

// A picture's size as shown, its bytes, its note.
struct Shown {
  uint64_t width, height;
  std::string note;
  std::vector<uint8_t> rgba;
};

Shown OnlyPicture(const Read& read) {
  const std::vector<std::string> all = read.Of(kPicture);
  EXPECT_EQ(all.size(), 1u);
  if (all.empty()) return {};
  absl::string_view bytes = all[0];
  Number(bytes);                                     // space
  for (int i = 0; i < 10; ++i) (void)Number(bytes);  // address to pitch
  for (int i = 0; i < 3; ++i) (void)Number(bytes);   // texts
  Shown shown{};
  const uint64_t size = Number(bytes);
  shown.note = std::string(bytes.substr(0, size));
  bytes.remove_prefix(size);
  shown.width = Number(bytes);
  shown.height = Number(bytes);
  shown.rgba.assign(bytes.begin(), bytes.end());
  return shown;
}

TEST(Page, IsOneFileThatMayLoadNothing) {
  const World world = Using(1, 0, 2, {1, 2, 3, 4});
  const Read read = PageOf(Gpu(), {&world.dump()});
  EXPECT_THAT(read.page, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(read.page, testing::EndsWith("</html>\n"));
  EXPECT_THAT(read.page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(read.page, Not(HasSubstr("unsafe-")));
  EXPECT_THAT(read.page, Not(HasSubstr("src=\"")));
  EXPECT_THAT(read.page, Not(HasSubstr("href=")));
  EXPECT_THAT(read.page, Not(HasSubstr("http:")));
  EXPECT_THAT(read.page, Not(HasSubstr("https:")));
}

TEST(Page, HasEveryRecordOnce) {
  const World world = Using(1, 0, 2, {1, 2, 3, 4});
  const Read read = PageOf(Gpu(), {&world.dump()});
  // USE, IMAGE, END.
  EXPECT_EQ(read.Of(kRecord).size(), 3u);
  EXPECT_THAT(read.Of(kText), Contains("USE"));
  EXPECT_THAT(read.Of(kText), Contains("IMAGE"));
  EXPECT_EQ(read.Facts("submission").size(), 1u);
  ASSERT_EQ(read.Facts("summary").size(), 1u);
  EXPECT_THAT(read.Facts("summary")[0], HasSubstr("\"packets\":2"));
}

TEST(Page, HostileNamesAreNeitherMarkupNorHidden) {
  World world = Using(1, 0, 2, {1, 2, 3, 4});
  const std::string hostile("</script><script>alert(1)</script>\"'&\0\x1b[31m\u202e<!--", 50);
  world.dump().buffers.push_back({0, 0x1000, 12, hostile});
  world.dump().SortBuffers();
  world.dump().device.driver = hostile;
  world.last().engine = hostile;
  const Read read = PageOf(Gpu(), {&world.dump()}, {{hostile}}, hostile);
  // The only elements are the page's own.
  std::vector<std::string> ends = absl::StrSplit(read.page, "</script");
  const std::vector<std::string> elements = absl::StrSplit(read.page, "<script");
  EXPECT_EQ(ends.size(), elements.size());
  EXPECT_THAT(read.page, Not(HasSubstr("alert")));
  EXPECT_THAT(read.page, Not(HasSubstr("\u202e")));
  // What the page shows has escapes in place of characters that readers do not see.
  for (const uint8_t kind : {kText, kFact}) {
    EXPECT_THAT(read.Of(kind), Not(Contains(HasSubstr("\u202e"))));
    EXPECT_THAT(read.Of(kind), Not(Contains(HasSubstr("\x1b"))));
  }
  ASSERT_EQ(read.Facts("dump").size(), 1u);
  EXPECT_THAT(read.Facts("dump")[0], HasSubstr("\\\\x00"));
  EXPECT_THAT(read.Facts("dump")[0], HasSubstr("\\\\u202e"));
}

TEST(Page, ReportsKeepTheirLines) {
  const World world = Using(1, 0, 2, {1, 2, 3, 4});
  const Read read = PageOf(Gpu(), {&world.dump()}, {}, "one\n\ntwo\x07\n");
  ASSERT_EQ(read.Facts("report").size(), 1u);
  EXPECT_THAT(read.Facts("report")[0], HasSubstr("one\\n\\ntwo\\\\x07\\n"));
}

TEST(Page, RecordsOfOneShapeAreSmall) {
  const auto size = [](uint32_t packets) {
    std::vector<uint32_t> batch;
    for (uint32_t i = 0; i < packets; ++i) batch.insert(batch.end(), {0x11000000 | (i & 0xff), 0});
    batch.push_back(0x05000000);
    World world;
    world.Put(0x1000, batch);
    world.Submit(0x1000, batch.size() * 4);
    return PageOf(Gpu(), {&world.dump()}).content.size();
  };
  // About twenty bytes more than the packet's own.
  EXPECT_LE(size(10'000) - size(5'000), 5'000u * 32);
}

TEST(Page, TheSameMemoryIsInThePageOnce) {
  const auto size = [](uint32_t packets) {
    std::vector<uint32_t> batch;
    for (uint32_t i = 0; i < packets; ++i) batch.insert(batch.end(), {0x12000000, 0x8000});
    batch.push_back(0x05000000);
    // A program of 4 KiB, whose last instruction has bit 31.
    std::vector<uint32_t> code(1024, 0x51);
    code[1022] |= 0x80000000;
    World world;
    world.Put(0x1000, batch);
    world.Put(0x8000, code);
    world.Submit(0x1000, batch.size() * 4);
    return PageOf(Gpu(), {&world.dump()}).content.size();
  };
  EXPECT_LE(size(64) - size(32), 32u * 200);
}

TEST(Page, ImagesAreShownInTheirColors) {
  const World world = Using(1, 0, 2, {0xff0000ff, 0xff00ff00, 0xffff0000, 0x80ffffff});
  const Shown shown = OnlyPicture(PageOf(Gpu(), {&world.dump()}));
  EXPECT_EQ(shown.width, 2u);
  EXPECT_EQ(shown.height, 2u);
  EXPECT_EQ(shown.note, "");
  EXPECT_THAT(shown.rgba,
              ElementsAre(255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 0x80));
}

TEST(Page, TiledImagesAreShownInRows) {
  // In an X tile a row has 512 bytes.
  std::vector<uint32_t> tile(1024, 0xff000000);
  tile[1] = 0xff0000ff;
  tile[128] = 0xff00ff00;
  const World world = Using(1, 2, 2, tile);
  const Shown shown = OnlyPicture(PageOf(Gpu(), {&world.dump()}));
  EXPECT_THAT(shown.rgba, ElementsAre(0, 0, 0, 255, 255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 0, 255));
}

TEST(Page, NumbersAboveOneAreScaled) {
  // 0, 1, 2, -1.
  const World world = Using(2, 0, 2, {0, 0x3f800000, 0x40000000, 0xbf800000});
  const Shown shown = OnlyPicture(PageOf(Gpu(), {&world.dump()}));
  EXPECT_EQ(shown.note, "white is 2");
  EXPECT_THAT(shown.rgba,
              ElementsAre(0, 0, 0, 255, 128, 128, 128, 255, 255, 255, 255, 255, 0, 0, 0, 255));
}

TEST(Page, OfDepthAndStencilDepthIsShown) {
  const World world = Using(4, 0, 2, {0xffffffff, 0xff000000, 0x00ffffff, 0x01800000});
  const Shown shown = OnlyPicture(PageOf(Gpu(), {&world.dump()}));
  EXPECT_EQ(shown.note, "");
  EXPECT_THAT(shown.rgba, ElementsAre(255, 255, 255, 255, 0, 0, 0, 255, 255, 255, 255, 255, 128,
                                      128, 128, 255));
}

// 3DSTATE_DEPTH_BUFFER of Gfx9: 32 by 32 texels of a format.
World WithDepthBuffer(uint32_t format, uint32_t type, std::vector<uint32_t> texels) {
  World world;
  world.Put(0x1000, {0x78050006, type << 29 | format << 18 | 127, 0x4000, 0, 31u << 18 | 31u << 4,
                     0, 0, 0, 0x05000000});
  if (!texels.empty()) world.Put(0x4000, texels);
  world.Submit(0x1000, 36);
  return world;
}

TEST(Page, DepthBuffersAreShownFromTheirTiles) {
  // One Y tile: columns of 16 bytes, 32 rows each. Texel 5, 3 is the farthest one.
  std::vector<uint32_t> tile(1024, 0);
  tile[(512 + 3 * 16 + 4) / 4] = 0x3f800000;
  const World world = WithDepthBuffer(1, 1, tile);
  const Shown shown = OnlyPicture(PageOf(decode::Gfx9(), {&world.dump()}));
  EXPECT_EQ(shown.width, 32u);
  EXPECT_EQ(shown.height, 32u);
  ASSERT_EQ(shown.rgba.size(), 32u * 32 * 4);
  for (size_t i = 0; i < size_t{32} * 32; ++i) {
    EXPECT_EQ(shown.rgba[i * 4], i == 3 * 32 + 5 ? 255 : 0) << i;
  }
}

TEST(Page, DepthBuffersThatCannotBeShownSayWhy) {
  const World away = WithDepthBuffer(1, 1, {});
  EXPECT_EQ(OnlyPicture(PageOf(decode::Gfx9(), {&away.dump()})).note,
            "its memory is not in the dump");
  const World unknown = WithDepthBuffer(7, 1, std::vector<uint32_t>(1024, 0));
  EXPECT_THAT(OnlyPicture(PageOf(decode::Gfx9(), {&unknown.dump()})).note,
              HasSubstr("cannot be converted to RGBA"));
  // Without depth there is none.
  const World none = WithDepthBuffer(1, 7, std::vector<uint32_t>(1024, 0));
  EXPECT_TRUE(PageOf(decode::Gfx9(), {&none.dump()}).Of(kPicture).empty());
}

TEST(Page, LargeImagesAreShownWithFewerTexels) {
  const World world = Using(1, 0, 2048, std::vector<uint32_t>(2048 * 2048, 0xff123456));
  const Shown shown = OnlyPicture(PageOf(Gpu(), {&world.dump()}));
  EXPECT_EQ(shown.width, 1024u);
  EXPECT_EQ(shown.note, "one of 2 texels in each direction");
}

TEST(Page, ImagesThatCannotBeShownSayWhy) {
  const auto note = [](uint32_t format, uint32_t order, std::vector<uint32_t> texels) {
    const World world = Using(format, order, 2, std::move(texels));
    const Shown shown = OnlyPicture(PageOf(Gpu(), {&world.dump()}));
    EXPECT_TRUE(shown.rgba.empty());
    return shown.note;
  };
  EXPECT_EQ(note(1, 0, {}), "its memory is not in the dump");
  EXPECT_EQ(note(3, 0, {1, 2, 3, 4}), "the format BLOCKS cannot be converted to RGBA");
  EXPECT_EQ(note(1, 1, {1, 2, 3, 4}), "it is compressed, which only the GPU can undo");
  EXPECT_EQ(note(1, 3, {1, 2, 3, 4}), "the description does not say how its texels are ordered");
}

TEST(Page, PartOfAnImageIsShown) {
  const World world = Using(1, 0, 2, {0xff0000ff});
  const Shown shown = OnlyPicture(PageOf(Gpu(), {&world.dump()}));
  EXPECT_EQ(shown.note, "in part: the dump does not have all of its memory");
  EXPECT_EQ(shown.rgba.size(), 16u);
}

TEST(Page, SeveralDumpsAreOnePage) {
  const World one = Using(1, 0, 2, {1, 2, 3, 4}), two = Using(1, 0, 2, {5, 6, 7, 8});
  const Read read = PageOf(Gpu(), {&one.dump(), &two.dump()});
  EXPECT_EQ(read.Of(kRecord).size(), 6u);
  EXPECT_EQ(read.Facts("dump").size(), 2u);
  // The same address has other texels.
  EXPECT_EQ(read.Of(kPicture).size(), 2u);
}

TEST(Page, AnotherDescriptionContinuesIt) {
  decode::StringOutput output;
  const std::unique_ptr<Page> page = MakePage(output);
  const World world = Using(1, 0, 2, {1, 2, 3, 4});
  for (const tables::Tables* tables : {&Gpu(), &decode::Gfx9()}) {
    decode::Options options;
    options.leads = true;
    decode::Decoder decoder(*tables, *page, options);
    decoder.Decode(world.dump());
    decoder.Finish();
  }
  page->Finish();
  const Read read = ReadBack(output.text());
  EXPECT_EQ(read.Facts("schema").size(), 2u);
  EXPECT_EQ(read.Facts("summary").size(), 2u);
}

// Also for a look: the page is among the test's outputs.
TEST(Page, ACaptureIsWholeAndNoLargerThanItsDump) {
  const absl::StatusOr<Dump> dump = ReadDump("tests/data/captures/skl-gl-basic/00.core.zst");
  ASSERT_TRUE(dump.ok()) << dump.status();
  const Read read = PageOf(decode::Gfx9(), {&*dump}, {{"00.core.zst"}});
  decode::Story story;
  decode::Decoder decoder(decode::Gfx9(), story);
  decoder.Decode(*dump);
  decoder.Finish();
  EXPECT_GT(story.records.size(), 500u);
  EXPECT_EQ(read.Of(kRecord).size(), story.records.size());
  EXPECT_LT(read.page.size(), 400'000u);
  if (const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR")) {
    std::ofstream(std::string(outputs) + "/page.html") << read.page;
  }
}

}  // namespace
}  // namespace packsmith::html
