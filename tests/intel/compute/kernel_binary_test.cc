// Kernels in files of Intel's compilers: a file made here, piece by piece, and damaged.
#include "runtime/intel/compute/kernel_binary.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

constexpr uint32_t kText = 1, kZeInfo = 0xff000011;

constexpr char kInfo[] = R"(---
version:         '1.20'
kernels:
  - name:            add
    user_attributes:
      reqd_work_group_size: [ 32, 1, 1 ]
    execution_env:
      barrier_count:   1
      grf_count:       128
      inline_data_payload_size: 32
      offset_to_skip_per_thread_data_load: 192
      required_work_group_size: [ 32, 2, 1 ]
      simd_size:       32
      slm_size:        4096
    payload_arguments:
      - arg_type:        local_size
        offset:          12
        size:            12
      - arg_type:        arg_bypointer
        offset:          0
        size:            0
        arg_index:       1
        addrmode:        stateful
      - arg_type:        arg_byvalue
        offset:          32
        size:            8
        arg_index:       0
      - arg_type:        arg_byvalue
        offset:          40
        size:            4
        arg_index:       0
        source_offset:   8
    per_thread_payload_arguments:
      - arg_type:        local_id
        offset:          0
        size:            192
    per_thread_memory_buffers:
      - type:            scratch
        usage:           spill_fill_space
        size:            2048
    binding_table_indices:
      - bti_value:       3
        arg_index:       1
  - name:            'copy'
    execution_env:
      grf_count:       256
      simd_size:       8
    per_thread_payload_arguments:
      - arg_type:        local_id
        offset:          0
        size:            96
  - name:            Intel_Symbol_Table_Void_Program
    execution_env:
      simd_size:       8
kernels_misc_info:
  - name:            add
    args_info:
      - index:           0
        name:            'a: b'
...
)";

struct Section {
  std::string name;
  uint32_t type = kText;
  std::string bytes;
};

std::vector<Section> Good(std::string info = kInfo) {
  return {{".text.add", kText, std::string(256, 'a')},
          {".text.copy", kText, std::string(64, 'c')},
          {".ze_info", kZeInfo, std::move(info)}};
}

std::vector<uint8_t> MakeFile(std::vector<Section> sections, uint16_t machine = 205) {
  std::string names(1, '\0');
  std::vector<uint32_t> at;
  sections.push_back({".strtab", 3, ""});
  for (const Section& section : sections) {
    at.push_back(static_cast<uint32_t>(names.size()));
    absl::StrAppend(&names, section.name, absl::string_view("\0", 1));
  }
  sections.back().bytes = names;
  std::vector<uint8_t> file(64);
  const auto put = [&](size_t offset, uint64_t value, unsigned bytes) {
    std::memcpy(file.data() + offset, &value, bytes);
  };
  std::vector<uint64_t> offsets;
  for (const Section& section : sections) {
    offsets.push_back(file.size());
    file.insert(file.end(), section.bytes.begin(), section.bytes.end());
  }
  const uint64_t table = file.size();
  file.resize(table + 64 * (sections.size() + 1));  // the first one is null
  std::memcpy(file.data(),
              "\x7f"
              "ELF\2\1\1",
              7);
  put(0x10, 1, 2);
  put(0x12, machine, 2);
  put(0x28, table, 8);
  put(0x3a, 64, 2);
  put(0x3c, sections.size() + 1, 2);
  put(0x3e, sections.size(), 2);
  for (size_t i = 0; i < sections.size(); ++i) {
    const size_t header = table + 64 * (i + 1);
    put(header, at[i], 4);
    put(header + 4, sections[i].type, 4);
    put(header + 0x18, offsets[i], 8);
    put(header + 0x20, sections[i].bytes.size(), 8);
  }
  return file;
}

absl::Status ErrorOf(absl::Span<const uint8_t> file) { return ReadKernelBinaries(file).status(); }

// The good file with something else in .ze_info.
absl::Status ErrorWith(absl::string_view from, absl::string_view to) {
  const std::string info = absl::StrReplaceAll(kInfo, {{from, to}});
  EXPECT_NE(info, kInfo);
  return ErrorOf(MakeFile(Good(info)));
}

