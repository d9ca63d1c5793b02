#include "runtime/triage/known_issues.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace packsmith::triage {
namespace {

using Comparison = KnownIssue::Comparison;

// The next number of a version, without leading zeros; `text` then begins after it and its point.
absl::string_view TakeNumber(absl::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  absl::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  if (number.empty() || !absl::ConsumePrefix(&text, ".")) text = "";
  while (absl::ConsumePrefix(&number, "0")) {
  }
  return number;
}

bool HoldsFor(const Comparison& comparison, absl::string_view value) {
  const int order = CompareVersions(value, comparison.version);
  switch (comparison.op) {
    case Comparison::Op::kLess:
      return order < 0;
    case Comparison::Op::kLessOrEqual:
      return order <= 0;
    case Comparison::Op::kGreater:
      return order > 0;
    case Comparison::Op::kGreaterOrEqual:
      return order >= 0;
  }
  return false;
}

// ">= 6.1 < 6.5" as comparisons; empty if it is not of this form.
std::optional<std::vector<Comparison>> ComparisonsOf(absl::string_view text) {
  constexpr std::pair<absl::string_view, Comparison::Op> kOps[] = {
      {"<=", Comparison::Op::kLessOrEqual},
      {">=", Comparison::Op::kGreaterOrEqual},
      {"<", Comparison::Op::kLess},
      {">", Comparison::Op::kGreater},
  };
  std::vector<Comparison> comparisons;
  text = absl::StripAsciiWhitespace(text);
  while (!text.empty()) {
    const auto* const op = std::find_if(std::begin(kOps), std::end(kOps), [&](const auto& one) {
      return absl::StartsWith(text, one.first);
    });
    if (op == std::end(kOps)) return std::nullopt;
    text = absl::StripLeadingAsciiWhitespace(text.substr(op->first.size()));
    const size_t end = std::min(text.find_first_of(" \t<>"), text.size());
    if (end == 0 || !absl::ascii_isdigit(text[0])) return std::nullopt;
    comparisons.push_back({op->second, std::string(text.substr(0, end))});
    text = absl::StripLeadingAsciiWhitespace(text.substr(end));
  }
  return comparisons;
}

}  // namespace

int CompareVersions(absl::string_view a, absl::string_view b) {
  while (!a.empty() || !b.empty()) {
    const absl::string_view x = TakeNumber(a), y = TakeNumber(b);
    // Of as many digits as it takes: no version overflows.
    if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
    if (const int order = x.compare(y); order != 0) return order < 0 ? -1 : 1;
  }
  return 0;
}

bool Matches(absl::string_view pattern, absl::string_view text) {
  // After a star, matching is tried again one character later: O(pattern * text) at most.
  size_t p = 0, t = 0, star = absl::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || absl::ascii_tolower(pattern[p]) ==
                                                               absl::ascii_tolower(text[t]))) {
      ++p;
      ++t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool KnownIssue::Holds(const Signature& signature) const {
  return std::all_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    const std::string& value = signature.*rule.field;
    if (rule.patterns.empty()) {
      return !value.empty() &&
             std::all_of(rule.comparisons.begin(), rule.comparisons.end(),
                         [&](const Comparison& one) { return HoldsFor(one, value); });
    }
    return std::any_of(rule.patterns.begin(), rule.patterns.end(),
                       [&](const std::string& pattern) { return Matches(pattern, value); });
  });
}

std::vector<const KnownIssue*> KnownIssues::Of(const Signature& signature) const {
  std::vector<const KnownIssue*> found;
  for (const KnownIssue& issue : all_) {
    if (issue.Holds(signature)) found.push_back(&issue);
  }
  return found;
}

absl::StatusOr<KnownIssues> ParseKnownIssues(absl::string_view text, absl::string_view name) {
  KnownIssues issues;
  std::optional<KnownIssue> current;
  size_t began = 0;  // the line of its section
  std::set<std::string> ids;
  size_t number = 0;
  const auto wrong = [&](size_t line, const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat(name, ":", line, ": ", what...));
  };
  const auto finish = [&]() -> absl::Status {
    if (!current) return absl::OkStatus();
    if (current->rules.empty()) {
      return wrong(began, "[", current->id,
                   "] has no rule and would match every hang; add one, such as command = NAME");
    }
    issues.Add(*std::move(current));
    current.reset();
    return absl::OkStatus();
  };
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      const absl::string_view id =
          absl::StripAsciiWhitespace(absl::StripSuffix(line.substr(1), "]"));
      if (line.back() != ']' || id.empty()) {
        return wrong(number, "a section begins with the issue's name in brackets: [mesa-10532]");
      }
      if (absl::Status done = finish(); !done.ok()) return done;
      if (!ids.insert(std::string(id)).second) {
        return wrong(number, "a section [", id, "] comes before; give each issue its own name");
      }
      current.emplace();
      current->id = std::string(id);
      began = number;
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == absl::string_view::npos) {
      return wrong(number, "a rule has the form FIELD = PATTERN");
    }
    const absl::string_view key = absl::StripAsciiWhitespace(line.substr(0, equals));
    const absl::string_view value = absl::StripAsciiWhitespace(line.substr(equals + 1));
    if (!current) return wrong(number, "a rule must follow a section: [mesa-10532]");
    if (key == "title" || key == "url") {
      (key == "title" ? current->title : current->url) = std::string(value);
      continue;
    }
    KnownIssue::Rule rule;
    for (const SignatureField& field : kSignatureFields) {
      if (field.name == key) rule.field = field.member;
    }
    if (rule.field == nullptr) return wrong(number, FieldsNamed(key).status().message());
    if (absl::StartsWith(value, "<") || absl::StartsWith(value, ">")) {
      std::optional<std::vector<Comparison>> comparisons = ComparisonsOf(value);
      if (!comparisons) {
        return wrong(number, "\"", value,
                     "\" must be versions with <, <=, > or >= before each: ", ">= 6.1 < 6.5");
      }
      rule.comparisons = *std::move(comparisons);
    } else {
      for (const absl::string_view pattern : absl::StrSplit(value, '|')) {
        rule.patterns.emplace_back(absl::StripAsciiWhitespace(pattern));
      }
    }
    current->rules.push_back(std::move(rule));
  }
  if (absl::Status done = finish(); !done.ok()) return done;
  return issues;
}

}  // namespace packsmith::triage
