// Commands as kernels and 2D drivers write them: each generation decodes them by name, in their
// whole length, with all values. The words are made of the bits that the sources in the XML give.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/decoder.h"
#include "runtime/generations/generations.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kNoop = 0;
constexpr uint32_t kUserInterrupt = 0x01000000;
constexpr uint32_t kEnd = 0x05000000;
constexpr uint32_t kGlobal = 1;

constexpr char kGfx4To5[] = "gfx4 gfx45 gfx5";
constexpr char kGfx6To75[] = "gfx6 gfx7 gfx75";
constexpr char kGfx8To12[] = "gfx8 gfx9 gfx11 gfx12";

tables::Tables TablesOfGeneration(const std::string& name) {
  const absl::StatusOr<tables::Tables> tables = FindGeneration(name);
  if (!tables.ok()) ADD_FAILURE() << tables.status();
  return *tables;
}

struct Command {
  std::string generations;  // separated by blanks
  std::string engine;
  std::string name;
  std::vector<uint32_t> dwords;
  std::vector<std::pair<std::string, uint64_t>> fields;
  friend void PrintTo(const Command& command, std::ostream* out) {
    *out << command.name << " of " << command.generations;
  }
};

std::vector<Command> CommandsOfRings() {
  std::vector<Command> all;
  // What the kernel and 2D drivers write into rings and batches of Gfx4 to Gfx5.
  all.push_back({kGfx4To5, "render", "MI_USER_INTERRUPT", {kUserInterrupt}, {}});
  all.push_back({kGfx4To5, "render", "MI_ARB_CHECK", {0x02800000}, {}});
  all.push_back({kGfx4To5, "render", "MI_REPORT_HEAD", {0x03800000}, {}});
  all.push_back({kGfx4To5, "render", "MI_ARB_ON_OFF", {0x04000001}, {{"Arbitration Enable", 1}}});
  all.push_back({kGfx4To5,
                 "render",
                 "MI_WAIT_FOR_EVENT",
                 {0x01810042},
                 {{"Display Pipe A Scan Line Wait Enable", 1},
                  {"Display Plane A Flip Pending Wait Enable", 0},
                  {"Display Plane B Flip Pending Wait Enable", 1},
                  {"Overlay Flip Pending Wait Enable", 1}}});
  all.push_back({kGfx4To5,
                 "render",
                 "MI_STORE_DATA_INDEX",
                 {0x10800001, 0x000000c0, 0x000c9559},
                 {{"Offset", 0x30}, {"Data DWord 0", 0xc9559}}});
  all.push_back({kGfx4To5,
                 "render",
                 "MI_SET_CONTEXT",
                 {0x0c000000, 0x0001310d},
                 {{"Logical Context Address", 0x13000},
                  {"Reserved, Must be 1", 1},
                  {"Extended State Save Enable", 1},
                  {"Extended State Restore Enable", 1},
                  {"Force Restore", 0},
                  {"Restore Inhibit", 1}}});
  all.push_back({kGfx4To5,
                 "render",
                 "MI_LOAD_SCAN_LINES_INCL",
                 {0x09100000, 0x00100310},
                 {{"Display (Plane) Select", 1},
                  {"Start Scan Line Number", 0x10},
                  {"End Scan Line Number", 0x310}}});
  all.push_back({kGfx4To5,
                 "render",
                 "MI_DISPLAY_FLIP",
                 {0x0a100002, 0x00001400, 0x0c6e1001, 0x04ff031f},
                 {{"Display Plane Select", 1},
                  {"Display Buffer Pitch", 0x1400},
                  {"Display Buffer Base Address", 0xc6e1000},
                  {"Tile Parameter", 1},
                  {"Pipe Source Width", 1280},
                  {"Pipe Source Height", 800}}});
  all.push_back({kGfx4To5,
                 "render",
                 "MI_BATCH_BUFFER",
                 {0x18000101, 0x00002000, 0x00002ff8},
                 {{"Buffer Security Indicator", 1},
                  {"Batch Buffer Start Address", 0x2000},
                  {"Batch Buffer End Address", 0x2ff8}}});
  all.push_back(
      {"gfx4 gfx45",
       "render",
       "MI_OVERLAY_FLIP",
       {0x08a00000, 0x00042001},
       {{"Mode Flags", 1}, {"Register Update Address", 0x42000}, {"Load Filter Coefficients", 1}}});
  all.push_back(
      {"gfx45",
       "video",
       "MI_FLUSH",
       {0x02000022},
       {{"State/Instruction Cache Invalidate", 1}, {"Indirect State Pointers Disable", 1}}});
  all.push_back({"gfx5", "render", "MI_SUSPEND_FLUSH", {0x05800001}, {{"Suspend Flush", 1}}});
  all.push_back({"gfx5",
                 "render",
                 "MI_REPORT_PERF_COUNT",
                 {0x13000041, 0x00007001, 0x00000005},
                 {{"Counter Set", 1}, {"Memory Address", 0x7000}, {"Report ID", 5}}});
  all.push_back({"gfx6",
                 "render",
                 "MI_REPORT_PERF_COUNT",
                 {0x14000001, 0x00007001, 0x00000005},
                 {{"Use Global GTT", 1}, {"Memory Address", 0x7000}, {"Report ID", 5}}});
  // Flips are in the rings of Gfx6 and 7, too.
  all.push_back({"gfx6",
                 "render",
                 "MI_DISPLAY_FLIP",
                 {0x0a100002, 0x00001401, 0x0c6e1000, 0x04ff031f},
                 {{"Display Plane Select", 1},
                  {"Display Buffer Pitch", 0x1400},
                  {"Tile Parameter", 1},
                  {"Display Buffer Base Address", 0xc6e1000},
                  {"Pipe Source Width", 1280}}});
  all.push_back({"gfx7 gfx75 gfx8",
                 "blitter",
                 "MI_DISPLAY_FLIP",
                 {0x0a200001, 0x00001401, 0x0c6e1000},
                 {{"Display Plane Select", 4},
                  {"Display Buffer Pitch", 0x1400},
                  {"Tile Parameter", 1},
                  {"Display Buffer Base Address", 0xc6e1000}}});
  all.push_back(
      {"gfx6 gfx7 gfx75 gfx8 gfx9 gfx11",
       "video",
       "MI_SET_APPID",
       {0x07000185},
       {{"Protected Memory Application ID", 5}, {"Protected Memory Application ID Type", 1}}});
  all.push_back({"gfx6 gfx7 gfx75 gfx8 gfx9 gfx11 gfx12",
                 "render",
                 "MI_UPDATE_GTT",
                 {0x11c00002, 0x00010000, 0x00000001, 0x00001001},
                 {{"Use Global GTT", 1}}});
  all.push_back({"gfx7", "render", "MI_LOAD_URB_MEM", {0x16000001, 0, 0}, {}});
  all.push_back({"gfx7", "render", "MI_STORE_URB_MEM", {0x16800001, 0, 0}, {}});
  // From the null render states of the kernel.
  all.push_back({"gfx8 gfx9",
                 "render",
                 "3DSTATE_DX9_CONSTANT_BUFFER_POOL_ALLOC",
                 {0x791b0002, 0x00005806, 0x00000001, 0x00002000},
                 {{"MOCS", 6},
                  {"DX9 Constant Buffer Pool Enable", 1},
                  {"DX9 Constant Buffer Pool Base Address", 0x100005000},
                  {"DX9 Constant Buffer Pool Buffer Size", 2}}});
  all.push_back(
      {"gfx75", "render", "3DSTATE_DX9_CONSTANT_BUFFER_POOL_ALLOC", {0x791b0001, 0, 0}, {}});
  all.push_back({"gfx75 gfx8 gfx9",
                 "render",
                 "3DSTATE_DX9_CONSTANTF_VS",
                 std::vector<uint32_t>{0x78390004, 0, 0, 0, 0, 0},
                 {}});
  // Set by kernels and compute runtimes with it.
  all.push_back({"gfx9",
                 "render",
                 "MEDIA_POOL_STATE",
                 {0x70050004, 0x00777000, 0, 0, 0, 0},
                 {{"Media Pool Enable", 0}}});
  all.push_back({"gfx9 gfx11 gfx12 gfx125 xe2 xe3",
                 "render",
                 "GPGPU_CSR_BASE_ADDRESS",
                 {0x61040001, 0x00005000, 0x00000001},
                 {{"GPGPU CSR Base Address", 0x100005000}}});
  all.push_back({"xe2 xe3 xe3p",
                 "compute",
                 "STATE_CONTEXT_DATA_BASE_ADDRESS",
                 {0x610b0001, 0x00005000, 0x00000001},
                 {{"Context Data Base Address", 0x100005000}}});
  all.push_back({"xe2 xe3 xe3p",
                 "blitter",
                 "STATE_SYSTEM_MEM_FENCE_ADDRESS",
                 {0x61090001, 0x00005000, 0x00000001},
                 {{"System Memory Fence Address", 0x100005000}}});
  all.push_back({"xe2 xe3 xe3p", "render", "STATE_WRITE_INLINE", {0x80000002, 1, 2, 3}, {}});
  return all;
}

