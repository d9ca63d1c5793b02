#include "runtime/lint/platforms.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::lint {
namespace {

// "dg2-g10(a0..b0)" in its parts.
struct Entry {
  absl::string_view platform, variant, first, fixed;
};

Entry Split(absl::string_view text) {
  Entry entry;
  const size_t open = text.find('(');
  const absl::string_view name = text.substr(0, open);
  const size_t hyphen = name.find('-');
  entry.platform = name.substr(0, hyphen);
  if (hyphen != absl::string_view::npos) entry.variant = name.substr(hyphen + 1);
  if (open == absl::string_view::npos) return entry;
  const absl::string_view steppings = text.substr(open + 1, text.size() - open - 2);
  const size_t dots = steppings.find("..");
  entry.first = steppings.substr(0, dots);
  if (dots != absl::string_view::npos) entry.fixed = steppings.substr(dots + 2);
  return entry;
}

bool IsStepping(absl::string_view text) {
  return text.size() == 2 && absl::ascii_islower(static_cast<unsigned char>(text[0])) &&
         absl::ascii_isdigit(static_cast<unsigned char>(text[1]));
}

bool IsName(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return absl::ascii_islower(u) || absl::ascii_isdigit(u);
  });
}

}  // namespace

absl::StatusOr<Product> ParseProduct(absl::string_view text) {
  const bool closed = !absl::StrContains(text, '(') || absl::EndsWith(text, ")");
  const Entry entry = closed ? Split(text) : Entry{};
  const bool good = IsName(entry.platform) && (entry.variant.empty() || IsName(entry.variant)) &&
                    !absl::EndsWith(text, "-") &&
                    (absl::StrContains(text, '(') ? IsStepping(entry.first) && entry.fixed.empty()
                                                  : entry.first.empty());
  if (!good) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text,
                     "\" is not a platform, which a variant and a stepping may follow: dg2, "
                     "dg2-g10, dg2-g10(b0)"));
  }
  return Product{std::string(entry.platform), std::string(entry.variant), std::string(entry.first)};
}

Platforms::Platforms(const tables::Tables& tables) : generation_(tables.generation()) {
  for (const tables::Workaround& one : tables.workarounds()) {
    for (const absl::string_view text :
         absl::StrSplit(tables.string(one.platforms), ' ', absl::SkipEmpty())) {
      const Entry entry = Split(text);
      if (entry.variant.empty()) continue;
      variants_[std::string(entry.platform)].insert(std::string(entry.variant));
    }
  }
}

bool Platforms::Has(absl::string_view list, const Product& product) const {
  std::map<std::string, std::set<std::string>> found;
  for (const absl::string_view text : absl::StrSplit(list, ' ', absl::SkipEmpty())) {
    const Entry entry = Split(text);
    const bool same =
        entry.platform == generation_ ||
        (!product.platform.empty() && absl::StartsWith(product.platform, entry.platform));
    if (!same) continue;
    if (!entry.first.empty() && (product.stepping.empty() || product.stepping < entry.first ||
                                 product.stepping >= entry.fixed)) {
      continue;
    }
    if (entry.variant.empty() || entry.variant == product.variant) return true;
    if (product.variant.empty()) {
      found[std::string(entry.platform)].insert(std::string(entry.variant));
    }
  }
  return std::any_of(found.begin(), found.end(), [&](const auto& of) {
    const auto all = variants_.find(of.first);
    return all != variants_.end() && all->second == of.second;
  });
}

}  // namespace packsmith::lint