TEST(KernelBinaryTest, AKernelIsAsTheFileHasIt) {
  const std::vector<uint8_t> file = MakeFile(Good());
  const absl::StatusOr<std::vector<KernelBinary>> kernels = ReadKernelBinaries(file);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 2u);
  const KernelBinary& add = (*kernels)[0];
  EXPECT_EQ(add.name, "add");
  EXPECT_EQ(std::string(add.instructions.begin(), add.instructions.end()), std::string(256, 'a'));
  EXPECT_EQ(add.entry, 192u);
  EXPECT_EQ(add.simd, 32u);
  EXPECT_EQ(add.registers, 128u);
  EXPECT_EQ(add.scratch, 2048u);
  EXPECT_EQ(add.local_id_bytes, 192u);
  EXPECT_EQ(add.kernel.local_size, (std::array<uint32_t, 3>{32, 2, 1}));
  EXPECT_EQ(add.kernel.shared_bytes, 4096u);
  EXPECT_EQ(add.kernel.barriers, 1u);
  EXPECT_EQ(add.kernel.inline_bytes, 32u);
  EXPECT_EQ(add.kernel.constant_bytes, 44u);
  EXPECT_EQ(add.kernel.local_ids, LocalIds::kHardware);
  EXPECT_EQ(add.kernel.local_id_components, 3u);
  EXPECT_EQ(add.kernel.binding_table_entries, 4u);
  ASSERT_EQ(add.arguments.size(), 4u);
  EXPECT_EQ(add.Find(0), &add.arguments[2]);
  EXPECT_EQ(add.Find(0)->offset, 32u);
  EXPECT_EQ(add.Find(0)->size, 8u);
  EXPECT_EQ(add.arguments[3].source_offset, 8u);
  EXPECT_EQ(add.Find(1), nullptr);  // not in the constants
  EXPECT_EQ(add.Find("local_size"), &add.arguments[0]);
  EXPECT_EQ(add.Find("local_size")->index, std::nullopt);
  EXPECT_EQ(add.Find("global_id_offset"), nullptr);

  const KernelBinary& copy = (*kernels)[1];
  EXPECT_EQ(copy.name, "copy");
  EXPECT_EQ(copy.entry, 0u);
  EXPECT_EQ(copy.registers, 256u);
  EXPECT_EQ(copy.kernel.local_ids, LocalIds::kInMemory);
  EXPECT_EQ(copy.kernel.constant_bytes, 0u);
}

TEST(KernelBinaryTest, ALoadedKernelHasItsEntryWhereThreadsStart) {
  const std::vector<uint8_t> file = MakeFile(Good());
  const absl::StatusOr<std::vector<KernelBinary>> kernels = ReadKernelBinaries(file);
  ASSERT_TRUE(kernels.ok());
  const ComputeKernel add = LoadedKernel((*kernels)[0], 0x1000, 7);
  EXPECT_FALSE(add.entries[0].present);
  EXPECT_FALSE(add.entries[1].present);
  EXPECT_TRUE(add.entries[2].present);
  EXPECT_EQ(add.entries[2].offset, 0x10c0u);
  EXPECT_EQ(add.entries[2].buffer, 7u);
  EXPECT_EQ(add.entries[2].scratch, 2048u);
  EXPECT_EQ(add.constant_bytes, 44u);
  EXPECT_TRUE(LoadedKernel((*kernels)[1], 0, 0).entries[0].present);
}

TEST(KernelBinaryTest, TheConstantsOfADispatchHaveWhatTheCompilerExpects) {
  const std::vector<uint8_t> file = MakeFile(Good(absl::StrReplaceAll(
      kInfo,
      {{"arg_type:        arg_byvalue\n        offset:          40\n        size:            4",
        "arg_type:        group_count\n        offset:          40\n        size:            "
        "12"}})));
  const absl::StatusOr<std::vector<KernelBinary>> kernels = ReadKernelBinaries(file);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::vector<uint8_t> bytes =
      DispatchConstants((*kernels)[0], {32, 2, 1}, {.x = 80, .y = 7, .z = 5});
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  EXPECT_EQ(words, (std::vector<uint32_t>{0, 0, 0, 32, 2, 1, 0, 0, 0, 0, 80, 7, 5}));
  EXPECT_TRUE(DispatchConstants((*kernels)[1], {8, 1, 1}, {}).empty());
}

