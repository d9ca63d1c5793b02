#include "runtime/decode/sinks/stats_sink.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::decode {
namespace {

class StatsSink : public Sink {
 public:
  explicit StatsSink(Output& output) : output_(output) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    // The last one is for unknown dwords.
    counts_.resize(tables.containers().size() + 1);
  }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const Record&) override {}
  void OnPackets(absl::Span<const Brief> packets) override {
    for (const Brief& packet : packets) {
      Count& count = counts_[std::min<size_t>(packet.container, counts_.size() - 1)];
      ++count.packets;
      count.bytes += packet.bytes;
    }
  }
  void OnRemark(absl::string_view text, bool is_problem) override {
    output_.Append(absl::StrCat(is_problem ? "problem: " : "note: ", Harmless(text), "\n"));
  }
  void OnSummary(const Summary& s) override {
    uint64_t bytes = 0;
    std::vector<size_t> order;
    for (size_t i = 0; i < counts_.size(); ++i) {
      bytes += counts_[i].bytes;
      if (counts_[i].packets != 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return counts_[a].packets > counts_[b].packets; });
    std::string text =
        absl::StrFormat("%10s  %10s  %6s  %s\n", "count", "dwords", "share", "packet");
    for (const size_t i : order) {
      const Count& count = counts_[i];
      const bool known = i + 1 < counts_.size();
      absl::StrAppendFormat(
          &text, "%10d  %10d  %5.1f%%  %s\n", count.packets, (count.bytes + 3) / 4,
          100.0 * static_cast<double>(count.bytes) /
              static_cast<double>(std::max<uint64_t>(bytes, 1)),
          known ? tables_->string(tables_->container(static_cast<uint32_t>(i)).name) : "unknown");
    }
    absl::StrAppend(
        &text, "\n", Counted(s.submissions, "submission"), ", ", Counted(s.packets, "packet"),
        " of ", Counted(order.size() - (counts_.back().packets != 0), "kind"), ", ",
        Counted(s.draws, "draw"), ", ", s.dispatches,
        s.dispatches == 1 ? " dispatch; " : " dispatches; ",
        Counted(s.unknown_dwords, "unknown dword"), ", ", Counted(s.problems, "problem"), "\n");
    output_.Append(text);
  }

 private:
  struct Count {
    uint64_t packets = 0;
    uint64_t bytes = 0;
  };
  Output& output_;
  const tables::Tables* tables_ = nullptr;
  std::vector<Count> counts_;
};

}  // namespace

std::unique_ptr<Sink> MakeStatsSink(Output& output) { return std::make_unique<StatsSink>(output); }

}  // namespace packsmith::decode