// A blit of Gfx4 to Gfx7.5 and the same one with addresses of 64 bits.
void AddBlit(const std::string& name, std::vector<uint32_t> dwords,
             std::vector<std::pair<std::string, uint64_t>> fields, std::vector<Command>& all,
             const std::vector<size_t>& addresses) {
  // From the length that is needed to that in the first dword.
  const auto finish = [](std::vector<uint32_t> words) {
    if (words.size() > 2) words[0] |= static_cast<uint32_t>(words.size() - 2);
    return words;
  };
  all.push_back({kGfx4To5, "render", name, finish(dwords), fields});
  all.push_back({kGfx6To75, "blitter", name, finish(dwords), fields});
  size_t shift = 0;
  for (const size_t at : addresses) {
    dwords.insert(dwords.begin() + static_cast<ptrdiff_t>(at + ++shift), 0);
  }
  all.push_back({kGfx8To12, "blitter", name, finish(dwords), std::move(fields)});
}

std::vector<Command> Blits() {
  // Clipping, 32 bits a pixel, ROP 0xf0, pitch 0x400; a rectangle from 1, 2 to 3, 4; clipping at
  // 5, 6 and 7, 8.
  constexpr uint32_t kBr13 = 0x43f00400;
  constexpr uint32_t kFrom = 0x00020001, kTo = 0x00040003, kSource = 0x00060005;
  constexpr uint32_t kDst = 0x00010000, kSrc = 0x00020000, kPat = 0x00030000;
  constexpr uint32_t kBack = 0xb0, kFore = 0xf0, kData0 = 0xd0, kData1 = 0xd1;
  using Fields = std::vector<std::pair<std::string, uint64_t>>;
  const auto with = [](Fields fields, const Fields& more) {
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  };
  const Fields corners = {{"Destination X1 Coordinate", 1},
                          {"Destination Y1 Coordinate", 2},
                          {"Destination X2 Coordinate", 3},
                          {"Destination Y2 Coordinate", 4}};
  const Fields base = with(corners, {{"32bpp Byte Mask", 3},
                                     {"Raster Operation", 0xf0},
                                     {"Color Depth", 3},
                                     {"Destination Pitch", 0x400},
                                     {"Clipping Enabled", 1},
                                     {"Destination Base Address", kDst}});
  const Fields source = {{"Source X1 Coordinate", 5},
                         {"Source Y1 Coordinate", 6},
                         {"Source Pitch", 0x800},
                         {"Source Base Address", kSrc}};
  const Fields seeds = {{"Pattern Vertical Seed", 5}, {"Pattern Horizontal Seed", 6}};
  const Fields pattern = {{"Pattern Base Address", kPat}};
  const Fields source_colors = {{"Source Background Color", kBack},
                                {"Source Foreground Color", kFore}};
  const Fields mono_source = with(
      {{"Mono Source Address", kSrc}, {"Monochrome Source Data Bit Position", 5}}, source_colors);
  const Fields pattern_colors = {{"Pattern Background Color", kBack},
                                 {"Pattern Foreground Color", kFore}};
  const Fields pattern_data = {{"Pattern Data 0", kData0}, {"Pattern Data 1", kData1}};
  const Fields range = {{"Transparency Range Mode", 4},
                        {"Transparency Color Low", kBack},
                        {"Transparency Color High", kFore}};
  const Fields immediate = {{"Immediate Data[0]", kData0}, {"Immediate Data[1]", kData1}};
  // Fields of dword 0 other than opcode and length.
  constexpr uint32_t kMask = 3u << 20, kSeeds = 5u << 8 | 6u << 12, kBit = 5u << 17,
                     kRange = 4u << 17, kDstTiled = 1u << 11, kSrcTiled = 1u << 15;
  const auto op = [](uint32_t opcode) { return 2u << 29 | opcode << 22; };

  std::vector<Command> all;
  AddBlit("COLOR_BLT", {op(0x40) | kMask, 0x03f00400, 0x00100040, kDst, kFore},
          {{"Destination Pitch", 0x400},
           {"Destination Width", 0x40},
           {"Destination Height", 0x10},
           {"Destination Base Address", kDst},
           {"Solid Pattern Color", kFore}},
          all, {3});
  AddBlit("SRC_COPY_BLT", {op(0x43) | kMask, 0x43cc0400, 0x00100040, kDst, 0x800, kSrc},
          {{"X Direction", 1},
           {"Destination Height", 0x10},
           {"Destination Base Address", kDst},
           {"Source Pitch", 0x800},
           {"Source Base Address", kSrc}},
          all, {3, 5});
  AddBlit("XY_SETUP_BLT", {op(0x01) | kMask, kBr13, kFrom, kTo, kDst, kBack, kFore, kPat},
          {{"ClipRect X1 Coordinate", 1},
           {"ClipRect Y2 Coordinate", 4},
           {"Destination Base Address", kDst},
           {"Background Color", kBack},
           {"Foreground Color", kFore},
           {"Pattern Base Address", kPat}},
          all, {4, 7});
  AddBlit("XY_SETUP_CLIP_BLT", {op(0x03), kFrom, kTo},
          {{"ClipRect X1 Coordinate", 1}, {"ClipRect Y2 Coordinate", 4}}, all, {});
  AddBlit("XY_SETUP_MONO_PATTERN_SL_BLT",
          {op(0x11) | kMask | kDstTiled, kBr13 | 1u << 31, kFrom, kTo, kDst, kBack, kFore, kData0,
           kData1},
          with({{"Solid Pattern Select", 1},
                {"Tiling Enable", 1},
                {"Destination Base Address", kDst},
                {"Background Color", kBack},
                {"Foreground Color", kFore}},
               pattern_data),
          all, {4});
  AddBlit(
      "XY_PIXEL_BLT", {op(0x24) | kDstTiled, kFrom},
      {{"Tiling Enable", 1}, {"Destination X1 Coordinate", 1}, {"Destination Y1 Coordinate", 2}},
      all, {});
  AddBlit("XY_SCANLINES_BLT", {op(0x25) | kSeeds, kFrom, kTo}, with(corners, seeds), all, {});
  AddBlit("XY_TEXT_BLT", {op(0x26) | 1u << 16, kFrom, kTo, kSrc},
          with(corners, {{"Packing", 1}, {"Mono Source Address", kSrc}}), all, {3});
  AddBlit("XY_TEXT_IMMEDIATE_BLT", {op(0x31), kFrom, kTo, kData0, kData1}, corners, all, {});
  AddBlit("XY_COLOR_BLT", {op(0x50) | kMask, kBr13, kFrom, kTo, kDst, kFore},
          with(base, {{"Solid Pattern Color", kFore}}), all, {4});
  AddBlit("XY_PAT_BLT", {op(0x51) | kMask | kSeeds, kBr13, kFrom, kTo, kDst, kPat},
          with(with(base, seeds), pattern), all, {4, 5});
  AddBlit(
      "XY_MONO_PAT_BLT",
      {op(0x52) | kMask | kSeeds, kBr13 | 1u << 28, kFrom, kTo, kDst, kBack, kFore, kData0, kData1},
      with(with(with(with(base, seeds), pattern_colors), pattern_data),
           {{"Mono Pattern Transparency Mode", 1}}),
      all, {4});
  AddBlit("XY_SRC_COPY_BLT",
          {op(0x53) | kMask | kDstTiled | kSrcTiled, kBr13, kFrom, kTo, kDst, kSource, 0x800, kSrc},
          with(with(base, source), {{"Source Tiling Enable", 1}, {"Destination Tiling Enable", 1}}),
          all, {4, 7});
  AddBlit("XY_MONO_SRC_COPY_BLT",
          {op(0x54) | kMask | kBit, kBr13 | 1u << 29, kFrom, kTo, kDst, kSrc, kBack, kFore},
          with(with(base, mono_source), {{"Mono Source Transparency Mode", 1}}), all, {4, 5});
  AddBlit("XY_FULL_BLT",
          {op(0x55) | kMask | kSeeds, kBr13, kFrom, kTo, kDst, kSource, 0x800, kSrc, kPat},
          with(with(with(base, seeds), source), pattern), all, {4, 7, 8});
  AddBlit("XY_FULL_MONO_SRC_BLT",
          {op(0x56) | kMask | kSeeds | kBit, kBr13, kFrom, kTo, kDst, kSrc, kBack, kFore, kPat},
          with(with(with(base, seeds), mono_source), pattern), all, {4, 5, 8});
  AddBlit("XY_FULL_MONO_PATTERN_BLT",
          {op(0x57) | kMask | kSeeds, kBr13, kFrom, kTo, kDst, kSource, 0x800, kSrc, kBack, kFore,
           kData0, kData1},
          with(with(with(with(base, seeds), source), pattern_colors), pattern_data), all, {4, 7});
  AddBlit("XY_FULL_MONO_PATTERN_MONO_SRC_BLT",
          {op(0x58) | kMask | kSeeds | kBit, kBr13, kFrom, kTo, kDst, kSrc, kBack, kFore, kBack,
           kFore, kData0, kData1},
          with(with(with(with(base, seeds), mono_source), pattern_colors), pattern_data), all,
          {4, 5});
  AddBlit("XY_MONO_PAT_FIXED_BLT",
          {op(0x59) | kMask | 9u << 15, kBr13, kFrom, kTo, kDst, kBack, kFore},
          with(with(base, pattern_colors), {{"Fixed Pattern", 9}}), all, {4});
  AddBlit("XY_MONO_SRC_COPY_IMMEDIATE_BLT",
          {op(0x71) | kMask | kBit, kBr13, kFrom, kTo, kDst, kBack, kFore, kData0, kData1},
          with(with(base, source_colors), immediate), all, {4});
  AddBlit("XY_PAT_BLT_IMMEDIATE",
          {op(0x72) | kMask | kSeeds, kBr13, kFrom, kTo, kDst, kData0, kData1},
          with(with(base, seeds), immediate), all, {4});
  AddBlit("XY_SRC_COPY_CHROMA_BLT",
          {op(0x73) | kMask | kRange, kBr13, kFrom, kTo, kDst, kSource, 0x800, kSrc, kBack, kFore},
          with(with(base, source), range), all, {4, 7});
  AddBlit(
      "XY_FULL_IMMEDIATE_PATTERN_BLT",
      {op(0x74) | kMask | kSeeds, kBr13, kFrom, kTo, kDst, kSource, 0x800, kSrc, kData0, kData1},
      with(with(with(base, seeds), source), immediate), all, {4, 7});
  AddBlit("XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT",
          {op(0x75) | kMask | kSeeds | kBit, kBr13, kFrom, kTo, kDst, kSrc, kBack, kFore, kData0,
           kData1},
          with(with(with(base, seeds), mono_source), immediate), all, {4, 5});
  AddBlit("XY_PAT_CHROMA_BLT",
          {op(0x76) | kMask | kSeeds | kRange, kBr13, kFrom, kTo, kDst, kPat, kBack, kFore},
          with(with(with(base, seeds), pattern), range), all, {4, 5});
  AddBlit(
      "XY_PAT_CHROMA_BLT_IMMEDIATE",
      {op(0x77) | kMask | kSeeds | kRange, kBr13, kFrom, kTo, kDst, kBack, kFore, kData0, kData1},
      with(with(with(base, seeds), range), immediate), all, {4});

  // Blits without raster operations.
  const std::vector<uint32_t> fast = {
      op(0x42) | 8 | 1u << 13 | 2u << 20, 0xc3000100, kFrom, kTo, kDst, 1, kSource, 0x200, kSrc, 1};
  all.push_back({"gfx9 gfx11 gfx12 gfx125 xe2 xe3 xe3p", "blitter", "XY_FAST_COPY_BLT", fast,
                 with(corners, {{"Source X1 Coordinate", 5},
                                {"Source Y1 Coordinate", 6},
                                {"Destination Tiling Method", 1},
                                {"Source Tiling Method", 2},
                                {"Destination Tile Y Type", 1},
                                {"Source Tile Y Type", 1},
                                {"Color Depth", 3},
                                {"Destination Pitch", 0x100},
                                {"Source Pitch", 0x200},
                                {"Destination Base Address", 0x100010000},
                                {"Source Base Address", 0x100020000}})});
  all.push_back({"gfx125",
                 "blitter",
                 "XY_CTRL_SURF_COPY_BLT",
                 {op(0x48) | 3 | 0xffu << 8 | 1u << 20, kSrc, 0x08000001, kDst, 0x0c000002},
                 {{"Size of Control Surface Copy", 256},
                  {"Destination Access Type", 1},
                  {"Source Access Type", 0},
                  {"Source Address", 0x100020000},
                  {"Source MOCS Index", 2},
                  {"Destination Address", 0x200010000},
                  {"Destination MOCS Index", 3}}});
  all.push_back({"xe2 xe3 xe3p",
                 "blitter",
                 "XY_CTRL_SURF_COPY_BLT",
                 {op(0x48) | 3 | 0xffu << 9 | 1u << 21, kSrc, 0x20000001, kDst, 0x30000002},
                 {{"Size of Control Surface Copy", 256},
                  {"Source Access Type", 1},
                  {"Source Address", 0x100020000},
                  {"Source MOCS Index", 2},
                  {"Destination MOCS Index", 3}}});
  all.push_back({"xe2 xe3 xe3p",
                 "blitter",
                 "MEM_COPY",
                 {op(0x5a) | 8 | 1u << 17, 0xff, 0x0f, 0x1ff, 0x3ff, kSrc, 1, kDst, 2, 0x20000018},
                 {{"Copy Type", 1},
                  {"Transfer Width", 256},
                  {"Transfer Height", 16},
                  {"Source Pitch", 512},
                  {"Destination Pitch", 1024},
                  {"Source Address", 0x100020000},
                  {"Destination Address", 0x200010000},
                  {"Destination MOCS", 3},
                  {"Source MOCS", 2}}});
  all.push_back({"xe2 xe3 xe3p",
                 "blitter",
                 "MEM_SET",
                 {op(0x5b) | 5, 0xff, 0x0f, 0x3ff, kDst, 2, 0xab000018},
                 {{"Fill Type", 0},
                  {"Fill Width", 256},
                  {"Fill Height", 16},
                  {"Destination Pitch", 1024},
                  {"Destination Address", 0x200010000},
                  {"Destination MOCS", 3},
                  {"Fill Data", 0xab}}});
  return all;
}

