#include "runtime/generations/spellings.h"

#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/generations/built_in_spellings.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/embedded.h"

namespace packsmith {

absl::StatusOr<absl::Span<const uint8_t>> FindSpelling(const tables::Tables& tables) {
  const absl::Span<const tables::Tables> all = BuiltInGenerations();
  // Both are in the order of xml/generations.bzl.
  for (size_t i = 0; i < all.size() && i < std::size(tables::kBuiltInSpellings); ++i) {
    if (all[i].generation() != tables.generation() || all[i].digest() != tables.digest()) continue;
    const tables::EmbeddedBlock& block = *tables::kBuiltInSpellings[i];
    return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(block.words), block.bytes);
  }
  return absl::NotFoundError(absl::StrCat(
      "this description of ", tables.generation(),
      " is not a built-in one, so that the names in its headers are not known; use the built-in "
      "description (without --xml and --tables)"));
}

}  // namespace packsmith
