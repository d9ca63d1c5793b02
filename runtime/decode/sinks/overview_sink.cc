#include "runtime/decode/sinks/overview_sink.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::decode {
namespace {

constexpr size_t kMostLines = 32;
constexpr size_t kMostProblems = 8;
constexpr size_t kMostKinds = 1 << 16;

}  // namespace

void OverviewSink::OnSchema(const tables::Tables& tables) {
  tables_ = &tables;
  rules_ = std::make_unique<SettingRules>(tables);
  counts_.resize(tables.containers().size());
}

void OverviewSink::OnSubmission(const Submission& s, uint64_t) {
  here_ = &last_[{s.context, s.slot}];
  after_last_draw_ = ordinal_;
  if (lines_.size() >= kMostLines) {
    ++rest_.index;
    return;
  }
  Line line{s.index,
            s.engine,
            s.kind.empty() ? "batch" : s.kind,
            s.batch_address,
            s.batch_length,
            "",
            0,
            0,
            0,
            0,
            0};
  const Buffer* buffer = dump_ == nullptr ? nullptr : dump_->FindBuffer(s.space, s.batch_address);
  if (buffer != nullptr) line.buffer = buffer->name;
  lines_.push_back(std::move(line));
}

void OverviewSink::OnPackets(absl::Span<const Brief> packets) {
  Line& line = rest_.index == 0 && !lines_.empty() ? lines_.back() : rest_;
  for (const Brief& packet : packets) {
    const uint64_t ordinal = ordinal_++;
    if (packet.container == tables::kNone) {
      if (!any_unknown_) first_unknown_ = packet.address;
      any_unknown_ = true;
      line.unknown_dwords += (packet.bytes + 3) / 4;
      continue;
    }
    ++line.packets;
    ++counts_[packet.container];
    const tables::Role role = tables_->container(packet.container).role;
    if (role == tables::Role::kDispatch) {
      ++line.dispatches;
      ++dispatches_seen_;
    }
    if (role == tables::Role::kDraw) {
      ++line.draws;
      ++draws_seen_;
    }
    // Dispatches belong to no draw; if one of them is wanted, they count as draws.
    const bool is_work =
        role == tables::Role::kDraw ||
        (role == tables::Role::kDispatch && (dispatch_ != 0 || packet_ != ~uint64_t{0}));
    if (is_work) {
      if (ordinal == packet_ ||
          (role == tables::Role::kDraw ? draws_seen_ == draw_ : dispatches_seen_ == dispatch_)) {
        for (const auto& [kind, last] : *here_) {
          if (last < after_last_draw_) packets_.push_back(last);
        }
        std::sort(packets_.begin(), packets_.end());
        packets_.erase(std::unique(packets_.begin(), packets_.end()), packets_.end());
        found_ = true;
        first_packet_ = after_last_draw_;
        last_packet_ = ordinal;
      }
      after_last_draw_ = ordinal + 1;
    } else if (Looks() && role == tables::Role::kOther) {
      Remember(packet, ordinal);
    }
  }
}

void OverviewSink::Remember(const Brief& packet, uint64_t ordinal) {
  rules_->ForEach(packet.container, {packet.data, packet.bytes},
                  dump_ == nullptr ? nullptr : &dump_->memory, packet.space,
                  [&](const SettingKey& key) {
                    // There may be many registers.
                    if (key.what == SettingKey::What::kRegister && here_->size() >= kMostKinds) {
                      return;
                    }
                    (*here_)[key] = ordinal;
                  });
}

void OverviewSink::OnRemark(absl::string_view text, bool is_problem) {
  if (!is_problem) return;
  ++(rest_.index == 0 && !lines_.empty() ? lines_.back() : rest_).problems;
  if (problems_.size() < kMostProblems) problems_.push_back(Harmless(text));
}

void OverviewSink::OnSummary(const Summary& summary) { summary_ = summary; }

std::string OverviewSink::Text(bool offsets) const {
  const auto kinds = static_cast<uint64_t>(
      std::count_if(counts_.begin(), counts_.end(), [](uint64_t n) { return n != 0; }));
  std::string text =
      absl::StrCat("overview  ", Counted(summary_.submissions, "submission"), ", ",
                   Counted(summary_.packets, "packet"), " of ", Counted(kinds, "kind"), ", ",
                   Counted(summary_.draws, "draw"), ", ", summary_.dispatches,
                   summary_.dispatches == 1 ? " dispatch; " : " dispatches; ");
  if (summary_.unknown_dwords == 0 && summary_.problems == 0) {
    text += "all of it decoded\n";
  } else {
    absl::StrAppend(&text, "not decoded: ", Counted(summary_.unknown_dwords, "dword"));
    if (any_unknown_ && offsets) absl::StrAppendFormat(&text, ", first at 0x%x", first_unknown_);
    absl::StrAppend(&text, "; ", Counted(summary_.problems, "problem"), "\n");
  }
  for (const Line& line : lines_) {
    absl::StrAppendFormat(&text, "    %d  %s", line.index,
                          line.engine.empty() ? "engine not known" : Harmless(line.engine));
    absl::StrAppend(&text, ", ", Harmless(line.kind));
    if (offsets) absl::StrAppendFormat(&text, " at 0x%x", line.address);
    if (offsets && !line.buffer.empty()) absl::StrAppend(&text, " in ", Harmless(line.buffer));
    absl::StrAppend(&text, ", ", ShowLength(line.length), ": ", Counted(line.packets, "packet"));
    if (line.draws != 0) absl::StrAppend(&text, ", ", Counted(line.draws, "draw"));
    if (line.dispatches != 0) {
      absl::StrAppend(&text, ", ", line.dispatches,
                      line.dispatches == 1 ? " dispatch" : " dispatches");
    }
    if (line.unknown_dwords != 0) {
      absl::StrAppend(&text, ", ", Counted(line.unknown_dwords, "unknown dword"));
    }
    if (line.problems != 0) absl::StrAppend(&text, ", ", Counted(line.problems, "problem"));
    text += "\n";
  }
  if (rest_.index != 0) {
    absl::StrAppend(&text, "    and ", Counted(rest_.index, "more submission"), ": ",
                    Counted(rest_.packets, "packet"), ", ", Counted(rest_.draws, "draw"), "\n");
  }
  for (const std::string& problem : problems_) {
    absl::StrAppend(&text, "    problem: ", problem, "\n");
  }
  if (summary_.problems > problems_.size()) {
    absl::StrAppend(&text, "    and ",
                    Counted(summary_.problems - problems_.size(), "more problem"), "\n");
  }
  return text;
}

}  // namespace packsmith::decode
