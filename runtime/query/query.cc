#include "runtime/query/query.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/compare/record_fields.h"
#include "runtime/decode/sinks/filter_sink.h"

namespace packsmith::query {
namespace {

using decode::MatchesGlob;
using decode::Record;
using decode::RecordType;

bool Matches(const FieldPattern& pattern, absl::string_view record, absl::string_view field) {
  const size_t dot = field.rfind('.');
  const absl::string_view own = dot == absl::string_view::npos ? field : field.substr(dot + 1);
  return MatchesGlob(pattern, field) || MatchesGlob(pattern, own) ||
         MatchesGlob(pattern, absl::StrCat(record, ".", field)) ||
         MatchesGlob(pattern, absl::StrCat(record, ".", own));
}

// Whether a number in decimal or hexadecimal, or a name, is what a condition asks for.
bool IsValue(const std::string& wanted, const std::string& value, absl::string_view name) {
  if (MatchesGlob(wanted, value) || (!name.empty() && MatchesGlob(wanted, name))) return true;
  // Booleans are shown as words.
  if ((value == "true" && wanted == "1") || (value == "false" && wanted == "0")) return true;
  uint64_t one = 0, other = 0;
  const auto parse = [](const std::string& text, uint64_t& number) {
    return absl::StartsWith(text, "0x") ? absl::SimpleHexAtoi(text, &number)
                                        : absl::SimpleAtoi(text, &number);
  };
  return parse(wanted, one) && parse(value, other) && one == other;
}

struct Value {
  std::string path;  // of the records from the packet on
  std::string field, value, name;
  bool shown = false;           // it was asked for
  std::set<size_t> conditions;  // that it meets
};

// A packet's fields, and those of what it points to.
struct Found {
  std::string packet;
  std::vector<Value> values;
};

struct Work {
  bool is_draw;
  uint64_t number;
  uint32_t submission;
  uint64_t address;
};

class QuerySink : public decode::Sink {
 public:
  QuerySink(Rows& rows, Query query) : rows_(rows), query_(std::move(query)) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    never_.clear();
  }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission& submission, uint64_t) override {
    Finish();
    context_ = {submission.context, submission.slot};
  }

  void OnRecord(const Record& record) override {
    if (record.type != RecordType::kPacket && record.type != RecordType::kStruct) return;
    while (!path_.empty() && path_.back().first != record.parent) path_.pop_back();
    std::string name(record.name);
    if (record.index >= 0) absl::StrAppend(&name, "[", record.index, "]");
    if (record.type == RecordType::kPacket) {
      path_.clear();
      Packet(record);
    } else if (!path_.empty()) {
      name = absl::StrCat(path_.back().second, " > ", name);
    }
    path_.emplace_back(record.id, name);
    if (to_ != nullptr) Fields(record, name);
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    if (!is_problem) return;
    Finish();
    rows_.OnProblem(text);
  }
  void OnSummary(const decode::Summary&) override { Finish(); }

 private:
  // Begins a packet: its fields go to `to_`.
  void Packet(const Record& record) {
    if (record.bound) {
      // The state of the draw at hand, of which there may be several packets of a kind.
      to_ = &bound_.emplace_back();
      to_->packet = std::string(record.name);
      return;
    }
    Finish();
    const tables::Role role = record.container->role;
    if (role == tables::Role::kOther) {
      to_ = &last_[context_][std::string(record.name)];
    } else {
      const bool is_draw = role == tables::Role::kDraw;
      work_ =
          Work{is_draw, is_draw ? record.draw : record.dispatch, record.submission, record.address};
      to_ = &own_;
    }
    *to_ = Found{std::string(record.name), {}};
  }