TEST(KernelBinaryTest, WhatIsSomethingElseIsRefusedWithTheRemedy) {
  const auto text = [](absl::string_view bytes) {
    return std::vector<uint8_t>(bytes.begin(), bytes.end());
  };
  EXPECT_THAT(ErrorOf({}).message(), HasSubstr("not an ELF64 file: it must be what ocloc writes"));
  EXPECT_THAT(ErrorOf(text(std::string(100, 'x'))).message(), HasSubstr("not an ELF64 file"));
  EXPECT_THAT(ErrorOf(text("!<arch>\nmore")).message(), HasSubstr("for several devices"));
  EXPECT_THAT(ErrorOf(MakeFile(Good(), 62)).message(), HasSubstr("not of an Intel GPU"));
  EXPECT_THAT(ErrorOf(MakeFile({{"binary", 0xff000005, "x"}}, 0)).message(),
              HasSubstr("patch tokens: it must be what ocloc writes"));
  EXPECT_THAT(ErrorOf(MakeFile({{".text.add", kText, "12345678"}})).message(),
              HasSubstr("no section .ze_info"));
  EXPECT_THAT(ErrorOf(MakeFile({{".ze_info", kZeInfo, "kernels:\n"}})).message(),
              HasSubstr("no kernel"));
}

TEST(KernelBinaryTest, WhatDoesNotFitIsNamed) {
  EXPECT_THAT(ErrorWith("simd_size:       32", "simd_size:       64").message(),
              HasSubstr("\"add\" has SIMD width 64"));
  EXPECT_THAT(ErrorWith("grf_count:       128", "grf_count:       many").message(),
              HasSubstr("line 9: "));
  EXPECT_THAT(ErrorWith("load: 192", "load: 200").message(),
              HasSubstr("starts at byte 200 of 256"));
  EXPECT_THAT(ErrorWith("load: 192", "load: 256").message(),
              HasSubstr("starts at byte 256 of 256"));
  EXPECT_THAT(ErrorWith("offset:          40", "offset:          4294967295").message(),
              HasSubstr("4294967299 bytes of constants; at most 8160"));
  EXPECT_THAT(ErrorWith("[ 32, 2, 1 ]", "[ 32, 2 ]").message(), HasSubstr("line 12"));
  EXPECT_THAT(ErrorWith("name:            add", "name:            sub").message(),
              HasSubstr("\"sub\" in .text.sub"));
  const absl::Status ids = ErrorWith("size:            96", "size:            64");
  EXPECT_EQ(ids.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(ids.message(), HasSubstr("\"copy\" expects 64 bytes of local ids; 96 are possible"));
  std::vector<Section> sections = Good();
  sections.push_back({".rel.text.add", 9, "x"});
  const absl::Status linked = ErrorOf(MakeFile(sections));
  EXPECT_EQ(linked.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(linked.message(), HasSubstr("\"add\" has relocations"));
}

TEST(KernelBinaryTest, DeepOrOddTextEndsInAnError) {
  std::string deep;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&deep, std::string(i, ' '), "a:\n");
  EXPECT_THAT(ErrorOf(MakeFile(Good(deep))).message(), HasSubstr("line 17"));
  EXPECT_THAT(ErrorOf(MakeFile(Good("kernels:\n  - \n"))).message(), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf(MakeFile(Good("kernels:\n  nothing\n"))).message(), HasSubstr("line 2"));
}

// Cut anywhere, and every byte changed: an error or a result, but no crash.
TEST(KernelBinaryTest, DamagedFilesDoNoHarm) {
  const std::vector<uint8_t> file = MakeFile(Good());
  size_t errors = 0;
  for (size_t size = 0; size < file.size(); size += 5) {
    // A copy of its own, so that reads beyond it are found.
    const std::vector<uint8_t> prefix(file.data(), file.data() + size);
    EXPECT_FALSE(ErrorOf(prefix).ok()) << size;
  }
  for (size_t at = 0; at < file.size(); ++at) {
    std::vector<uint8_t> damaged = file;
    damaged[at] ^= at % 2 == 0 ? 0x01 : 0x80;
    errors += !ErrorOf(damaged).ok();
  }
  EXPECT_GT(errors, 100u);
}

}  // namespace
}  // namespace packsmith::intel
