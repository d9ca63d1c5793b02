#include "runtime/dump/vma_properties.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace packsmith {
namespace {

constexpr const char* kPermissions[] = {"", "read-only", "read-write"};
constexpr const char* kKinds[] = {"", "bo", "userptr", "sparse"};
constexpr const char* kCachings[] = {"", "write-back", "write-combined"};

// The words that the kernel uses, and what they mean.
struct KernelWord {
  absl::string_view word;
  VmaProperties::Index index;
  uint32_t value;
};
constexpr KernelWord kKernelWords[] = {
    {"read_only", VmaProperties::kPermission, 1},
    {"read", VmaProperties::kPermission, 1},
    {"read_write", VmaProperties::kPermission, 2},
    {"bo", VmaProperties::kKind, VmaProperties::kBufferObject},
    {"userptr", VmaProperties::kKind, VmaProperties::kUserptr},
    {"null_sparse", VmaProperties::kKind, VmaProperties::kSparse},
};
struct KernelNumber {
  absl::string_view key;
  VmaProperties::Index index;
};
constexpr KernelNumber kKernelNumbers[] = {
    {"mem_region", VmaProperties::kRegions},
    {"pat_index", VmaProperties::kPat},
    {"cpu_caching", VmaProperties::kCaching},
};

template <size_t N>
std::string Word(const char* const (&words)[N], absl::string_view name, uint32_t value) {
  if (value < N) return words[value];
  return absl::StrCat(name, " ", value);
}

template <size_t N>
bool Take(const char* const (&words)[N], absl::string_view name, absl::string_view text,
          uint32_t& value) {
  for (uint32_t i = 1; i < N; ++i) {
    if (text == words[i]) {
      value = i;
      return true;
    }
  }
  return absl::ConsumePrefix(&text, name) && absl::ConsumePrefix(&text, " ") &&
         absl::SimpleAtoi(text, &value);
}

// Decimal, or hexadecimal after "0x".
bool ParseNumber(absl::string_view text, uint32_t& value) {
  if (absl::ConsumePrefix(&text, "0x")) return absl::SimpleHexAtoi(text, &value);
  return absl::SimpleAtoi(text, &value);
}

}  // namespace

bool VmaProperties::any() const {
  return std::any_of(values.begin(), values.end(), [](uint32_t value) { return value != 0; });
}

bool VmaProperties::Parse(absl::string_view text) {
  bool all = true;
  for (const absl::string_view word : absl::StrSplit(text, '|', absl::SkipWhitespace())) {
    const auto* const known =
        std::find_if(std::begin(kKernelWords), std::end(kKernelWords),
                     [word](const KernelWord& one) { return one.word == word; });
    if (known != std::end(kKernelWords)) {
      values[known->index] = known->value;
      continue;
    }
    const size_t equals = word.find('=');
    const auto* const number =
        std::find_if(std::begin(kKernelNumbers), std::end(kKernelNumbers),
                     [&](const KernelNumber& one) { return one.key == word.substr(0, equals); });
    uint32_t value = 0;
    if (equals == absl::string_view::npos || number == std::end(kKernelNumbers) ||
        !ParseNumber(word.substr(equals + 1), value)) {
      all = false;
      continue;
    }
    values[number->index] = value;
  }
  return all;
}

void VmaProperties::Describe(Buffer& buffer) const {
  if (!any()) return;
  buffer.access = Word(kPermissions, "permission", values[kPermission]);
  std::vector<std::string> words = {Word(kKinds, "kind", values[kKind])};
  words.push_back(absl::StrFormat("memory regions 0x%x", values[kRegions]));
  words.push_back(absl::StrCat("PAT ", values[kPat]));
  words.push_back(Word(kCachings, "caching", values[kCaching]));
  words.erase(std::remove(words.begin(), words.end(), ""), words.end());
  buffer.flags = absl::StrJoin(words, ", ");
}

bool VmaProperties::Read(const Buffer& buffer) {
  if (!buffer.access.empty() &&
      !Take(kPermissions, "permission", buffer.access, values[kPermission])) {
    return false;
  }
  for (absl::string_view word : absl::StrSplit(buffer.flags, ", ", absl::SkipEmpty())) {
    if (Take(kKinds, "kind", word, values[kKind]) ||
        Take(kCachings, "caching", word, values[kCaching])) {
      continue;
    }
    if (absl::ConsumePrefix(&word, "memory regions 0x")) {
      if (!absl::SimpleHexAtoi(word, &values[kRegions])) return false;
    } else if (!absl::ConsumePrefix(&word, "PAT ") || !absl::SimpleAtoi(word, &values[kPat])) {
      return false;
    }
  }
  return true;
}

}  // namespace packsmith