std::vector<Command> CommandsOfMedia() {
  std::vector<Command> all;
  all.push_back({kGfx4To5,
                 "render",
                 "MEDIA_STATE_POINTERS",
                 {0x70000001, 0x00010001, 0x0005a000},
                 {{"Extended VFE State Enable", 1},
                  {"Pointer to Extended VFE State", 0x10000},
                  {"Pointer to VFE State", 0x5a000}}});
  all.push_back({kGfx4To5,
                 "render",
                 "MEDIA_OBJECT",
                 {0x71000004, 3, 0x20f, 0x0005c004, 0x00007f06, 0x05000000},
                 {{"Interface Descriptor Offset", 3},
                  {"Indirect Data Length", 0x20f},
                  {"Indirect Data Start Address", 0x5c004},
                  {"Inline Data[1]", 0x5000000}}});
  all.push_back({"gfx5",
                 "render",
                 "MEDIA_OBJECT_EX",
                 {0x71010003, 1, 0, 0, 7},
                 {{"Interface Descriptor Offset", 1}, {"Inline Data[0]", 7}}});
  all.push_back({"gfx5",
                 "video",
                 "AVC_BSD_IMG_STATE",
                 {0x74000004, 300, 0x000f0014, 0x02031610, 0x3000059c, 0x7101000a},
                 {{"Frame Size", 300},
                  {"Frame Width", 20},
                  {"Frame Height", 15},
                  {"Number of Reference Frames", 16},
                  {"QM Present", 1},
                  {"Image Structure", 2},
                  {"Second Chroma QP Offset", 2},
                  {"Residual Data Offset", 0x30},
                  {"Direct 8x8 Inference", 1},
                  {"AVC IT Command Header", 0x7101000a}}});
  all.push_back(
      {"gfx5",
       "video",
       "AVC_BSD_OBJECT",
       {0x7408000e, 0xd5d, 6, 2, 0x02010605, 0x59170301, 0x0a0b0102, 0x87, 0, 0, 0, 0, 0, 0, 0, 0},
       {{"Indirect BSD Data Length", 0xd5d},
        {"Indirect BSD Data Start Address", 6},
        {"Slice Type", 2},
        {"Number of References L1", 2},
        {"Log 2 Weight Denominator Luma", 5},
        {"Slice Quantization Parameter", 23},
        {"Disable Deblocking Filter Indicator", 3},
        {"Weighted Prediction Indicator", 1},
        {"First MB", 0x102},
        {"Slice Vertical Position", 10}}});
  all.push_back({"gfx6",
                 "video",
                 "MFX_SURFACE_STATE",
                 {0x70010004, 0, 0x07784fc0, 0x48000bfb, 0x100, 0},
                 {{"Width", 319},
                  {"Height", 239},
                  {"Surface Format", 4},
                  {"Surface Pitch", 383},
                  {"Interleave Chroma", 1},
                  {"Tile Walk", 1},
                  {"Y Offset for U(Cb)", 256}}});
  return all;
}

