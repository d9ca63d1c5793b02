#include "runtime/dump/read.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/dump/compressed.h"
#include "tests/dump/core_builder.h"

namespace packsmith {
namespace {

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

using Compress = std::string (*)(const std::string&);
constexpr Compress kBoth[] = {Zstd, Gzip};

std::string Noise(size_t size, uint32_t seed = 3) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string Text(const FileBytes& file) {
  return std::string(file.bytes.begin(), file.bytes.end());
}

std::string Core() {
  CoreBuilder core;
  core.Notes(CoreBuilder::Note(0x50530001, R"({"family": "intel", "verx10": 90})"));
  core.Load(0, 0x1000, "data", 4096);
  return core.Build();
}

absl::StatusOr<Dump> Read(std::string bytes, const RawOptions& options = {}) {
  return ReadDump(BytesOf(std::move(bytes), "input"), options);
}

// ---- compression ----

// An i915 error state, with text before each line and before all of it.
std::string ErrorState(absl::string_view mark, absl::string_view prefix) {
  return absl::StrCat(mark, prefix, "GPU HANG: ecode 9:1:0x85dffffb\n", prefix, "PCI ID: 0x1912\n",
                      prefix, "rcs0 command stream:\n", prefix,
                      "  HEAD:  0x00000010 [0x00000008]\n");
}

TEST(ReadDump, KernelLogsAndByteOrderMarksAreTakenOff) {
  for (const char* mark : {"", "\xef\xbb\xbf"}) {
    for (const char* prefix : {"", "[   12.345678] ", "[   12.345678] i915 0000:00:02.0: [drm] ",
                               "Nov 22 14:00:00 host kernel: "}) {
      const absl::StatusOr<Dump> dump = ReadDump(BytesOf(ErrorState(mark, prefix)));
      ASSERT_TRUE(dump.ok()) << dump.status() << prefix;
      ASSERT_NE(dump->error_state, nullptr);
      EXPECT_EQ(dump->error_state->title, "GPU HANG: ecode 9:1:0x85dffffb") << prefix;
      EXPECT_EQ(dump->device.pci_id, 0x1912u) << prefix;
      ASSERT_EQ(dump->error_state->engines.size(), 1u) << prefix;
      ASSERT_NE(dump->error_state->engines[0].Find("HEAD"), nullptr) << prefix;
      EXPECT_EQ(dump->error_state->engines[0].Find("HEAD")->value, 0x10u) << prefix;
    }
  }
}

TEST(ReadRaw, OfAnIntelGenerationHasItsAddressInOneForm) {
  RawOptions options;
  options.generation = "gfx9";
  options.address = 0xffff'fffe'effe'0000;
  const absl::StatusOr<Dump> dump = ReadRaw(BytesOf(std::string(64, '\1')), options);
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_EQ(dump->submissions[0].batch_address, 0xfffe'effe'0000u);
  EXPECT_NE(dump->memory.Find(0, 0xfffe'effe'003f), nullptr);
}

TEST(DecompressTest, PassesOtherBytesThrough) {
  for (const char* text : {"", "x", "\x1f\x8b",
                           "\x7f"
                           "ELF"}) {
    const absl::StatusOr<Decompressed> result = Decompress(BytesOf(std::string(text)));
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(Text(result->file), text);
    EXPECT_FALSE(result->problem.has_value());
  }
}

TEST(DecompressTest, UnpacksOneOrSeveralFrames) {
  for (const Compress compress : kBoth) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{262144}, size_t{3000000}}) {
      const std::string text = Noise(size);
      absl::StatusOr<Decompressed> result =
          Decompress(BytesOf(compress(text) + compress("") + compress(text)));
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(Text(result->file), text + text);
      EXPECT_FALSE(result->problem.has_value());
    }
  }
}

