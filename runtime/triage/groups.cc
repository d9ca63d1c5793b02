#include "runtime/triage/groups.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::triage {
namespace {

// "s" unless there is one.
std::string Counted(uint64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

// The fewer, the better an example is.
auto RankOf(const Record& record) {
  return std::make_tuple(record.signature.command.empty(), record.problems, record.time,
                         absl::string_view(record.file.path));
}

// "a (12), b (3), others (2)"
std::string TallyText(const Tally& tally) {
  std::string text = absl::StrJoin(tally.Sorted(), ", ", [](std::string* out, const auto& one) {
    absl::StrAppend(out, one.first, " (", one.second, ")");
  });
  if (tally.others() != 0) absl::StrAppend(&text, ", others (", tally.others(), ")");
  return text;
}

std::string TallyJson(const Tally& tally) {
  return absl::StrCat("{",
                      absl::StrJoin(tally.Sorted(), ",",
                                    [](std::string* out, const auto& one) {
                                      absl::StrAppend(out, JsonText(one.first), ":", one.second);
                                    }),
                      "}");
}

const KnownIssue* IssueNamed(const Triage& triage, absl::string_view id) {
  for (const KnownIssue& issue : triage.issues) {
    if (issue.id == id) return &issue;
  }
  return nullptr;
}

// "3 dumps of hangs in 2 groups; 1 dump has damaged parts; 1 file could not be read"
std::string Overview(const Triage& triage) {
  std::string text = absl::StrCat(Counted(triage.dumps, "dump"), " of hangs in ",
                                  Counted(triage.groups.size(), "group"));
  if (triage.damaged != 0) {
    absl::StrAppend(&text, "; ", Counted(triage.damaged, "dump"),
                    triage.damaged == 1 ? " has" : " have", " damaged parts");
  }
  if (triage.unreadable != 0) {
    absl::StrAppend(&text, "; ", Counted(triage.unreadable, "dump"), " could not be read");
  }
  if (triage.others != 0) {
    absl::StrAppend(&text, "; ", Counted(triage.others, "other file"));
  }
  return text;
}

// What comes from dumps and file names must not act on a terminal, or as Markdown.
std::string Plain(absl::string_view text) { return decode::Harmless(text); }
std::string Cell(absl::string_view text) {
  return absl::StrReplaceAll(Plain(text), {{"|", "\\|"},
                                           {"`", "\\`"},
                                           {"*", "\\*"},
                                           {"_", "\\_"},
                                           {"<", "&lt;"},
                                           {"[", "\\["},
                                           {"]", "\\]"}});
}

size_t ShownOf(const Triage& triage, size_t most) {
  return most == 0 ? triage.groups.size() : std::min(most, triage.groups.size());
}

std::string LeftOut(const Triage& triage, size_t shown) {
  if (shown == triage.groups.size()) return "";
  uint64_t dumps = 0;
  for (size_t i = shown; i < triage.groups.size(); ++i) dumps += triage.groups[i].count;
  return absl::StrCat("not shown: ", Counted(triage.groups.size() - shown, "group"), " with ",
                      Counted(dumps, "dump"), "\n");
}

// The line of one damage.
std::string DamageText(const Damaged& damage) {
  return damage.problems == 0
             ? damage.trouble
             : absl::StrCat(Counted(damage.problems, "problem"), ", the first at ", damage.trouble);
}

}  // namespace

void Tally::Add(const std::string& value) {
  if (value.empty()) return;
  const auto found = counts_.find(value);
  if (found != counts_.end()) {
    ++found->second;
  } else if (counts_.size() < kMost) {
    counts_.emplace(value, 1);
  } else {
    ++others_;
  }
}

std::vector<std::pair<std::string, uint64_t>> Tally::Sorted() const {
  std::vector<std::pair<std::string, uint64_t>> sorted(counts_.begin(), counts_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

std::string TimeText(int64_t seconds) {
  if (seconds == 0) return "unknown";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixSeconds(seconds), absl::UTCTimeZone());
}

std::string Groups::Add(const Record& record) {
  if (record.outcome == Outcome::kOther) {
    ++result_.others;
    return "";
  }
  if (record.outcome == Outcome::kUnreadable || record.problems != 0) {
    ++(record.outcome == Outcome::kUnreadable ? result_.unreadable : result_.damaged);
    if (result_.damages.size() < Triage::kMostDamages) {
      result_.damages.push_back({record.file.path, record.trouble, record.problems});
    }
  }
  if (record.outcome == Outcome::kUnreadable) return "";
  ++result_.dumps;
  Group& group = groups_[KeyOf(record.signature, fields_)];
  if (group.count++ == 0) {
    group.id = IdOf(record.signature, fields_);
    group.signature = Only(record.signature, fields_);
    group.first = group.last = record.time;
    group.example = record;
  }
  group.first = std::min(group.first, record.time);
  group.last = std::max(group.last, record.time);
  if (RankOf(record) < RankOf(group.example)) group.example = record;
  group.devices.Add(record.pci_id);
  // "gl-basic[1234] prio 0", "gl-basic [1234]"
  group.processes.Add(record.process.substr(0, record.process.find_first_of(" [")));
  group.kernels.Add(record.signature.kernel);
  std::string names;
  for (const KnownIssue* issue : issues_.Of(record.signature)) {
    group.issues.Add(issue->id);
    absl::StrAppend(&names, names.empty() ? "" : ",", JsonText(issue->id));
  }
  return absl::StrCat("\"group\":\"", group.id, "\",\"issues\":[", names, "]");
}

Triage Groups::Take() {
  Triage result = std::move(result_);
  result.fields = fields_;
  result.issues = issues_.all();
  for (auto& [key, group] : groups_) result.groups.push_back(std::move(group));
  groups_.clear();
  std::sort(result.groups.begin(), result.groups.end(), [](const Group& a, const Group& b) {
    if (a.count != b.count) return a.count > b.count;
    if (a.last != b.last) return a.last > b.last;
    return a.example.file.path < b.example.file.path;
  });
  return result;
}

std::string ToText(const Triage& triage, size_t most) {
  std::string text = absl::StrCat(Overview(triage), "\n");
  const size_t shown = ShownOf(triage, most);
  for (size_t i = 0; i < shown; ++i) {
    const Group& group = triage.groups[i];
    absl::StrAppend(&text, "\n", group.id, "  ", Counted(group.count, "dump"), ", ",
                    TimeText(group.first));
    if (group.last != group.first) absl::StrAppend(&text, " to ", TimeText(group.last));
    text += "\n";
    const auto line = [&](absl::string_view name, absl::string_view value) {
      if (value.empty()) return;
      absl::StrAppend(&text, "    ", name, std::string(12 - std::min<size_t>(name.size(), 11), ' '),
                      Plain(value), "\n");
    };
    for (const SignatureField& field : kSignatureFields) {
      line(field.name, group.signature.*field.member);
    }
    for (const auto& [id, count] : group.issues.Sorted()) {
      const KnownIssue* const issue = IssueNamed(triage, id);
      line("known",
           absl::StrCat(id, issue->title.empty() ? "" : ": ", issue->title,
                        issue->url.empty() ? "" : ", ", issue->url,
                        count == group.count ? ""
                                             : absl::StrCat(" (", count, " of ",
                                                            Counted(group.count, "dump"), ")")));
    }
    line("devices", TallyText(group.devices));
    line("processes", TallyText(group.processes));
    // A field that does not count may differ.
    if (group.signature.kernel.empty()) line("kernels", TallyText(group.kernels));
    line("example", group.example.file.path);
    line("", group.example.title);
  }
  if (shown != triage.groups.size()) absl::StrAppend(&text, "\n", LeftOut(triage, shown));
  if (!triage.damages.empty()) text += "\ndamaged\n";
  for (const Damaged& damage : triage.damages) {
    absl::StrAppend(&text, "    ", Plain(damage.path), ": ", Plain(DamageText(damage)), "\n");
  }
  return text;
}

std::string ToMarkdown(const Triage& triage, size_t most) {
  std::string text = absl::StrCat("# GPU hangs\n\n", Overview(triage), ".\n");
  const size_t shown = ShownOf(triage, most);
  if (shown != 0) {
    text +=
        "\n| dumps | first seen | last seen | known as | what | example |\n"
        "|---:|---|---|---|---|---|\n";
  }
  for (size_t i = 0; i < shown; ++i) {
    const Group& group = triage.groups[i];
    const std::string known =
        absl::StrJoin(group.issues.Sorted(), "<br>", [&](std::string* out, const auto& one) {
          const KnownIssue* const issue = IssueNamed(triage, one.first);
          absl::StrAppend(out, Cell(one.first), issue->title.empty() ? "" : ": ",
                          Cell(issue->title), issue->url.empty() ? "" : " ", Cell(issue->url));
        });
    std::string what;
    for (const SignatureField& field : kSignatureFields) {
      const std::string& value = group.signature.*field.member;
      if (value.empty()) continue;
      absl::StrAppend(&what, what.empty() ? "" : "<br>", Cell(field.name), ": ", Cell(value));
    }
    absl::StrAppend(&text, "| ", group.count, " | ", TimeText(group.first), " | ",
                    TimeText(group.last), " | ", known.empty() ? "–" : known, " | ", what, " | ",
                    Cell(group.example.file.path), " |\n");
  }
  if (shown != triage.groups.size()) absl::StrAppend(&text, "\n", LeftOut(triage, shown));
  if (!triage.damages.empty()) text += "\n## Damaged\n\n";
  for (const Damaged& damage : triage.damages) {
    absl::StrAppend(&text, "- ", Cell(damage.path), ": ", Cell(DamageText(damage)), "\n");
  }
  return text;
}

std::string ToJsonLines(const Triage& triage) {
  std::string lines;
  for (const Group& group : triage.groups) {
    absl::StrAppend(&lines, "{\"type\":\"group\",\"group\":\"", group.id,
                    "\",\"count\":", group.count, ",\"first\":", group.first,
                    ",\"last\":", group.last);
    for (size_t i = 0; i < kSignatureFields.size(); ++i) {
      if ((triage.fields >> i & 1) == 0) continue;
      absl::StrAppend(&lines, ",\"", kSignatureFields[i].name,
                      "\":", JsonText(group.signature.*kSignatureFields[i].member));
    }
    absl::StrAppend(
        &lines, ",\"issues\":", TallyJson(group.issues), ",\"devices\":", TallyJson(group.devices),
        ",\"processes\":", TallyJson(group.processes), ",\"kernels\":", TallyJson(group.kernels),
        ",\"example\":", JsonText(group.example.file.path), "}\n");
  }
  return lines;
}

}  // namespace packsmith::triage