// What compute, media and kernel drivers of newer hardware write.
std::vector<Command> CommandsOfNewerDrivers() {
  std::vector<Command> all;
  all.push_back({"gfx125",
                 "blitter",
                 "MEM_COPY",
                 {0x56820008, 0xff, 0x0f, 0x1ff, 0x3ff, 0x20000, 1, 0x10000, 2, 0x20000018},
                 {{"Copy Type", 1},
                  {"Transfer Width", 256},
                  {"Transfer Height", 16},
                  {"Source Pitch", 512},
                  {"Destination Pitch", 1024},
                  {"Source Address", 0x100020000},
                  {"Destination Address", 0x200010000},
                  {"Destination MOCS", 0x18},
                  {"Source MOCS", 0x10}}});
  all.push_back({"gfx125",
                 "blitter",
                 "MEM_SET",
                 {0x56c0a005, 0xff, 0x0f, 0x3ff, 0x10000, 2, 0xab000018},
                 {{"Fill Type", 0},
                  {"Destination Compression Enable", 1},
                  {"Destination Compressible", 1},
                  {"Fill Width", 256},
                  {"Destination Address", 0x200010000},
                  {"Destination MOCS", 0x18},
                  {"Fill Data", 0xab}}});
  all.push_back({"gfx125", "compute", "MI_MEM_FENCE", {0x04800001}, {{"Fence Type", 1}}});
  all.push_back(
      {"gfx125",
       "compute",
       "STATE_PREFETCH",
       {0x60030002, 0x06100010, 0x40000, 1},
       {{"Prefetch Size", 16}, {"Parser Stall", 1}, {"MOCS", 6}, {"Address", 0x100040000}}});
  all.push_back({"xe2 xe3 xe3p",
                 "compute",
                 "STATE_PREFETCH",
                 {0x60030002, 0x06010010, 0x40000, 1},
                 {{"Prefetch Size", 16},
                  {"Kernel Instruction Prefetch", 1},
                  {"MOCS Index", 3},
                  {"Address", 0x100040000}}});
  all.push_back({"gfx125 xe2 xe3 xe3p",
                 "blitter",
                 "STATE_SYSTEM_MEM_FENCE_ADDRESS",
                 {0x61090001, 0x12000, 1},
                 {{"System Memory Fence Address", 0x100012000}}});
  all.push_back({"gfx12",
                 "render",
                 "L3_CONTROL",
                 {0x7d900001, 0x40018, 2},
                 {{"Command Streamer Stall Enable", 1},
                  {"L3 Flush Address Range.Address Mask", 3},
                  {"L3 Flush Address Range.Address", 0x200040000}}});
  all.push_back({"gfx12",
                 "render",
                 "L3_CONTROL_POST_SYNC",
                 {0x7da04005, 0x5008, 0, 0x11, 0x22, 0x40018, 2},
                 {{"Destination Address Type", 1},
                  {"Address", 0x5008},
                  {"Immediate Data", 0x2200000011},
                  {"L3 Flush Address Range.Address", 0x200040000}}});
  all.push_back({"gfx125",
                 "compute",
                 "L3_CONTROL",
                 {0x7d806007, 0x5008, 0, 0x11, 0x22, 0x40018, 0x20000002, 0, 0},
                 {{"Untyped Data Port Cache Flush", 1},
                  {"Post Sync Operation", 1},
                  {"Immediate Data", 0x2200000011},
                  {"L3 Flush Address Range.L3 Flush Eviction Policy", 2}}});
  all.push_back({"gfx125 xe2 xe3 xe3p",
                 "gsc",
                 "GSC_FW_LOAD",
                 {0x40400002, 0x100000, 0, 0x80000010},
                 {{"Firmware Address", 0x100000}, {"Firmware Size", 16}, {"Limit Valid", 1}}});
  all.push_back({"gfx125 xe2 xe3 xe3p",
                 "gsc",
                 "GSC_HECI_CMD_PKT",
                 {0x40000006, 0x200000, 0, 0x40, 0x300000, 0, 0x80, 0},
                 {{"Input Address", 0x200000},
                  {"Input Size", 0x40},
                  {"Output Address", 0x300000},
                  {"Output Size", 0x80}}});
  all.push_back({"gfx125 xe2 xe3 xe3p",
                 "render",
                 "MEDIA_STATE_FLUSH",
                 {0x70040000, 0x85},
                 {{"Interface Descriptor Offset", 5}, {"Flush to GO", 1}}});
  // The kernel finds them in context images.
  for (const auto& [name, word] :
       std::vector<std::pair<std::string, uint32_t>>{{"3DSTATE_AMFS", 0x786f0002},
                                                     {"3DSTATE_AMFS_TEXTURE_POINTERS", 0x78720002},
                                                     {"3DSTATE_CONSTANT_TS_POINTER", 0x78730002},
                                                     {"3DSTATE_PTBR_TILE_PASS_INFO", 0x79220002}}) {
    all.push_back({"gfx12 gfx125 xe2 xe3 xe3p", "render", name, {word, 1, 2, 3}, {}});
  }
  // Mesa's form has four dwords, that of others five.
  all.push_back({"gfx9 gfx11 gfx12 gfx125",
                 "render",
                 "MI_SEMAPHORE_WAIT",
                 {0x0e00c002, 9, 0x5000, 1},
                 {{"Compare Operation", 4},
                  {"Semaphore Data Dword", 9},
                  {"Semaphore Address", 0x100005000}}});
  all.push_back({"gfx12 gfx125",
                 "render",
                 "MI_SEMAPHORE_WAIT",
                 {0x0e00c003, 9, 0x5000, 1, 0x60},
                 {{"Semaphore Address", 0x100005000}, {"Wait Token Number[0]", 3}}});
  all.push_back({"xe3 xe3p",
                 "render",
                 "3DSTATE_COARSE_PIXEL",
                 {0x78890000, 0x80000219},
                 {{"CPSizeX", 1},
                  {"CPSizeY", 2},
                  {"CPSizeCombiner1Opcode", 1},
                  {"CPSizeCombiner0Opcode", 4},
                  {"Disable CPS Pointers", 1}}});
  all.push_back({"xe3p",
                 "blitter",
                 "MI_SEMAPHORE_SIGNAL",
                 {0x0d900001, 5, 6},
                 {{"64B Signaling Enable", 1},
                  {"Semaphore Token Lower Dword", 5},
                  {"Semaphore Token Upper Dword", 6}}});
  all.push_back({"xe3p",
                 "compute",
                 "MI_SEMAPHORE_WAIT_64",
                 {0x1d804055, 0x89abcdef, 0x01234567, 0x5000, 1, 7, 8},
                 {{"MOCS Index", 5},
                  {"Compare Operation", 4},
                  {"Semaphore Data", 0x0123456789abcdef},
                  {"Semaphore Address", 0x100005000},
                  {"Semaphore Token", 0x800000007}}});
  std::vector<uint32_t> walker(64);
  walker[0] = 0x7220013e;
  walker[4] = 0xa2020000;
  walker[7] = 3;
  walker[8] = 2;
  walker[9] = 1;
  walker[19] = 0x40000;
  walker[20] = 1;
  walker[21] = 0x1c000000;
  walker[24] = 0x10070020;
  walker[27] = 0x10000;
  walker[28] = 0x6000;
  walker[47] = 0x77;
  walker[58] = 0x20000;
  all.push_back({"xe3p",
                 "compute",
                 "COMPUTE_WALKER_2",
                 walker,
                 {{"Predicate Enable", 1},
                  {"Message SIMD", 1},
                  {"Emit Inline Parameter", 1},
                  {"Generate Local ID", 1},
                  {"SIMD Size", 2},
                  {"Thread Group ID X Dimension", 3},
                  {"Thread Group ID Z Dimension", 1},
                  {"Interface Descriptor.Kernel Start Pointer", 0x100040000},
                  {"Interface Descriptor.Registers Per Thread", 7},
                  {"Interface Descriptor.Number of Threads in GPGPU Thread Group", 32},
                  {"Interface Descriptor.Shared Local Memory Size", 7},
                  {"Interface Descriptor.Number Of Barriers", 1},
                  {"Post Sync.Operation", 1},
                  {"Post Sync.Destination Address", 0x6000},
                  {"Inline Data[15]", 0x77},
                  {"Post Sync Opn 3.Operation", 2}}});
  return all;
}

