#include "runtime/intel/compute/kernel_binary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace packsmith::intel {
namespace {

constexpr char kRemedy[] =
    ": it must be what ocloc writes with -internal_options -cl-intel-allow-zebin, for one device";

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("kernel binary: ", what));
}

// ELF64, little-endian (System V ABI, Object Files): the members that are read.
constexpr size_t kHeaderBytes = 64, kSectionBytes = 64;
constexpr uint16_t kIntelGt = 205;           // e_machine
constexpr uint32_t kOldBinary = 0xff000005;  // sh_type: a binary in the older format
constexpr uint32_t kRelocations = 9, kRelocationsWithAddends = 4, kZeInfo = 0xff000011;

struct Section {
  absl::string_view name;
  uint32_t type = 0;
  absl::Span<const uint8_t> bytes;
};

class File {
 public:
  explicit File(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  absl::StatusOr<std::vector<Section>> Sections() const {
    if (bytes_.size() >= 8 && std::memcmp(bytes_.data(), "!<arch>\n", 8) == 0) {
      return Bad(absl::StrCat("this is an archive for several devices", kRemedy));
    }
    if (bytes_.size() < kHeaderBytes || std::memcmp(bytes_.data(),
                                                    "\x7f"
                                                    "ELF\2\1",
                                                    6) != 0) {
      return Bad(absl::StrCat("this is not an ELF64 file", kRemedy));
    }
    const uint64_t table = Number<uint64_t>(0x28);
    const uint64_t count = Number<uint16_t>(0x3c), names = Number<uint16_t>(0x3e);
    if (Number<uint16_t>(0x3a) != kSectionBytes || names >= count || table > bytes_.size() ||
        (bytes_.size() - table) / kSectionBytes < count) {
      return Bad("the table of sections is not within the file");
    }
    std::vector<Section> sections(count);
    for (uint64_t i = 0; i < count; ++i) {
      const size_t at = table + i * kSectionBytes;
      const uint64_t offset = Number<uint64_t>(at + 0x18), size = Number<uint64_t>(at + 0x20);
      sections[i].type = Number<uint32_t>(at + 4);
      if (sections[i].type == 0) continue;
      if (offset > bytes_.size() || size > bytes_.size() - offset) {
        return Bad(absl::StrCat("section ", i, " is not within the file"));
      }
      sections[i].bytes = bytes_.subspan(offset, size);
    }
    const absl::Span<const uint8_t> text = sections[names].bytes;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t name = Number<uint32_t>(table + i * kSectionBytes);
      if (name >= text.size()) continue;
      const absl::Span<const uint8_t> rest = text.subspan(name);
      sections[i].name = absl::string_view(reinterpret_cast<const char*>(rest.data()),
                                           std::find(rest.begin(), rest.end(), 0) - rest.begin());
    }
    for (const Section& section : sections) {
      if (section.type == kOldBinary) {
        return Bad(absl::StrCat("this is in the older format, patch tokens", kRemedy));
      }
    }
    if (Number<uint16_t>(0x12) != kIntelGt) {
      return Bad(absl::StrCat("this ELF file is not of an Intel GPU", kRemedy));
    }
    return sections;
  }

 private:
  template <class T>
  T Number(size_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof(value));
    return value;
  }
  absl::Span<const uint8_t> bytes_;
};

// Reads .ze_info: block mappings and sequences by indentation, scalars, and lists of numbers. Calls
// Item(path) for each item of a sequence, and Value(path, text).
class InfoReader {
 public:
  explicit InfoReader(std::vector<KernelBinary>& kernels) : kernels_(kernels) {}

