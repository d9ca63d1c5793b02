#include "tools/commands/bug_report.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/markdown.h"
#include "runtime/base/version.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/decode/sinks/overview_sink.h"
#include "runtime/decode/sinks/stats_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/kernel_events.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_text.h"
#include "tools/failures.h"

namespace packsmith::commands {
namespace {

using tools::Then;

// The beginning of a text, and how much there would be: a draw may point to gigabytes.
class BoundedOutput : public decode::Output {
 public:
  void Append(absl::string_view text) override {
    const size_t room = kMostMarkdownBytes - text_.size();
    text_.append(text.data(), std::min(text.size(), room));
    if (text.size() > room) {
      lines_lost_ += static_cast<size_t>(std::count(text.begin() + room, text.end(), '\n'));
    }
  }
  const std::string& text() const { return text_; }
  size_t lines_lost() const { return lines_lost_; }

 private:
  std::string text_;
  size_t lines_lost_ = 0;
};

class BugReport {
 public:
  BugReport(const Arguments& arguments, const Plan& plan, const std::vector<hang::Event>& events,
            tools::Inputs& inputs, const DescribeDump& describe)
      : arguments_(arguments), plan_(plan), events_(events), inputs_(inputs), describe_(describe) {}

  // The exit code.
  int Write() {
    do {
      gpu_.reset();
      reports_.clear();
      facts_.clear();
      verdict_.clear();
      reason_.clear();
      hung_draw_ = 0;
      if (!LookOver()) continue;
      any_ = true;
      WriteGroup();
    } while (inputs_.NextGroup());
    if (!any_ || inputs_.failed()) result_ = kNotDecoded;
    if (!any_) return result_;
    if (arguments_.questions.IsOne() && !found_) {
      return Refuse(arguments_.questions.Missing(draws_, dispatches_).message());
    }
    page_.Paragraph(absl::StrCat("Made by unpack ", Version(), ", descriptions ", BuiltInDigest(),
                                 arguments_.redact ? ", with `--redact`" : "", "."));
    for (const std::string& reason : reasons_) Complain(reason);
    return commands::Write(arguments_, page_.Finish()) ? result_ : kNotDecoded;
  }

 private:
  Then Join(Dump& dump, const std::string& path) {
    const absl::StatusOr<tables::Tables> tables = describe_(dump, path, gpu_ ? gpu_ : before_);
    if (!tables.ok()) return Then::kRefuse;
    if (gpu_ && !gpu_->IsSame(*tables, dump.device)) return Then::kLater;
    if (!gpu_) gpu_ = tools::Gpu{*tables, dump.device};
    before_ = gpu_;
    return Then::kGoOn;
  }

  // Overview, counts, reports, and the draw to show. False: nothing of the group can be shown.
  bool LookOver() {
    decode::OverviewSink overview;
    arguments_.questions.Ask(draws_, dispatches_, overview);
    if (!arguments_.questions.IsOne()) overview.WantDraw(1);
    decode::StringOutput counts;
    const std::unique_ptr<decode::Sink> stats = decode::MakeStatsSink(counts);
    decode::Options brief = plan_.options;
    brief.brief = true;
    std::optional<decode::Decoder> look, count;
    inputs_.ForEach(true, [&](Dump& dump, const std::string& path) {
      const Then then = Join(dump, path);
      if (then != Then::kGoOn) return then;
      if (!look) {
        look.emplace(gpu_->tables, overview, brief);
        count.emplace(gpu_->tables, *stats, brief);
      }
      if (dump.error_state != nullptr) {
        const hang::HangReport report =
            hang::MakeHangReport(gpu_->tables, dump, hang::EventsNear(dump, events_));
        absl::StrAppend(&reports_, hang::ToText(gpu_->tables, report));
        absl::StrAppend(&facts_, hang::FactsToText(*dump.error_state));
        if (verdict_.empty() && !report.verdicts.empty()) verdict_ = report.verdicts[0].sentence;
        if (reason_.empty()) reason_ = report.reason;
        for (const hang::EngineReport& engine : report.engines) {
          if (hung_draw_ != 0 || !engine.work_draw || arguments_.questions.IsOne()) continue;
          hung_draw_ = look->summary().draws + *engine.work_draw;
          overview.WantDraw(hung_draw_);
        }
      }
      look->Decode(dump);
      count->Decode(dump);
      return Then::kGoOn;
    });
    if (!look) return false;
    const decode::Summary summary = look->Finish();
    count->Finish();
    overview_ = overview.Text(!arguments_.no_offsets);
    counts_ = counts.text();
    filter_ = plan_.filter;
    overview.Select(filter_);
    // Earlier packets are shown below the draw.
    filter_.packets.clear();
    group_draws_ = summary.draws;
    group_dispatches_ = summary.dispatches;
    return true;
  }

