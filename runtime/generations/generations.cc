#include "runtime/generations/generations.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/base/closest.h"
#include "runtime/generations/built_in.h"
#include "runtime/tables/embedded.h"

namespace packsmith {
namespace {

std::vector<tables::Tables> OpenAll() {
  std::vector<tables::Tables> all;
  for (const tables::EmbeddedBlock* block : tables::kBuiltIn) {
    all.push_back(tables::Tables::OpenBuiltIn(block->words));
  }
  return all;
}

// Letters and digits, in lower case.
std::string LettersOf(absl::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) letters += absl::ascii_tolower(c);
  }
  return letters;
}

}  // namespace

absl::Span<const tables::Tables> BuiltInGenerations() {
  static const std::vector<tables::Tables>* const kAll = new std::vector<tables::Tables>(OpenAll());
  return *kAll;
}

std::string BuiltInDigest() {
  // FNV-1a over words of 64 bits. It is not a protection.
  uint64_t hash = 0xcbf29ce484222325;
  for (const tables::EmbeddedBlock* const block : tables::kBuiltIn) {
    const size_t words = block->bytes / sizeof(block->words[0]);
    for (const uint64_t word : absl::MakeConstSpan(block->words, words)) {
      hash = (hash ^ word) * 0x100000001b3;
    }
  }
  return absl::StrFormat("%016x", hash);
}

bool IsCalled(const tables::Tables& tables, absl::string_view name) {
  if (absl::EqualsIgnoreCase(tables.generation(), name)) return true;
  for (const absl::string_view alias : absl::StrSplit(tables.aliases(), ' ', absl::SkipEmpty())) {
    if (absl::EqualsIgnoreCase(alias, name)) return true;
  }
  return false;
}

absl::StatusOr<tables::Tables> FindGeneration(absl::string_view name) {
  std::string known;
  Closest closest(name);
  for (const tables::Tables& tables : BuiltInGenerations()) {
    if (IsCalled(tables, name)) return tables;
    absl::StrAppend(&known, known.empty() ? "" : ", ", tables.generation(), " (also ",
                    tables.aliases(), ")");
    closest.Offer(tables.generation());
    for (const absl::string_view alias : absl::StrSplit(tables.aliases(), ' ', absl::SkipEmpty())) {
      closest.Offer(alias);
    }
  }
  return absl::NotFoundError(absl::StrCat("there is no built-in generation \"", name,
                                          "\"; known generations: ", known, DidYouMean(closest)));
}

absl::StatusOr<tables::Tables> FindGenerationOfPciId(uint32_t pci_id) {
  for (const tables::Tables& tables : BuiltInGenerations()) {
    if (tables.FindPciId(pci_id) != nullptr) return tables;
  }
  return absl::NotFoundError(absl::StrFormat(
      "no built-in generation has a device with the PCI id 0x%04x; name one with --gen", pci_id));
}

absl::StatusOr<LikelyGeneration> FindLikelyGeneration(absl::string_view family,
                                                      absl::string_view platform, int verx10) {
  const std::string wanted = LettersOf(platform);
  for (const tables::Tables& tables : BuiltInGenerations()) {
    if (wanted.empty() || tables.family() != family) continue;
    for (const tables::Platform& one : tables.platforms()) {
      if (LettersOf(tables.string(one.name)) != wanted &&
          LettersOf(tables.string(one.title)) != wanted) {
        continue;
      }
      return LikelyGeneration{tables, absl::StrCat("platform \"", platform, "\"")};
    }
  }
  for (int number = verx10; number > 0 && number >= verx10 / 10 * 10; --number) {
    const std::string name =
        number % 10 == 0 ? absl::StrCat(number / 10) : absl::StrCat(number / 10, ".", number % 10);
    for (const tables::Tables& tables : BuiltInGenerations()) {
      if (tables.family() != family || !IsCalled(tables, name)) continue;
      return LikelyGeneration{tables,
                              absl::StrCat("generation ", verx10 / 10,
                                           verx10 % 10 == 0 ? "" : absl::StrCat(".", verx10 % 10))};
    }
  }
  return absl::NotFoundError("no built-in generation is named");
}

absl::StatusOr<tables::Tables> FindGenerationOfChipId(uint32_t chip_id) {
  for (const tables::Tables& tables : BuiltInGenerations()) {
    if (tables.FindChipId(chip_id) != nullptr) return tables;
  }
  return absl::NotFoundError(absl::StrFormat(
      "no built-in generation has a chip with the id 0x%04x; name one with --gen", chip_id));
}

}  // namespace packsmith