  absl::Status Read(absl::string_view text) {
    size_t number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      if (!Line(line)) {
        return Bad(
            absl::StrCat(".ze_info, line ", number, ": ", absl::string_view(line).substr(0, 80)));
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Level {
    size_t column;
    size_t path;  // length before it
  };
  static constexpr size_t kMostLevels = 16;

  bool Line(absl::string_view line) {
    line = absl::StripTrailingAsciiWhitespace(line);
    size_t column = line.find_first_not_of(' ');
    if (column == line.npos || line == "---" || line == "...") return true;
    while (!levels_.empty() && levels_.back().column >= column) {
      path_.resize(levels_.back().path);
      levels_.pop_back();
    }
    if (absl::StartsWith(line.substr(column), "- ")) {
      Item();
      column += 2;
      column += line.substr(column).find_first_not_of(' ');
    }
    const size_t colon = line.find(':', column);
    if (colon == line.npos) return false;
    const absl::string_view key = line.substr(column, colon - column);
    absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    const size_t length = path_.size();
    absl::StrAppend(&path_, "/", key);
    if (value.empty()) {
      levels_.push_back({column, length});
      return levels_.size() <= kMostLevels;
    }
    if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'') {
      value = value.substr(1, value.size() - 2);
    }
    const bool good = Value(value);
    path_.resize(length);
    return good;
  }

  void Item() {
    if (path_ == "/kernels") kernels_.emplace_back();
    if (kernels_.empty()) return;
    if (path_ == "/kernels/payload_arguments") kernels_.back().arguments.emplace_back();
    if (path_ == "/kernels/per_thread_payload_arguments") payload_ = {};
    if (path_ == "/kernels/per_thread_memory_buffers") buffer_type_ = {};
  }

  bool Value(absl::string_view value) {
    absl::string_view key = path_;
    if (kernels_.empty() || !absl::ConsumePrefix(&key, "/kernels/")) return true;
    KernelBinary& kernel = kernels_.back();
    if (key == "name") {
      kernel.name = std::string(value);
      return true;
    }
    if (absl::ConsumePrefix(&key, "execution_env/")) return Environment(key, value, kernel);
    if (absl::ConsumePrefix(&key, "payload_arguments/")) {
      return !kernel.arguments.empty() && Argument(key, value, kernel.arguments.back());
    }
    if (key == "per_thread_payload_arguments/arg_type") payload_ = std::string(value);
    if (key == "per_thread_payload_arguments/size" && payload_ == "local_id") {
      return absl::SimpleAtoi(value, &kernel.local_id_bytes);
    }
    if (key == "per_thread_memory_buffers/type") buffer_type_ = std::string(value);
    if (key == "per_thread_memory_buffers/size") {
      uint32_t bytes;
      if (!absl::SimpleAtoi(value, &bytes) || bytes > uint32_t{1} << 30) return false;
      if (buffer_type_ == "scratch") kernel.scratch = std::max(kernel.scratch, bytes);
    }
    if (key == "binding_table_indices/bti_value") {
      uint32_t entry;
      if (!absl::SimpleAtoi(value, &entry) || entry > 255) return false;
      kernel.kernel.binding_table_entries =
          std::max(kernel.kernel.binding_table_entries, entry + 1);
    }
    return true;
  }

  static bool Environment(absl::string_view key, absl::string_view value, KernelBinary& kernel) {
    if (key == "simd_size") return absl::SimpleAtoi(value, &kernel.simd);
    if (key == "grf_count") return absl::SimpleAtoi(value, &kernel.registers);
    if (key == "barrier_count") return absl::SimpleAtoi(value, &kernel.kernel.barriers);
    if (key == "slm_size") return absl::SimpleAtoi(value, &kernel.kernel.shared_bytes);
    if (key == "inline_data_payload_size") {
      return absl::SimpleAtoi(value, &kernel.kernel.inline_bytes);
    }
    if (key == "offset_to_skip_per_thread_data_load") {
      return absl::SimpleAtoi(value, &kernel.entry);
    }
    if (key == "required_work_group_size") {
      if (!absl::ConsumePrefix(&value, "[") || !absl::ConsumeSuffix(&value, "]")) return false;
      const std::vector<absl::string_view> sizes = absl::StrSplit(value, ',');
      if (sizes.size() != 3) return false;
      for (size_t i = 0; i < 3; ++i) {
        if (!absl::SimpleAtoi(sizes[i], &kernel.kernel.local_size[i])) return false;
      }
    }
    return true;
  }

  static bool Argument(absl::string_view key, absl::string_view value, KernelArgument& argument) {
    if (key == "arg_type") argument.type = std::string(value);
    if (key == "offset") return absl::SimpleAtoi(value, &argument.offset);
    if (key == "size") return absl::SimpleAtoi(value, &argument.size);
    if (key == "source_offset") return absl::SimpleAtoi(value, &argument.source_offset);
    if (key == "arg_index") return absl::SimpleAtoi(value, &argument.index.emplace());
    return true;
  }

  std::vector<KernelBinary>& kernels_;
  std::vector<Level> levels_;
  std::string path_;
  std::string payload_, buffer_type_;
};

// Adds a kernel's instructions, and what follows from its arguments.
absl::Status Complete(absl::Span<const Section> sections, KernelBinary& kernel) {
  const std::string text = absl::StrCat(".text.", kernel.name);
  const Section* code = nullptr;
  for (const Section& section : sections) {
    if (section.name == text) code = &section;
    if (section.type != kRelocations && section.type != kRelocationsWithAddends) continue;
    if (section.name == absl::StrCat(".rel", text) || section.name == absl::StrCat(".rela", text)) {
      return absl::UnimplementedError(
          absl::StrCat("kernel binary: \"", kernel.name,
                       "\" has relocations, which only a linker resolves: it must use no global "
                       "variables and no functions of other programs"));
    }
  }
  if (code == nullptr || code->bytes.empty() || code->bytes.size() % 8 != 0) {
    return Bad(absl::StrCat("there are no whole instructions for \"", kernel.name, "\" in ", text));
  }
  kernel.instructions = code->bytes;
  if (kernel.simd != 8 && kernel.simd != 16 && kernel.simd != 32) {
    return Bad(absl::StrCat("\"", kernel.name, "\" has SIMD width ", kernel.simd,
                            "; it must be 8, 16 or 32"));
  }
  if (kernel.entry % 64 != 0 || kernel.entry >= kernel.instructions.size()) {
    return Bad(absl::StrCat("\"", kernel.name, "\" starts at byte ", kernel.entry, " of ",
                            kernel.instructions.size(), "; it must be a multiple of 64"));
  }
  // A component of local ids: 16 bits an invocation, in whole registers.
  const uint32_t component = std::max(32u, 2 * kernel.simd);
  const uint32_t components = kernel.local_id_bytes / component;
  if (kernel.local_id_bytes % component != 0 || components > 3 ||
      (kernel.entry == 0 && components != 0 && components != 3)) {
    return absl::UnimplementedError(absl::StrCat("kernel binary: \"", kernel.name, "\" expects ",
                                                 kernel.local_id_bytes, " bytes of local ids; ",
                                                 3 * component, " are possible"));
  }
  if (components != 0) {
    // The instructions before an entry load local ids from memory: hardware provides them.
    kernel.kernel.local_ids = kernel.entry == 0 ? LocalIds::kInMemory : LocalIds::kHardware;
    kernel.kernel.local_id_components = components;
  }
  uint64_t end = kernel.kernel.inline_bytes;
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.size != 0) end = std::max(end, uint64_t{argument.offset} + argument.size);
  }
  if (end > kMostConstantBytes) {
    return Bad(absl::StrCat("\"", kernel.name, "\" has ", end, " bytes of constants; at most ",
                            kMostConstantBytes, " are possible"));
  }
  kernel.kernel.constant_bytes = static_cast<uint32_t>(end);
  return absl::OkStatus();
}

}  // namespace

