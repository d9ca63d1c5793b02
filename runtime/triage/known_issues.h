// Issues that are known already, as rules over the fields of signatures, from a file:
//
//   # A comment.
//   [mesa-10532]
//   title    = Skylake hangs in PIPE_CONTROL after a clear
//   url      = https://example.org/10532
//   generation = gfx9
//   command  = PIPE_CONTROL | MI_FLUSH_DW
//   fields   = *Texture Cache Invalidation Enable=*
//   kernel   = >= 6.1 < 6.5.3
//   firmware = < 70.6.3
//
//   KnownIssues issues = *ParseKnownIssues(text, "issues.txt");
//   for (const KnownIssue* one : issues.Of(signature)) …
//
// A section for each issue. All rules of a section must hold. A rule is a pattern with * (any text)
// and ? (one character), or several with | between them, of which one must match; or comparisons of
// versions, which all must hold: < <= > >= and a version. Upper and lower case are the same. An
// empty pattern matches a field that is empty; comparisons never hold for such a field.
#ifndef PACKSMITH_RUNTIME_TRIAGE_KNOWN_ISSUES_H_
#define PACKSMITH_RUNTIME_TRIAGE_KNOWN_ISSUES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/triage/signature.h"

namespace packsmith::triage {

// Negative, 0 or positive, as `a` is older than, equal to or newer than `b`. Numbers count as
// numbers, missing ones as 0; what follows the first character that is neither a digit nor a point
// does not count: "6.8.0-45-generic" is 6.8.
int CompareVersions(absl::string_view a, absl::string_view b);

// Whether `text` has the form of the pattern: * is any text, ? one character; in either case.
bool Matches(absl::string_view pattern, absl::string_view text);

struct KnownIssue {
  std::string id, title, url;

  struct Comparison {
    enum class Op { kLess, kLessOrEqual, kGreater, kGreaterOrEqual } op = Op::kLess;
    std::string version;
  };
  struct Rule {
    std::string Signature::*field = nullptr;
    std::vector<std::string> patterns;    // one of them matches
    std::vector<Comparison> comparisons;  // all of them hold, if there are no patterns
  };
  std::vector<Rule> rules;

  bool Holds(const Signature& signature) const;
};

class KnownIssues {
 public:
  // In the order of the file. Valid as long as this.
  std::vector<const KnownIssue*> Of(const Signature& signature) const;
  const std::vector<KnownIssue>& all() const { return all_; }
  void Add(KnownIssue issue) { all_.push_back(std::move(issue)); }

 private:
  std::vector<KnownIssue> all_;
};

// `name`: of the file, for messages. InvalidArgument names the line: a rule outside a section,
// an unknown field, a section without rules or with the name of another one.
absl::StatusOr<KnownIssues> ParseKnownIssues(absl::string_view text, absl::string_view name);

}  // namespace packsmith::triage

#endif  // PACKSMITH_RUNTIME_TRIAGE_KNOWN_ISSUES_H_