class Commands : public testing::TestWithParam<Command> {};

TEST_P(Commands, AreReadWholeByAllGenerationsThatHaveThem) {
  const Command& command = GetParam();
  for (const std::string& generation :
       std::vector<std::string>(absl::StrSplit(command.generations, ' '))) {
    SCOPED_TRACE(generation);
    std::vector<uint32_t> batch = command.dwords;
    batch.push_back(kNoop);
    batch.push_back(kEnd);
    World world;
    world.Put(0x4000, batch).Submit(0x4000, 0, "", command.engine);
    const Story story = Tell(TablesOfGeneration(generation), world);
    EXPECT_THAT(story.Packets(), ElementsAre(command.name, "MI_NOOP", "MI_BATCH_BUFFER_END"));
    EXPECT_THAT(story.problems, IsEmpty());
    EXPECT_EQ(story.summary.unknown_dwords, 0u);
    ASSERT_FALSE(story.records.empty());
    EXPECT_EQ(story.records[0].bytes.size(), 4 * command.dwords.size());
    for (const auto& [field, value] : command.fields) {
      EXPECT_EQ(story.records[0].Number(field), value) << field;
    }
    for (const Fault& fault : story.records[0].faults) {
      EXPECT_EQ(fault.kind, FaultKind::kUnmapped) << fault.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfRings, Commands, testing::ValuesIn(CommandsOfRings()));
INSTANTIATE_TEST_SUITE_P(OfNewerDrivers, Commands, testing::ValuesIn(CommandsOfNewerDrivers()));
INSTANTIATE_TEST_SUITE_P(OfMedia, Commands, testing::ValuesIn(CommandsOfMedia()));
INSTANTIATE_TEST_SUITE_P(OfTheBlitter, Commands, testing::ValuesIn(Blits()));

// The kernel's first dword, and the name of its batch's space.
class BatchStarts : public testing::TestWithParam<std::pair<std::string, uint32_t>> {};

TEST_P(BatchStarts, HaveTwoDwordsAndLeadToTheBatch) {
  const auto& [generations, word] = GetParam();
  for (const std::string& generation : std::vector<std::string>(absl::StrSplit(generations, ' '))) {
    SCOPED_TRACE(generation);
    World world;
    world.Put(0x10000, {word, 0x2000, kUserInterrupt, kNoop}, kGlobal).Put(0x2000, {kNoop, kEnd});
    world.Submit(0x10000, 16, "", "render");
    world.last().space = kGlobal;
    world.last().own_space = 0;
    world.last().ring = Submission::Ring{0x10000, 16};
    const Story story = Tell(TablesOfGeneration(generation), world);
    EXPECT_THAT(story.Packets(),
                ElementsAre("MI_BATCH_BUFFER_START", "MI_NOOP", "MI_BATCH_BUFFER_END",
                            "MI_USER_INTERRUPT", "MI_NOOP"));
    EXPECT_THAT(story.problems, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(OfKernels, BatchStarts,
                         testing::Values(std::pair("gfx4 gfx45 gfx5 gfx6 gfx7", 0x18800180u),
                                         std::pair("gfx6 gfx7", 0x18800100u),
                                         std::pair("gfx75", 0x18802100u)));

// How far a walk goes on after a command that is not described: the kernel's command parser steps
// over it with the same masks.
struct Unknown {
  std::vector<uint32_t> dwords;
  friend void PrintTo(const Unknown& unknown, std::ostream* out) {
    *out << absl::StrCat(absl::Hex(unknown.dwords[0], absl::kZeroPad8));
  }
};

class UnknownCommands : public testing::TestWithParam<Unknown> {};

TEST_P(UnknownCommands, AreAsLongAsTheirClientSays) {
  for (const char* const generation : {"gfx4", "gfx6", "gfx9", "xe2"}) {
    SCOPED_TRACE(generation);
    std::vector<uint32_t> batch = GetParam().dwords;
    const size_t dwords = batch.size();
    batch.push_back(kUserInterrupt);
    batch.push_back(kEnd);
    World world;
    world.Put(0x4000, batch).Submit(0x4000);
    const Story story = Tell(TablesOfGeneration(generation), world);
    EXPECT_THAT(story.Packets(), ElementsAre("?", "MI_USER_INTERRUPT", "MI_BATCH_BUFFER_END"));
    EXPECT_EQ(story.summary.unknown_dwords, dwords);
  }
}

// Commands of the memory interface have six bits of length, with flags above; one of the common 3D
// commands has none; media commands have twelve.
INSTANTIATE_TEST_SUITE_P(OfEachClient, UnknownCommands,
                         testing::Values(Unknown{{0x1f8000c1, 0, 0}}, Unknown{{0x4fc00001, 0, 0}},
                                         Unknown{{0x7fff0001, 0, 0}}, Unknown{{0x6fff0003}},
                                         Unknown{std::vector<uint32_t>(0x202, 0x77ff0200)}));

}  // namespace
}  // namespace packsmith::decode