const KernelArgument* KernelBinary::Find(uint32_t index) const {
  for (const KernelArgument& argument : arguments) {
    if (argument.index == index && argument.size != 0) return &argument;
  }
  return nullptr;
}

const KernelArgument* KernelBinary::Find(absl::string_view type) const {
  for (const KernelArgument& argument : arguments) {
    if (argument.type == type) return &argument;
  }
  return nullptr;
}

absl::StatusOr<std::vector<KernelBinary>> ReadKernelBinaries(absl::Span<const uint8_t> file) {
  absl::StatusOr<std::vector<Section>> sections = File(file).Sections();
  if (!sections.ok()) return sections.status();
  const auto info = std::find_if(sections->begin(), sections->end(),
                                 [](const Section& section) { return section.type == kZeInfo; });
  if (info == sections->end()) return Bad("there is no section .ze_info");
  std::vector<KernelBinary> kernels;
  absl::Status status = InfoReader(kernels).Read(
      absl::string_view(reinterpret_cast<const char*>(info->bytes.data()), info->bytes.size()));
  if (!status.ok()) return status;
  // What the compiler adds for symbols that programs export is no kernel.
  kernels.erase(std::remove_if(kernels.begin(), kernels.end(),
                               [](const KernelBinary& kernel) {
                                 return kernel.name == "Intel_Symbol_Table_Void_Program";
                               }),
                kernels.end());
  if (kernels.empty()) return Bad("there is no kernel in it");
  for (KernelBinary& kernel : kernels) {
    status = Complete(*sections, kernel);
    if (!status.ok()) return status;
  }
  return kernels;
}

ComputeKernel LoadedKernel(const KernelBinary& binary, uint32_t offset, uint32_t buffer) {
  ComputeKernel kernel = binary.kernel;
  KernelEntry& entry = binary.simd == 8    ? kernel.simd8()
                       : binary.simd == 16 ? kernel.simd16()
                                           : kernel.simd32();
  entry = {.present = true,
           .offset = offset + binary.entry,
           .buffer = buffer,
           .scratch = binary.scratch};
  kernel.registers = binary.registers;
  return kernel;
}

std::vector<uint8_t> DispatchConstants(const KernelBinary& binary,
                                       const std::array<uint32_t, 3>& local_size,
                                       const GroupCount& groups) {
  const std::array<uint32_t, 3> group_count = {groups.x, groups.y, groups.z};
  const std::array<uint32_t, 3> global_size = {local_size[0] * groups.x, local_size[1] * groups.y,
                                               local_size[2] * groups.z};
  const std::array<uint32_t, 3> dimensions = {3};
  const std::pair<absl::string_view, const std::array<uint32_t, 3>&> known[] = {
      {"local_size", local_size},      {"enqueued_local_size", local_size},
      {"group_count", group_count},    {"global_size", global_size},
      {"work_dimensions", dimensions},
  };
  std::vector<uint8_t> constants(binary.kernel.constant_bytes);
  for (const KernelArgument& argument : binary.arguments) {
    for (const auto& [type, value] : known) {
      if (argument.type == type && argument.offset < constants.size()) {
        std::memcpy(
            &constants[argument.offset], value.data(),
            std::min<size_t>({argument.size, sizeof(value), constants.size() - argument.offset}));
      }
    }
  }
  return constants;
}

}  // namespace packsmith::intel
