// Hangs of one signature, counted.
//
//   Groups groups(kAllFields, issues);
//   groups.Add(record);                 // each record once, in any order
//   std::fputs(ToText(groups.Take()).c_str(), stdout);
#ifndef PACKSMITH_RUNTIME_TRIAGE_GROUPS_H_
#define PACKSMITH_RUNTIME_TRIAGE_GROUPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/triage/known_issues.h"
#include "runtime/triage/record.h"
#include "runtime/triage/signature.h"

namespace packsmith::triage {

// Different values, each with how often it came: at most kMost of them, the others are counted
// only.
class Tally {
 public:
  static constexpr size_t kMost = 16;

  void Add(const std::string& value);
  // The most frequent first; equal ones in the order of their names.
  std::vector<std::pair<std::string, uint64_t>> Sorted() const;
  uint64_t others() const { return others_; }
  bool empty() const { return counts_.empty(); }

 private:
  std::map<std::string, uint64_t> counts_;
  uint64_t others_ = 0;
};

struct Group {
  std::string id;               // IdOf() the fields that count
  Signature signature;          // only the fields that count
  uint64_t count = 0;           // dumps
  int64_t first = 0, last = 0;  // seconds since 1970
  // The one to look at: with the command known, the fewest problems, the earliest; then by path.
  Record example;
  Tally devices, processes, kernels;
  Tally issues;  // their names
};

// A damaged file, or a dump with damaged parts.
struct Damaged {
  std::string path, trouble;
  uint64_t problems = 0;  // 0: nothing of it could be read
};

// The result. Memory does not grow with the number of dumps, but with that of groups.
struct Triage {
  FieldSet fields = kAllFields;
  std::vector<Group> groups;  // the largest first, then the one last seen
  uint64_t dumps = 0;         // of hangs
  uint64_t others = 0;        // files that are not dumps of hangs
  uint64_t unreadable = 0;
  uint64_t damaged = 0;          // dumps with damaged parts, which are in `dumps` too
  std::vector<Damaged> damages;  // the first kMostDamages, by path
  std::vector<KnownIssue> issues;

  static constexpr size_t kMostDamages = 1000;
};

class Groups {
 public:
  Groups(FieldSet fields, KnownIssues issues) : fields_(fields), issues_(std::move(issues)) {}

  // Returns the group's id and the names of known issues, as members of a JSON object, for
  // ToJson(record, members); empty if the record is not of a hang.
  std::string Add(const Record& record);
  Triage Take();

 private:
  const FieldSet fields_;
  const KnownIssues issues_;
  std::unordered_map<std::string, Group> groups_;  // by KeyOf()
  Triage result_;
};

// The shown groups are at most `most`; 0: all. What is left out is said.
std::string ToText(const Triage& triage, size_t most);
std::string ToMarkdown(const Triage& triage, size_t most);
// One object of type "group" a line.
std::string ToJsonLines(const Triage& triage);

// "2026-11-24 03:04:05", in UTC; "unknown" for 0.
std::string TimeText(int64_t seconds);

}  // namespace packsmith::triage

#endif  // PACKSMITH_RUNTIME_TRIAGE_GROUPS_H_
