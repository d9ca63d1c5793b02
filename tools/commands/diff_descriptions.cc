#include "tools/commands/diff_descriptions.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/describe/history.h"
#include "runtime/describe/reference.h"
#include "tools/json_line.h"

namespace packsmith::commands {
namespace {

using decode::Harmless;
using describe::Change;
using describe::Entry;
using describe::Reference;

std::string TextOf(const Change& change) {
  std::string text =
      absl::StrCat("    ", change.field, change.field.empty() ? "" : ": ", change.what);
  if (!change.from.empty()) absl::StrAppend(&text, "  ", change.from);
  if (!change.to.empty()) absl::StrAppend(&text, change.from.empty() ? "  " : " -> ", change.to);
  return absl::StrCat(Harmless(text), "\n");
}

std::string Line(absl::string_view type, const Entry& entry, const std::vector<Change>& changes) {
  tools::JsonLine line;
  line.Text("type", type).Text("kind", entry.kind).Text("name", entry.name);
  if (changes.empty()) return line.Take();
  line.List("changes", [&] {
    for (const Change& change : changes) {
      line.Object("", [&] {
        line.Text("what", change.what);
        if (!change.field.empty()) line.Text("field", change.field);
        if (!change.from.empty()) line.Text("from", change.from);
        if (!change.to.empty()) line.Text("to", change.to);
      });
    }
  });
  return line.Take();
}

}  // namespace

absl::StatusOr<std::string> DiffDescriptions(const tables::Tables& a, const tables::Tables& b,
                                             bool jsonl) {
  const absl::StatusOr<Reference> from = Reference::Open(a), to = Reference::Open(b);
  if (!from.ok()) return from.status();
  if (!to.ok()) return to.status();
  std::string lines;
  // The generation itself has another name.
  const auto counts = [](const Entry& entry) { return entry.kind != "generation"; };
  for (const Entry& entry : from->entries()) {
    if (!counts(entry) || to->Find(entry.kind, entry.name) != nullptr) continue;
    absl::StrAppend(&lines, jsonl
                                ? Line("removed", entry, {})
                                : absl::StrCat("- ", entry.kind, " ", Harmless(entry.name), "\n"));
  }
  for (const Entry& entry : to->entries()) {
    if (!counts(entry)) continue;
    const Entry* const before = from->Find(entry.kind, entry.name);
    if (before == nullptr) {
      absl::StrAppend(&lines,
                      jsonl ? Line("added", entry, {})
                            : absl::StrCat("+ ", entry.kind, " ", Harmless(entry.name), "\n"));
      continue;
    }
    const std::vector<Change> changes =
        describe::Changes(describe::Parse(before->line), describe::Parse(entry.line));
    if (changes.empty()) continue;
    if (jsonl) {
      lines += Line("changed", entry, changes);
      continue;
    }
    absl::StrAppend(&lines, "~ ", entry.kind, " ", Harmless(entry.name), "\n");
    for (const Change& change : changes) lines += TextOf(change);
  }
  return lines;
}

}  // namespace packsmith::commands