  void Fields(const Record& record, const std::string& path) {
    if (never_.contains(record.container)) return;
    bool any = false;
    for (const compare::RecordField& field :
         compare::FieldsOf(*tables_, record.container, record.bytes)) {
      Value value;
      value.shown = std::any_of(
          query_.fields.begin(), query_.fields.end(),
          [&](const FieldPattern& one) { return Matches(one, record.name, field.name); });
      bool wanted = value.shown;
      for (size_t i = 0; i < query_.conditions.size(); ++i) {
        const Condition& condition = query_.conditions[i];
        if (!Matches(condition.field, record.name, field.name)) continue;
        wanted = any = true;
        if (IsValue(condition.value, compare::NumberOf(*tables_, field),
                    compare::NameOf(*tables_, field))) {
          value.conditions.insert(i);
        }
      }
      any = any || wanted;
      if (!wanted) continue;
      value.path = path;
      value.field = field.name;
      value.value = compare::NumberOf(*tables_, field);
      value.name = std::string(compare::NameOf(*tables_, field));
      to_->values.push_back(std::move(value));
    }
    // Records of one kind have the same fields, except where some are optional or repeated.
    const tables::Container& container = *record.container;
    const bool fixed = container.variable == 0 && container.parts.count == 0 &&
                       container.tail_size == 0 && container.variants.count == 0 &&
                       record.bytes.size() == container.bytes;
    const auto conditional = [&](const tables::Leaf& leaf) {
      return leaf.extra != tables::kNone && tables_->extra(leaf.extra).counts_when != tables::kNone;
    };
    const auto leaves = tables_->leaves(container.leaves);
    if (!any && fixed && std::none_of(leaves.begin(), leaves.end(), conditional)) {
      never_.insert(&container);
    }
  }

  // All that the draw or dispatch finds set is known: lists it.
  void Finish() {
    to_ = nullptr;
    const std::vector<Found> bound = std::exchange(bound_, {});
    if (!work_) return;
    const Work work = *std::exchange(work_, std::nullopt);
    std::vector<const Found*> all;
    std::set<std::string> seen;
    for (const Found& found : bound) {
      all.push_back(&found);
      seen.insert(found.packet);
    }
    // What all kinds of work use is not repeated below a draw.
    for (const auto& [packet, found] : last_[context_]) {
      if (seen.count(packet) == 0) all.push_back(&found);
    }
    all.push_back(&own_);
    std::set<size_t> met;
    for (const Found* found : all) {
      for (const Value& value : found->values) {
        met.insert(value.conditions.begin(), value.conditions.end());
      }
    }
    if (met.size() < query_.conditions.size()) return;
    for (const Found* found : all) {
      for (const Value& value : found->values) {
        if (!value.shown || !IsNew(work, value)) continue;
        rows_.OnRow({work.is_draw, work.number, work.submission, work.address, value.path,
                     value.field, value.value, value.name});
      }
    }
  }

  bool IsNew(const Work& work, const Value& value) {
    if (!query_.only_changes) return true;
    std::string& last = listed_[{work.is_draw, value.path, value.field}];
    const std::string text = absl::StrCat("=", value.value);
    return std::exchange(last, text) != text;
  }

  Rows& rows_;
  const Query query_;
  const tables::Tables* tables_ = nullptr;
  absl::flat_hash_set<const tables::Container*> never_;  // no field of these matters
  std::pair<uint32_t, uint32_t> context_;
  // By context and slot: the last packet of each name.
  std::map<std::pair<uint32_t, uint32_t>, std::map<std::string, Found>> last_;
  std::vector<std::pair<uint64_t, std::string>> path_;  // id, and the names up to the record
  Found* to_ = nullptr;                                 // the packet at hand; null: none
  std::optional<Work> work_;                            // whose state comes
  Found own_;                                           // its packet
  std::vector<Found> bound_;
  std::map<std::tuple<bool, std::string, std::string>, std::string> listed_;
};

}  // namespace

absl::StatusOr<Query> ParseQuery(absl::string_view fields,
                                 absl::Span<const std::string> conditions) {
  Query query;
  query.fields = absl::StrSplit(fields, ',', absl::SkipWhitespace());
  for (const std::string& condition : conditions) {
    const std::vector<std::string> parts = absl::StrSplit(condition, absl::MaxSplits('=', 1));
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--where=", condition,
                       " is not a condition; give FIELD=VALUE, as in --where='Surface "
                       "Format=R8G8B8A8_UNORM'"));
    }
    query.conditions.push_back({parts[0], parts[1]});
  }
  if (query.fields.empty()) {
    for (const Condition& one : query.conditions) query.fields.push_back(one.field);
  }
  if (query.fields.empty()) {
    return absl::InvalidArgumentError(
        "--query needs names of fields, as in --query='Kernel Start Pointer*,3DSTATE_PS.*'");
  }
  return query;
}

std::unique_ptr<decode::Sink> MakeQuerySink(Rows& rows, Query query) {
  return std::make_unique<QuerySink>(rows, std::move(query));
}

}  // namespace packsmith::query