TEST(DecompressTest, StopsAtTheLimit) {
  for (const Compress compress : kBoth) {
    const std::string bomb = compress(std::string(50'000'000, '\0'));
    EXPECT_EQ(Decompress(BytesOf(bomb), 49'999'999).status().code(),
              absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(Decompress(BytesOf(bomb), 50'000'000).ok());
  }
}

TEST(DecompressTest, DataCutOffYieldsThePartBefore) {
  for (const Compress compress : kBoth) {
    const std::string text = Noise(1'000'000);
    const std::string packed = compress(text);
    const absl::StatusOr<Decompressed> half = Decompress(BytesOf(packed.substr(0, 500'000)));
    ASSERT_TRUE(half.ok()) << half.status();
    ASSERT_TRUE(half->problem.has_value());
    EXPECT_NE(half->problem->text.find("cut off"), std::string::npos);
    EXPECT_GT(half->file.bytes.size(), 100'000u);
    EXPECT_EQ(Text(half->file), text.substr(0, half->file.bytes.size()));
    EXPECT_EQ(half->problem->offset, half->file.bytes.size());
    EXPECT_EQ(Decompress(BytesOf(packed.substr(0, 5))).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(DecompressTest, EveryCutAndEveryFlippedByteIsSurvived) {
  for (const Compress compress : kBoth) {
    const std::string packed = compress(Noise(300) + std::string(300, 'a'));
    for (size_t i = 0; i < packed.size(); ++i) {
      static_cast<void>(Decompress(BytesOf(packed.substr(0, i)), 1 << 20));
      std::string flipped = packed;
      flipped[i] = static_cast<char>(~flipped[i]);
      static_cast<void>(Decompress(BytesOf(flipped), 1 << 20));
    }
  }
}

TEST(DecompressTest, ZerosAfterGzipArePaddingOtherBytesAreReported) {
  EXPECT_FALSE(Decompress(BytesOf(Gzip("text") + std::string(9, '\0')))->problem.has_value());
  const absl::StatusOr<Decompressed> result = Decompress(BytesOf(Gzip("text") + "more"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Text(result->file), "text");
  EXPECT_TRUE(result->problem.has_value());
}

TEST(DecompressTest, UnpacksOneLevelOnly) {
  const std::string twice = Zstd(Zstd("text"));
  EXPECT_EQ(Text(Decompress(BytesOf(twice))->file), Zstd("text"));
}

// ---- formats ----

TEST(ReadDumpTest, DetectsTheFormat) {
  absl::StatusOr<Dump> core = Read(Core());
  ASSERT_TRUE(core.ok()) << core.status();
  EXPECT_EQ(core->device.generation, "gfx9");
  absl::StatusOr<Dump> hex = Read("# pasted\n2000: 64617461\n");
  ASSERT_TRUE(hex.ok()) << hex.status();
  EXPECT_EQ(hex->memory.Read(0, 0x2000, 9).size(), 4u);
  absl::StatusOr<Dump> raw = Read(std::string("\0\0\0\x05", 4));
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_EQ(raw->memory.Read(0, 0, 9).size(), 4u);
}

TEST(ReadDumpTest, UnpacksAnyFormat) {
  for (const Compress compress : kBoth) {
    for (const std::string& input :
         {Core(), std::string("2000: 64617461\n"), std::string("\0\0\0\x05", 4)}) {
      const absl::StatusOr<Dump> plain = Read(input);
      const absl::StatusOr<Dump> packed = Read(compress(input));
      ASSERT_TRUE(plain.ok() && packed.ok()) << packed.status();
      EXPECT_EQ(plain->device, packed->device);
      EXPECT_EQ(plain->submissions, packed->submissions);
      EXPECT_EQ(plain->problems, packed->problems);
      ASSERT_EQ(plain->memory.segments().size(), packed->memory.segments().size());
      EXPECT_EQ(plain->memory.segments().begin()->bytes, packed->memory.segments().begin()->bytes);
    }
  }
}

TEST(ReadDumpTest, TheFormatMayBeForced) {
  RawOptions options;
  options.format = "raw";
  options.address = 0x100;
  EXPECT_EQ(Read(Core(), options)->memory.Read(0, 0x100, 4)[0], 0x7f);
  EXPECT_EQ(Read("64617461", options)->memory.Read(0, 0x100, 4)[0], '6');
  options.format = "hex";
  EXPECT_EQ(Read("64617461", options)->memory.Read(0, 0x100, 4)[0], 0x61);
  EXPECT_EQ(Read(Core(), options).status().code(), absl::StatusCode::kInvalidArgument);
  options.format = "elf";
  EXPECT_EQ(Read("64617461", options).status().code(), absl::StatusCode::kInvalidArgument);
  options.format = "elephant";
  EXPECT_EQ(Read("64617461", options).status().message(),
            "unknown format \"elephant\": expected one of elf, aub, hang-dump, xe-devcoredump, "
            "i915-error, hex, raw");
}

TEST(ReadDumpTest, ErrorsInTextNameTheFile) {
  EXPECT_EQ(Read("00000001 5").status().message(),
            "input:1:10: expected a word of 8 hex digits, found \"5\"");
}

TEST(ReadDumpTest, TextInNoKnownFormatIsNotTakenForABatch) {
  const absl::Status status = Read("Dear diary,\n").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("name the format"), absl::string_view::npos);
}

TEST(ReadDumpTest, WhatIsPackedTwiceIsUnpackedTwice) {
  for (const std::string& packed : {Gzip(Zstd(Core())), Zstd(Gzip(Core())), Gzip(Gzip(Core())),
                                    Zstd(Zstd(Gzip(Gzip(Core()))))}) {
    const absl::StatusOr<Dump> dump = Read(packed);
    ASSERT_TRUE(dump.ok()) << dump.status();
    EXPECT_EQ(dump->device.generation, "gfx9");
    EXPECT_TRUE(dump->problems.empty());
  }
  // But not without bound.
  const absl::Status often = Read(Zstd(Zstd(Zstd(Zstd(Zstd(Core())))))).status();
  EXPECT_EQ(often.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(often.message().find("more than 4 times"), absl::string_view::npos);
}

TEST(ReadDumpTest, WhatIsMissingOfTheOuterPackingIsReported) {
  const std::string packed = Zstd(Gzip(Noise(500'000)));
  const absl::StatusOr<Dump> dump = Read(packed.substr(0, packed.size() / 2));
  ASSERT_TRUE(dump.ok()) << dump.status();
  ASSERT_FALSE(dump->problems.empty());
  EXPECT_NE(dump->problems.back().text.find("zstd data cut off"), std::string::npos);
}

// Formats that other programs unpack or convert, and a word of the message about each.
std::vector<std::pair<std::string, std::string>> ForeignFiles() {
  const std::string zeros(600, '\0');
  std::string tar = "error" + zeros, old_tar = "error" + zeros;
  tar.replace(257, 5, "ustar");
  // The letters of the name, and eight blanks in place of the checksum, in octal.
  old_tar.replace(148, 7, "0001452");
  std::string utf16le, utf16be;
  for (const char c : std::string("GPU HANG: ecode 9:0:00000000\nPCI ID: 0x1912\n")) {
    utf16le += {c, '\0'};
    utf16be += {'\0', c};
  }
  return {
      {std::string("\xfd\x37zXZ\0", 6) + zeros, "xz -dc"},
      {std::string("\x5d\0\0\x80\0", 5) + std::string(8, '\xff') + zeros, "xz -dc"},
      {"BZh91AY&SY" + zeros, "bzip2 -dc"},
      {"\x04\x22\x4d\x18" + zeros, "lz4 -dc"},
      {"\x1f\x9d\x90" + zeros, "gzip -dc"},
      {"PK\x03\x04" + zeros, "zip archive"},
      {"7z\xbc\xaf\x27\x1c" + zeros, "7z archive"},
      {tar, "tar archive"},
      {old_tar, "tar archive"},
      {"!<arch>\nerror/   ", "ar archive"},
      {"\xff\xfe" + utf16le, "iconv -f UTF-16"},
      {"\xfe\xff" + utf16be, "iconv -f UTF-16"},
      {utf16le, "iconv -f UTF-16"},
      {utf16be, "iconv -f UTF-16"},
      {"", "is empty"},
  };
}

TEST(ReadDumpTest, FormatsOfOtherProgramsAreNamedWithARemedy) {
  RawOptions options;
  for (const auto& [bytes, word] : ForeignFiles()) {
    for (const char* generation : {"", "gfx9"}) {
      options.generation = generation;
      for (const std::string& input : {bytes, Gzip(bytes)}) {
        const absl::Status status = Read(input, options).status();
        EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << word;
        EXPECT_NE(status.message().find(word), absl::string_view::npos) << status << word;
        EXPECT_EQ(status.message().substr(0, 6), "input:");
      }
    }
  }
}

TEST(ReadDumpTest, BytesThatAreCalledRawAreNotHeldForAnotherFormat) {
  RawOptions options;
  options.format = "raw";
  for (const auto& [bytes, word] : ForeignFiles()) {
    const absl::StatusOr<Dump> dump = Read(bytes, options);
    ASSERT_TRUE(dump.ok()) << dump.status();
    EXPECT_EQ(dump->submissions[0].batch_length, bytes.size()) << word;
  }
}

TEST(ReadDumpTest, ShortAndOrdinaryBatchesAreNoForeignFormat) {
  for (const std::string& batch :
       {std::string("\xff\xfe\0\x05", 4), std::string("\x5d\0\0\0", 4), std::string(600, '\0'),
        std::string("\x1f\x9d\xff\x7a", 4), std::string("BZh", 3) + '\0'}) {
    EXPECT_TRUE(Read(batch).ok()) << Read(batch).status();
  }
}

TEST(ReadDumpTest, ACompressedCoreThatIsCutOffKeepsItsGoodPart) {
  CoreBuilder core;
  core.Load(0, 0x1000, Noise(500'000), 500'000);
  core.Load(1, 0x1000, Noise(500'000, 4), 500'000);
  const std::string packed = Zstd(core.Build());
  const absl::StatusOr<Dump> dump = Read(packed.substr(0, packed.size() * 3 / 4));
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_EQ(dump->memory.Read(0, 0x1000, 500'000).size(), 500'000u);
  EXPECT_LT(dump->memory.Read(1, 0x1000, 500'000).size(), 500'000u);
  EXPECT_NE(dump->problems.back().text.find("zstd data cut off"), std::string::npos);
}

TEST(ReadDumpTest, LimitsApplyToWhatIsUnpacked) {
  RawOptions options;
  options.max_bytes = 100;
  EXPECT_EQ(Read(Zstd(std::string(1000, '\0')), options).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ReadDumpTest, MissingFilesAreNamed) {
  const absl::Status status = ReadDump("/no/such/file").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("/no/such/file"), absl::string_view::npos);
}

// ---- raw ----

TEST(ReadRawTest, OneSubmissionOverAllBytes) {
  RawOptions options;
  options.generation = "gfx12";
  options.engine = "compute";
  options.address = 0x1000;
  options.context = 4;
  options.slot = 5;
  options.space = 6;
  options.stream = "cdm";
  absl::StatusOr<Dump> dump = ReadRaw(BytesOf(std::string(64, 'x')), options);
  ASSERT_TRUE(dump.ok());
  EXPECT_EQ(dump->device.verx10, 120);
  ASSERT_EQ(dump->submissions.size(), 1u);
  EXPECT_EQ(dump->submissions[0], (Submission{.engine = "compute",
                                              .context = 4,
                                              .slot = 5,
                                              .space = 6,
                                              .batch_address = 0x1000,
                                              .batch_length = 64,
                                              .stream = "cdm",
                                              .bare = true}));
  options.batch_address = 0x1010;
  EXPECT_EQ(ReadRaw(BytesOf(std::string(64, 'x')), options)->submissions[0].batch_length, 48u);
  options.batch_address = 0x10;
  EXPECT_EQ(ReadRaw(BytesOf(std::string(64, 'x')), options)->submissions[0].batch_length, 0u);
}

TEST(ReadRawTest, OddSizesAndEmptyInputAreReported) {
  EXPECT_EQ(ReadRaw(BytesOf(std::string("abcde")), {})->problems.size(), 1u);
  EXPECT_EQ(ReadRaw(BytesOf(std::string()), {})->problems.size(), 1u);
  EXPECT_EQ(ReadRaw(BytesOf(std::string("abcd")), {})->problems.size(), 0u);
}

TEST(ReadRawTest, RefusesAddressesPastTheTop) {
  RawOptions options;
  options.address = ~uint64_t{0};
  EXPECT_EQ(ReadRaw(BytesOf(std::string("abcd")), options).status().code(),
            absl::StatusCode::kOutOfRange);
}

// ---- real captures ----

TEST(CapturesTest, RealCoresReadWithoutProblems) {
  for (const auto& [name, driver] :
       std::vector<std::pair<std::string, std::string>>{{"skl-vulkaninfo/00", "anv"},
                                                        {"skl-vulkaninfo/01", "anv"},
                                                        {"skl-gl-basic/00", "iris"},
                                                        {"skl-gl-basic/01", "iris"},
                                                        {"skl-gl-basic/02", "iris"},
                                                        {"skl-gl-basic/03", "iris"},
                                                        {"skl-gl-basic/04", "iris"}}) {
    absl::StatusOr<Dump> dump = ReadDump("tests/data/captures/" + name + ".core.zst");
    ASSERT_TRUE(dump.ok()) << dump.status();
    EXPECT_TRUE(dump->problems.empty()) << name << ": " << dump->problems[0].text;
    EXPECT_EQ(dump->device.generation, "gfx9");
    EXPECT_EQ(dump->device.driver, driver);
    EXPECT_EQ(dump->device.pci_id, 0x1912u);
    ASSERT_EQ(dump->submissions.size(), 1u);
    const Submission& submission = dump->submissions[0];
    EXPECT_EQ(submission.engine, "render");
    EXPECT_GE(submission.batch_length, 4u);
    EXPECT_FALSE(
        dump->memory.Read(submission.space, submission.batch_address, submission.batch_length)
            .empty())
        << name;
    EXPECT_NE(dump->FindBuffer(submission.space, submission.batch_address), nullptr);
  }
}

// ---- directories ----

class DumpsInTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) / test.name();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void Put(const std::string& name) {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "x";
  }
  // Their names, after the directory's.
  std::vector<std::string> Found() {
    absl::StatusOr<std::vector<std::string>> found = DumpsIn(directory_.string());
    if (!found.ok()) return {std::string(found.status().message())};
    for (std::string& path : *found) path = path.substr(directory_.string().size() + 1);
    return *found;
  }

  std::filesystem::path directory_;
};

TEST_F(DumpsInTest, AnErrorStateIsTheOneFileThatCounts) {
  Put("error");
  Put("uevent");
  Put("00.core");
  EXPECT_EQ(Found(), std::vector<std::string>{"error"});
}

TEST_F(DumpsInTest, ADeviceCoreDumpComesBeforeTheErrorState) {
  Put("error");
  Put("device/devcoredump/data");
  EXPECT_EQ(Found(), std::vector<std::string>{"device/devcoredump/data"});
}

TEST_F(DumpsInTest, FilesMayBePacked) {
  Put("data.zst");
  Put("readme");
  EXPECT_EQ(Found(), std::vector<std::string>{"data.zst"});
}

TEST_F(DumpsInTest, CoreDumpsComeInOrder) {
  Put("01.core.gz");
  Put("00.core");
  Put("10.core.zst");
  Put("oracle.txt");
  EXPECT_EQ(Found(), (std::vector<std::string>{"00.core", "01.core.gz", "10.core.zst"}));
}

TEST_F(DumpsInTest, NumbersInNamesCount) {
  for (const char* name : {"job-10.core", "job-2.core", "job-1.core.zst", "job-02.core",
                           "job-100.core", "job.core", "jobs.core", "job-9-b.core", "job-9.core"}) {
    Put(name);
  }
  EXPECT_EQ(Found(), (std::vector<std::string>{"job-1.core.zst", "job-02.core", "job-2.core",
                                               "job-9-b.core", "job-9.core", "job-10.core",
                                               "job-100.core", "job.core", "jobs.core"}));
}

TEST_F(DumpsInTest, NumbersThatNoIntegerHoldsCountToo) {
  const std::string large(40, '9'), larger = "1" + std::string(40, '0');
  Put(larger + ".core");
  Put(large + ".core");
  EXPECT_EQ(Found(), (std::vector<std::string>{large + ".core", larger + ".core"}));
}

TEST_F(DumpsInTest, AnOnlyFileIsMeant) {
  Put("hang.txt");
  EXPECT_EQ(Found(), std::vector<std::string>{"hang.txt"});
}

TEST_F(DumpsInTest, WhereNothingIsMeantThatIsSaid) {
  Put("a.txt");
  Put("b.txt");
  EXPECT_NE(Found()[0].find("has no dump"), std::string::npos);
  EXPECT_EQ(DumpsIn("/nonexistent").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace packsmith
