#include "runtime/source/places.h"

#include <algorithm>

#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"

namespace packsmith::source {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // of a record

class PlaceSink : public decode::Sink {
 public:
  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnLead(const decode::Lead& lead) override {
    const tables::Pointer& pointer = *lead.pointer;
    targets_.push_back({lead.at->bit, lead.space, lead.address,
                        pointer.base != tables::kNone && pointer.relative == 0});
  }
  void OnRecord(const decode::Record& record) override {
    std::vector<Target> targets = std::move(targets_);
    targets_.clear();
    if (record.type == decode::RecordType::kData) {
      places_.data.emplace(std::pair(record.space, record.address), std::string(record.name));
      return;
    }
    const bool described =
        record.type == decode::RecordType::kPacket || record.type == decode::RecordType::kStruct;
    if (!described || record.register_offset >= 0 || record.bound || record.bytes.empty() ||
        record.bytes.size() > kMostBytes) {
      return;
    }
    places_.entries.push_back(
        {record.space, record.address, static_cast<uint32_t>(record.bytes.size()),
         record.type == decode::RecordType::kPacket, record.container, std::move(targets)});
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}

  // Without entries that overlap one that begins before, or was reached before.
  Places Take() {
    std::vector<Places::Entry>& entries = places_.entries;
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Places::Entry& a, const Places::Entry& b) {
                       return std::pair(a.space, a.address) < std::pair(b.space, b.address);
                     });
    std::vector<Places::Entry> taken;
    for (Places::Entry& entry : entries) {
      if (!taken.empty() && taken.back().space == entry.space &&
          entry.address - taken.back().address < taken.back().size) {
        continue;
      }
      taken.push_back(std::move(entry));
    }
    entries = std::move(taken);
    return std::move(places_);
  }

 private:
  Places places_;
  std::vector<Target> targets_;  // of the next record
};

}  // namespace

Places FindPlaces(const tables::Tables& tables, const Dump& dump) {
  PlaceSink sink;
  decode::Options options;
  options.leads = true;
  decode::Decoder decoder(tables, sink, options);
  decoder.Decode(dump);
  decoder.Finish();
  return sink.Take();
}

}  // namespace packsmith::source
