// One name in all generations of a family: its versions, and what changed from each to the next.
#ifndef PACKSMITH_RUNTIME_DESCRIBE_HISTORY_H_
#define PACKSMITH_RUNTIME_DESCRIBE_HISTORY_H_

#include <rapidjson/document.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/describe/reference.h"

namespace packsmith::describe {

struct Change {
  // "added", "removed", "renamed", "moved", or the member that changed ("type", "default", "bytes",
  // "opcode", …). "value added", "value removed", "value renamed" and "value changed" (to another
  // number) are about named values.
  std::string what;
  std::string field;  // path as records write it, with [] for an index; empty: the whole
  std::string from, to;
};

// What some generations have in common. Docs may differ: the newest generation's are used.
struct Version {
  std::vector<absl::string_view> generations;  // the oldest first
  rapidjson::Document record;
  std::vector<Change> changes;  // from the version before
};

struct History {
  absl::string_view family;
  absl::string_view kind;
  std::string name;
  std::vector<Version> versions;  // the oldest first; at least one
};

// `references` are the generations, the oldest of each family first; at least one of `family` has
// the name.
History HistoryOf(absl::Span<const Reference> references, absl::string_view family,
                  absl::string_view kind, absl::string_view name);

// The differences between `from` and `to`, both records of one kind.
std::vector<Change> Changes(const Json& from, const Json& to);

// A field, reserved run or group, and its path.
struct Member {
  std::string path;  // "Edge[].Width"
  const Json* item;
};
// All members of a record, those of groups after the group. Reserved runs without a name have no
// path.
std::vector<Member> MembersOf(const Json& record);

// "dword 3, bits 7:0": the bits count from the start of the dword.
std::string PlaceText(Place place);

}  // namespace packsmith::describe

#endif  // PACKSMITH_RUNTIME_DESCRIBE_HISTORY_H_
