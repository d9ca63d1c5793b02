#include "runtime/hang/bound_state.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/decode/sinks/overview_sink.h"
#include "runtime/hang/buffer_place.h"

namespace packsmith::hang {
namespace {

constexpr size_t kMostBound = 128;     // packets
constexpr size_t kMostReached = 64;    // of one packet
constexpr size_t kMostAddresses = 64;  // of one packet or structure

class BoundSink : public decode::Sink {
 public:
  BoundSink(const Dump& dump, EngineReport& engine) : dump_(dump), engine_(engine) {}

  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission& submission, uint64_t) override {
    own_space_ = submission.own_space.value_or(submission.space);
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override { Keep(); }

  void OnRecord(const decode::Record& record) override {
    switch (record.type) {
      case decode::RecordType::kPacket: {
        Keep();
        packet_ = {};
        packet_.packet = std::string(record.name);
        packet_.address = record.address;
        Addresses(record, packet_.addresses);
        Command work;
        work.space = record.space;
        work.address = record.address;
        work.size = record.bytes.size();
        work.depth = record.depth;
        work.container = record.container;
        work.bytes.assign(record.bytes.begin(),
                          record.bytes.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                     record.bytes.size(), Command::kMostBytes)));
        engine_.work = std::move(work);
        break;
      }
      case decode::RecordType::kStruct:
        // Values that are written to registers are not bound.
        if (record.register_offset < 0) Add(record, record.index, "");
        break;
      case decode::RecordType::kData: {
        std::string about;
        if (record.kernel != nullptr) {
          about = std::string(record.kernel->stage);
          if (record.kernel->simd != 0) {
            absl::StrAppend(&about, about.empty() ? "" : ", ", "simd ", record.kernel->simd);
          }
        }
        Add(record, record.slot, std::move(about));
        break;
      }
      case decode::RecordType::kUnknown:
      case decode::RecordType::kRegister:
        break;
    }
  }

 private:
  // Keeps the current packet, which is complete.
  void Keep() {
    if (!packet_.addresses.empty() || !packet_.reached.empty()) {
      if (engine_.bound.size() < kMostBound) {
        engine_.bound.push_back(std::move(packet_));
      } else {
        ++engine_.bound_left_out;
      }
    }
    packet_ = {};
  }

  void Add(const decode::Record& record, int64_t index, std::string about) {
    if (packet_.reached.size() == kMostReached) {
      ++engine_.bound_left_out;
      return;
    }
    Reached reached;
    reached.name = std::string(record.name);
    reached.index = index;
    reached.about = std::move(about);
    reached.size =
        record.type == decode::RecordType::kData ? record.data_size : record.bytes.size();
    reached.place = PlaceOf(dump_, record.space, record.address);
    if (record.container != nullptr) Addresses(record, reached.addresses);
    packet_.reached.push_back(std::move(reached));
  }

  void Addresses(const decode::Record& record, std::vector<Address>& to) {
    decode::ForEachField(*tables_, *record.container, record.bytes, [&](const decode::FieldAt& at) {
      if (at.leaf->type != tables::LeafType::kAddress || at.cut) return;
      const uint64_t raw = decode::ReadBits(record.bytes, at.bit, at.width);
      if (raw == 0 || to.size() == kMostAddresses) return;
      const uint64_t address =
          decode::NumberOf(decode::DecodeValue(*tables_, *at.leaf, at.width, raw), raw);
      uint32_t space = own_space_;
      if (at.leaf->extra != tables::kNone) {
        const uint32_t pointer = tables_->extra(at.leaf->extra).pointer;
        const decode::Scope scope(*tables_, at, record.bytes);
        if (pointer != tables::kNone) {
          space = decode::SpaceOf(tables_->pointer(pointer), scope, own_space_);
        }
      }
      Address one;
      decode::AppendFieldName(at.name, one.field);
      one.place = PlaceOf(dump_, space, address);
      to.push_back(std::move(one));
    });
  }

  const Dump& dump_;
  EngineReport& engine_;
  const tables::Tables* tables_ = nullptr;
  uint32_t own_space_ = 0;
  Bound packet_;  // the current one
};

}  // namespace

void FindBound(const tables::Tables& tables, const Dump& dump, const Walk& walk, uint64_t ordinal,
               EngineReport& engine) {
  decode::OverviewSink overview;
  overview.WantPacket(ordinal);
  {
    decode::Options options = walk.options;
    options.brief = true;
    decode::Decoder decoder(tables, overview, options);
    decoder.Decode(dump, walk.submissions);
    decoder.Finish();
  }
  decode::Filter filter;
  overview.Select(filter);
  if (!filter.draw) return;
  BoundSink bound(dump, engine);
  const std::unique_ptr<decode::Sink> filtered = decode::MakeFilterSink(bound, filter);
  decode::Options options = walk.options;
  options.most_rows = 1;
  decode::Decoder decoder(tables, *filtered, options);
  decoder.Decode(dump, walk.submissions);
  decoder.Finish();
}

}  // namespace packsmith::hang
