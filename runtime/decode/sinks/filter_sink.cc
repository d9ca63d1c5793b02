#include "runtime/decode/sinks/filter_sink.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"

namespace packsmith::decode {

bool MatchesGlob(absl::string_view glob, absl::string_view text) {
  size_t g = 0, t = 0;
  // The point to return to: after the last star, and what it has matched so far.
  size_t star = absl::string_view::npos, swallowed = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = ++g;
      swallowed = t;
    } else if (g < glob.size() &&
               (glob[g] == '?' || absl::ascii_tolower(static_cast<unsigned char>(glob[g])) ==
                                      absl::ascii_tolower(static_cast<unsigned char>(text[t])))) {
      ++g;
      ++t;
    } else if (star != absl::string_view::npos) {
      g = star;
      t = ++swallowed;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

namespace {

class FilterSink : public Sink {
 public:
  FilterSink(Sink& next, Filter filter) : next_(next), filter_(std::move(filter)) {}

  void OnSchema(const tables::Tables& tables) override {
    for (const tables::Container& container : tables.containers()) {
      matches_.push_back(Matches(tables.string(container.name)));
    }
    tables_ = &tables;
    matches_unknown_ = Matches("unknown");
    next_.OnSchema(tables);
  }
  void OnDevice(const Device& device, uint64_t id) override { next_.OnDevice(device, id); }
  void OnDump(const Dump* dump) override { next_.OnDump(dump); }
  void OnSubmission(const Submission& submission, uint64_t id) override {
    submission_ = submission;
    submission_id_ = id;
    path_.clear();
  }

  void OnInsert(absl::string_view text) override { next_.OnInsert(text); }

  void OnLead(const Lead& lead) override { leads_.emplace_back(lead, *lead.at); }

  void OnRecord(const Record& record) override {
    const std::vector<std::pair<Lead, FieldAt>> leads = std::exchange(leads_, {});
    if (record.type == RecordType::kRegister) {
      const bool named = filter_.names.empty() || Matches(record.name);
      if (named && !filter_.draw && filter_.first == 0 && filter_.end == ~uint64_t{0}) {
        next_.OnRecord(record);
      }
      return;
    }
    const bool own = record.parent == submission_id_ &&
                     (record.type == RecordType::kPacket || record.type == RecordType::kUnknown);
    if (own) {
      path_.clear();
      in_draw_ = NextIsInDraw();
    }
    while (!path_.empty() && path_.back().first != record.parent) path_.pop_back();
    const bool led_to = !path_.empty() && path_.back().second;
    const bool named = record.container != nullptr ? matches_[tables_->IndexOf(*record.container)]
                       : record.type == RecordType::kUnknown ? matches_unknown_
                                                             : Matches(record.name);
    const uint64_t size = record.type == RecordType::kData ? record.data_size : record.bytes.size();
    const bool shown = in_draw_ && (led_to || (named && InRange(record.address, size)));
    path_.emplace_back(record.id, shown);
    if (!shown) return;
    Announce();
    for (const auto& [lead, at] : leads) {
      Lead copy = lead;
      copy.at = &at;
      next_.OnLead(copy);
    }
    next_.OnRecord(record);
  }

  void OnPackets(absl::Span<const Brief> packets) override {
    shown_.clear();
    for (const Brief& packet : packets) {
      const bool named =
          packet.container == tables::kNone ? matches_unknown_ : matches_[packet.container];
      if (NextIsInDraw() && named && InRange(packet.address, packet.bytes)) {
        shown_.push_back(packet);
      }
    }
    if (shown_.empty()) return;
    Announce();
    next_.OnPackets(shown_);
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    next_.OnRemark(text, is_problem);
  }
  void OnSummary(const Summary& summary) override { next_.OnSummary(summary); }
  void OnPause() override { next_.OnPause(); }

 private:
  bool Matches(absl::string_view name) const {
    return filter_.names.empty() ||
           std::any_of(filter_.names.begin(), filter_.names.end(),
                       [&](const std::string& glob) { return MatchesGlob(glob, name); });
  }
  bool InRange(uint64_t address, uint64_t size) const {
    const uint64_t end = size > ~address ? ~uint64_t{0} : address + size;
    return address < filter_.end && (end > filter_.first || address >= filter_.first);
  }
  // Of the next packet of the submissions' own streams.
  bool NextIsInDraw() {
    const uint64_t ordinal = ordinal_++;
    if (!filter_.draw) return true;
    if (ordinal >= filter_.first_packet && ordinal <= filter_.last_packet) return true;
    while (wanted_ < filter_.packets.size() && filter_.packets[wanted_] < ordinal) ++wanted_;
    return wanted_ < filter_.packets.size() && filter_.packets[wanted_] == ordinal;
  }
  void Announce() {
    if (!submission_) return;
    next_.OnSubmission(*submission_, submission_id_);
    submission_.reset();
  }

  Sink& next_;
  Filter filter_;
  const tables::Tables* tables_ = nullptr;
  std::vector<bool> matches_;  // by container
  bool matches_unknown_ = false;
  std::optional<Submission> submission_;  // not forwarded yet
  uint64_t submission_id_ = 0;
  uint64_t ordinal_ = 0;
  size_t wanted_ = 0;
  bool in_draw_ = true;
  // From a packet to the record at hand: id and whether it is shown.
  std::vector<std::pair<uint64_t, bool>> path_;
  std::vector<Brief> shown_;
  // Of the next record. It is not known yet whether that is shown.
  std::vector<std::pair<Lead, FieldAt>> leads_;
};

}  // namespace

std::unique_ptr<Sink> MakeFilterSink(Sink& next, Filter filter) {
  return std::make_unique<FilterSink>(next, std::move(filter));
}

}  // namespace packsmith::decode
