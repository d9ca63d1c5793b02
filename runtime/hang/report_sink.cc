#include "runtime/hang/report_sink.h"

#include <utility>

namespace packsmith::hang {
namespace {

class HangSink : public decode::Sink {
 public:
  HangSink(decode::Sink& next, std::function<std::string(const tables::Tables&, const Dump&)> write)
      : next_(next), write_(std::move(write)) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    next_.OnSchema(tables);
  }
  void OnDevice(const Device& device, uint64_t id) override { next_.OnDevice(device, id); }
  void OnSubmission(const Submission& submission, uint64_t id) override {
    next_.OnSubmission(submission, id);
  }
  void OnLead(const decode::Lead& lead) override { next_.OnLead(lead); }
  void OnRecord(const decode::Record& record) override { next_.OnRecord(record); }
  void OnDump(const Dump* dump) override {
    next_.OnDump(dump);
    if (dump == nullptr || dump->error_state == nullptr) return;
    next_.OnInsert(write_(*tables_, *dump));
  }
  void OnInsert(absl::string_view text) override { next_.OnInsert(text); }
  void OnPackets(absl::Span<const decode::Brief> packets) override { next_.OnPackets(packets); }
  void OnRemark(absl::string_view text, bool is_problem) override {
    next_.OnRemark(text, is_problem);
  }
  void OnSummary(const decode::Summary& summary) override { next_.OnSummary(summary); }
  void OnPause() override { next_.OnPause(); }

 private:
  decode::Sink& next_;
  const std::function<std::string(const tables::Tables&, const Dump&)> write_;
  const tables::Tables* tables_ = nullptr;
};

}  // namespace

std::unique_ptr<decode::Sink> MakeHangSink(
    decode::Sink& next, std::function<std::string(const tables::Tables&, const Dump&)> write) {
  return std::make_unique<HangSink>(next, std::move(write));
}

}  // namespace packsmith::hang
