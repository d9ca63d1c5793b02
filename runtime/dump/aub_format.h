// The numbers of AUB packets. Internal to the reader and the writer.
//
// Sources: Mesa 24.3, src/intel/tools/intel_aub.h and aub_write.c, src/intel/dev (simulator ids);
// intel/aubstream, aub_mem_dump/includes/aub_services.h and aub_header.h; IGT, lib/intel_aub.h.

#ifndef PACKSMITH_RUNTIME_DUMP_AUB_FORMAT_H_
#define PACKSMITH_RUNTIME_DUMP_AUB_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "runtime/dump/aub.h"

namespace packsmith::aub_format {

// The first word: bits 31:29 type, 28:23 family, 22:16 operation, 15:0 length.
inline constexpr uint32_t kType = 7, kClassic = 0x01, kMemoryTrace = 0x2e;
constexpr uint32_t TypeOf(uint32_t word) { return word >> 29; }
constexpr uint32_t FamilyOf(uint32_t word) { return word >> 23 & 0x3f; }
constexpr uint32_t OperationOf(uint32_t word) { return word >> 16 & 0x7f; }
constexpr uint32_t LengthOf(uint32_t word) { return word & 0xffff; }
constexpr uint32_t FirstWord(uint32_t family, uint32_t operation, uint32_t length) {
  return kType << 29 | family << 23 | operation << 16 | length;
}
// What the length of a family omits, in words.
inline constexpr uint32_t kClassicBias = 2, kMemoryTraceBias = 1;

// Operations of the classic family.
inline constexpr uint32_t kHeader = 0x05, kContextCreate = 0x14, kBinaryDump = 0x15, kBmp = 0x1e,
                          kBlock = 0x41;
// kHeader: words with the name of the program, and where the comment is.
inline constexpr size_t kHeaderCommentSize = 12, kHeaderComment = 13;
inline constexpr uint32_t kHeaderVersion = 4u << 24;
// kBlock: bits 7:0 of word 1 say what it does, 15:8 the type of its data, 23:16 the address space.
inline constexpr uint32_t kDataWrite = 1, kCommandWrite = 2;
inline constexpr size_t kBlockAddress = 3, kBlockSize = 4, kBlockAddressHigh = 5, kBlockWords = 5;
inline constexpr uint32_t kClassicGlobal = 0, kClassicLocal = 1, kClassicNonlocal = 2,
                          kClassicEntry = 4;
struct RingType {
  uint32_t type;
  absl::string_view engine;
};
inline constexpr RingType kRings[] = {{2, "render"}, {3, "video"}, {4, "blitter"}};

// Operations of the memory trace.
inline constexpr uint32_t kRegisterPoll = 0x02, kRegisterWrite = 0x03, kMemoryWrite = 0x06,
                          kComment = 0x08, kDiscontiguous = 0x0b, kVersionExt = 0x0e;
struct OperationName {
  uint32_t operation;
  absl::string_view name;
  // Nothing is lost if it is skipped: it waits, compares or marks.
  bool without_effect;
};
inline constexpr OperationName kOperations[] = {
    {0x00, "VERSION", true},
    {0x01, "REGISTER_COMPARE", true},
    {kRegisterPoll, "REGISTER_POLL", true},
    {kRegisterWrite, "REGISTER_WRITE", false},
    {0x04, "MEMORY_COMPARE", true},
    {0x05, "MEMORY_POLL", true},
    {kMemoryWrite, "MEMORY_WRITE", false},
    {0x07, "FRAME_BEGIN", true},
    {kComment, "COMMENT", false},
    {0x09, "DELAY", true},
    {0x0a, "MEMORY_DUMP", true},
    {kDiscontiguous, "MEMORY_WRITE_DISCONTIGUOUS", false},
    {0x0c, "TEST_PHASE_MARKER", true},
    {0x0d, "MEMORY_CONTINUOUS_REGION", true},
    {kVersionExt, "VERSION_EXT", false},
    {0x0f, "PREDICATE", true},
    {0x10, "DUMP_COMPRESS", true},
};

// kVersionExt: word 2, and where the text is.
constexpr uint32_t DeviceOf(uint32_t word) { return word >> 8 & 0xff; }
inline constexpr uint32_t kFileVersion = 1, kPhysical = 1u << 18, kToolAubDump = 4u << 28;
inline constexpr size_t kVersionDevice = 2, kVersionText = 5;
struct DeviceNumber {
  uint32_t number;
  absl::string_view platform;
  int verx10;
};
// Of numbers that tools use for several platforms the first one.
inline constexpr DeviceNumber kDevices[] = {
    {7, "ivb", 70},     {9, "hsw", 75},     {10, "vlv", 70},    {11, "bdw", 80},  {12, "skl", 90},
    {13, "chv", 80},    {14, "bxt", 90},    {16, "kbl", 90},    {17, "glk", 90},  {19, "icl", 110},
    {22, "tgl", 120},   {24, "cfl", 90},    {28, "ehl", 110},   {29, "dg2", 125}, {30, "dg1", 120},
    {0x22, "adl", 120}, {0x24, "dg2", 125}, {0x25, "adl", 120}, {42, "mtl", 125}, {43, "bmg", 200},
    {45, "lnl", 200},   {51, "ptl", 300},
};

// Register writes: word 1 offset, 2 (19:16 size, 31:28 space), 3 and 4 mask, then data.
inline constexpr size_t kRegisterData = 5;
inline constexpr uint32_t kSizeDword = 2u << 16, kSizeQword = 3u << 16;
constexpr uint32_t SizeOf(uint32_t word) { return word >> 16 & 0xf; }
inline constexpr uint32_t kSpaceMmio = 0;
// Memory writes: words 1 and 2 address, 3 flags, 4 bytes, then data.
inline constexpr size_t kWriteFlags = 3, kWriteSize = 4, kWriteData = 5;
inline constexpr uint32_t kRepeat = 1u << 1;
constexpr uint32_t TilingOf(uint32_t flags) { return flags >> 2 & 3; }
constexpr uint32_t HintOf(uint32_t flags) { return flags >> 20 & 0xff; }
constexpr uint32_t SpaceOf(uint32_t word) { return word >> 28; }
inline constexpr uint32_t kFirstTableHint = 65, kLastTableHint = 69;
// kDiscontiguous: word 1 flags (without a hint, in its place 19:4 the number of pairs), 2.. pairs
// of an address of two words and a size in bytes, then data.
constexpr uint32_t PairsOf(uint32_t flags) { return flags >> 4 & 0xffff; }
inline constexpr size_t kPairs = 2, kPairWords = 3, kMostPairs = 63;
inline constexpr size_t kPairsData = kPairs + kPairWords * kMostPairs;

// By number. Entries of page tables are at physical addresses of system memory.
inline constexpr AubSpace kSpaces[] = {
    AubSpace::kGlobal,       // 0 GTT graphics
    AubSpace::kDevice,       // 1 local
    AubSpace::kSystem,       // 2 nonlocal
    AubSpace::kSystem,       // 3 GTT PD entry
    AubSpace::kGlobalEntry,  // 4
    AubSpace::kProcess,      // 5 PPGTT graphics
    AubSpace::kSystem,       // 6 PPGTT entry
    AubSpace::kGlobal,       // 7 non-aperture GTT graphics
    AubSpace::kSystem,       // 8 physical PDP entry
    AubSpace::kSystem,       // 9 PPGTT PD entry
    AubSpace::kSystem,       // 10 PML4 entry
};
inline constexpr uint32_t kGlobalNumber = 0, kDeviceNumber = 1, kSystemNumber = 2, kEntryNumber = 4;
// Of spaces that hold only page tables.
constexpr bool IsTableSpace(uint32_t space) {
  return space == 6 || space == 8 || space == 9 || space == 10;
}

}  // namespace packsmith::aub_format

#endif  // PACKSMITH_RUNTIME_DUMP_AUB_FORMAT_H_