  // What is shown of the group's draw: what the filter selects. Counts what makes the exit code,
  // but once.
  std::string DrawText(const decode::Filter& filter, bool count) {
    const uint64_t draw = arguments_.questions.draw > draws_ ? arguments_.questions.draw
                          : arguments_.questions.IsOne()
                              ? 0
                              : draws_ + std::max<uint64_t>(hung_draw_, 1);
    decode::Options options = plan_.options;
    options.draws_before = draws_;
    options.dispatches_before = dispatches_;
    options.bound.draw = draw;
    options.bound.dispatch = arguments_.questions.dispatch;
    BoundedOutput text;
    decode::UndescribedSeen undescribed;
    decode::TextOptions text_options;
    text_options.hide_zero_fields = true;
    text_options.undescribed_seen = &undescribed;
    const std::unique_ptr<decode::Sink> writer = decode::MakeTextSink(text, text_options);
    // Without a draw, the beginning of everything.
    const std::unique_ptr<decode::Sink> filtered =
        filter.draw ? decode::MakeFilterSink(*writer, filter) : nullptr;
    std::optional<decode::Decoder> decoder;
    inputs_.ForEach(false, [&](Dump& dump, const std::string& path) {
      const Then then = Join(dump, path);
      if (then != Then::kGoOn) return then;
      if (!decoder) {
        decoder.emplace(gpu_->tables, filtered != nullptr ? *filtered : *writer, options);
      }
      decoder->Decode(dump);
      return Then::kGoOn;
    });
    if (!decoder) return "";
    const decode::Summary summary = decoder->Finish();
    const auto failures = tools::FailuresOf(summary, undescribed, plan_.fail_on);
    if (count && !failures.empty()) {
      result_ = kNotDecoded;
      reasons_.push_back(tools::FailuresText(failures, !arguments_.no_offsets));
    }
    if (text.lines_lost() != 0) {
      page_.LeaveOut(absl::StrCat(text.lines_lost(), " more lines of packets"));
    }
    return text.text();
  }

  void WriteGroup() {
    const bool is_hang = !reports_.empty();
    if (is_hang) {
      page_.Heading("GPU hang");
      if (!reason_.empty()) page_.Paragraph(MarkdownCode(decode::Harmless(reason_)));
      if (!verdict_.empty()) {
        page_.Paragraph(absl::StrCat("Most likely: ", MarkdownCode(decode::Harmless(verdict_))));
      }
      page_.Block("Report of the hang", reports_,
                  {.open = true, .most_bytes = 24'000, .rest = "unpack --hang"});
    } else {
      page_.Heading("GPU command streams");
    }
    page_.Paragraph(absl::StrCat("GPU: ", MarkdownCode(decode::Harmless(gpu_->tables.title()))));
    page_.Block("Overview", overview_,
                {.open = true, .most_bytes = 6'000, .rest = "unpack --format=stats"});
    // The draw's own packet, with what earlier packets have set below it, comes before what was set
    // since the draw before.
    decode::Filter own = filter_, since = filter_;
    if (filter_.draw) {
      own.first_packet = own.last_packet;
      since.last_packet = since.last_packet - 1;
    }
    const std::string text = DrawText(own, true);
    found_ |= filter_.draw;
    std::string title = "The beginning of the packets, without fields that are zero";
    std::string rest = "unpack";
    if (filter_.draw && arguments_.questions.dispatch != 0) {
      title = absl::StrCat("Dispatch ", arguments_.questions.dispatch, ", and its state");
      rest = absl::StrCat("unpack --dispatch=", arguments_.questions.dispatch);
    } else if (filter_.draw) {
      const uint64_t draw = arguments_.questions.draw != 0
                                ? arguments_.questions.draw
                                : draws_ + std::max<uint64_t>(hung_draw_, 1);
      title = absl::StrCat("Draw ", draw,
                           hung_draw_ != 0 ? ", the last one that the engine had begun" : "",
                           ", and its state");
      rest = absl::StrCat("unpack --draw=", draw);
    }
    if (filter_.draw || !arguments_.questions.IsOne()) {
      page_.Block(title, text,
                  {.most_bytes = is_hang ? size_t{12'000} : size_t{24'000}, .rest = rest});
    }
    if (filter_.draw && since.first_packet <= since.last_packet) {
      page_.Block("What was set just before it", DrawText(since, false),
                  {.most_bytes = is_hang ? size_t{10'000} : size_t{24'000}, .rest = rest});
    }
    page_.Block("How often each packet occurs", counts_,
                {.most_bytes = 4'000, .rest = "unpack --format=stats"});
    page_.Block("What else the kernel wrote", facts_, {.rest = "unpack"});
    draws_ += group_draws_;
    dispatches_ += group_dispatches_;
  }

  const Arguments& arguments_;
  const Plan& plan_;
  const std::vector<hang::Event>& events_;
  tools::Inputs& inputs_;
  const DescribeDump& describe_;
  MarkdownPage page_{kMostMarkdownBytes};
  std::vector<std::string> reasons_;
  std::optional<tools::Gpu> before_;  // of the previous dump
  int result_ = kGood;
  bool any_ = false, found_ = false;
  uint64_t draws_ = 0, dispatches_ = 0;  // of the groups so far

  // Of the current group.
  std::optional<tools::Gpu> gpu_;
  std::string reports_, facts_, overview_, counts_, verdict_, reason_;
  decode::Filter filter_;
  uint64_t hung_draw_ = 0;  // counted in the group; 0: none
  uint64_t group_draws_ = 0, group_dispatches_ = 0;
};

}  // namespace

int WriteBugReport(const Arguments& arguments, const Plan& plan,
                   const std::vector<hang::Event>& events, tools::Inputs& inputs,
                   const DescribeDump& describe) {
  if (!plan.filter.all()) {
    return Refuse("a range of addresses and --format=markdown do not go together");
  }
  return BugReport(arguments, plan, events, inputs, describe).Write();
}

}  // namespace packsmith::commands
