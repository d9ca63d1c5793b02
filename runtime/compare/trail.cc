#include "runtime/compare/trail.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/walk/settings.h"
#include "runtime/dump/dump.h"

namespace packsmith::compare {
namespace {

using decode::FieldAt;
using decode::Record;
using decode::RecordType;

constexpr uint64_t kMostHashed = uint64_t{64} << 20;  // bytes of one piece of data

bool IsAddress(const tables::Tables&, const tables::Leaf& leaf) {
  return leaf.type == tables::LeafType::kAddress;
}

uint64_t HashOfBytes(absl::Span<const uint8_t> bytes) {
  return absl::HashOf(absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// Makes items of records.
class Recorder {
 public:
  explicit Recorder(Trail& trail) : trail_(trail), addresses_(trail.tables, IsAddress) {}

  void OnDump(const Dump* dump) {
    dump_ = dump;
    hashes_.clear();
  }
  void OnLead(const decode::Lead& lead) {
    Address address = At(*lead.at, lead.space, lead.address);
    address.is_lead = true;
    address.is_batch = lead.pointer->target_kind == tables::TargetKind::kStream;
    leads_.push_back(std::move(address));
  }

  // The index of the new item, if it is no child of another one, nor a register. Vertices, which
  // the decoder shows at some of the draws that read them, are no items.
  std::optional<uint32_t> OnRecord(const Record& record) {
    if (record.type == RecordType::kRegister) {
      OnRegister(record);
      return std::nullopt;
    }
    while (!stack_.empty() && stack_.back().first != record.parent) stack_.pop_back();
    // A structure without a parent is a submission of its own: a context's image.
    const bool is_child =
        !stack_.empty() && (record.type == RecordType::kStruct || record.type == RecordType::kData);
    const Address* by = nullptr;
    if (is_child) {
      by = LeadTo(record, stack_.back().second);
    } else {
      used_.clear();
    }
    if (record.type == RecordType::kData && by == nullptr) return std::nullopt;
    const std::string field = by == nullptr ? "" : by->field;
    const auto index = static_cast<uint32_t>(trail_.items.size());
    Item& item = Make(record);
    item.by = field;
    item.index = record.index;
    if (record.type == RecordType::kData) {
      Contents(record, item);
    } else if (record.container != nullptr) {
      Addresses(record, item);
    }
    if (is_child) trail_.items[stack_.back().second].children.push_back(index);
    stack_.emplace_back(record.id, index);
    return is_child ? std::nullopt : std::make_optional(index);
  }

  // All records have come. Children come after their parents.
  void Finish() {
    for (size_t i = trail_.items.size(); i-- > 0;) {
      Item& item = trail_.items[i];
      if (item.type != RecordType::kData) item.own_hash = OwnHash(item);
      item.hash = item.own_hash;
      for (const uint32_t child : item.children) {
        const Item& other = trail_.items[child];
        item.hash = absl::HashOf(item.hash, other.by, other.index, other.hash);
      }
    }
  }

 private:
  Item& Make(const Record& record) {
    Item& item = trail_.items.emplace_back();
    item.type = record.type;
    item.container = record.container;
    item.name = std::string(record.name.empty() ? absl::string_view("unknown") : record.name);
    item.submission = record.submission;
    item.space = record.space;
    item.address = record.address;
    item.draw = record.draw;
    item.dispatch = record.dispatch;
    item.bytes.assign(record.bytes.begin(), record.bytes.end());
    return item;
  }

  // The field of an item that points to a record, or null. Of several with the same address the
  // first that has no record yet.
  const Address* LeadTo(const Record& record, uint32_t parent) {
    // Only the first record of a table is at the pointer's address.
    const uint64_t behind =
        record.index > 0 ? static_cast<uint64_t>(record.index) * record.bytes.size() : 0;
    const Address* first = nullptr;
    for (const Address& address : trail_.items[parent].addresses) {
      const bool leads = address.is_lead && address.space == record.space &&
                         address.address + behind == record.address;
      if (!leads) continue;
      if (used_.insert({parent, address.bit, record.index}).second) return &address;
      if (first == nullptr) first = &address;
    }
    return first;
  }

  void OnRegister(const Record& record) {
    const auto index = static_cast<uint32_t>(trail_.items.size());
    Item& item = Make(record);
    if (record.dumped != nullptr) item.by = record.dumped->name;
    if (!record.engine.empty()) item.by = absl::StrCat(record.engine, " ", item.by);
    if (record.container == nullptr && record.dumped != nullptr) item.name = record.dumped->name;
    if (record.container != nullptr) Addresses(record, item);
    trail_.registers.push_back(index);
  }

  Address At(const FieldAt& at, uint32_t space, uint64_t address) {
    Address found{"", at.bit, at.width, space, address, 0, 0, false, false};
    decode::AppendFieldName(at.name, found.field);
    std::tie(found.region, found.offset) = RegionOf(space, address);
    return found;
  }

  std::pair<uint32_t, uint64_t> RegionOf(uint32_t space, uint64_t address) {
    Region region{space, address};
    if (dump_ != nullptr) {
      if (const Buffer* const buffer = dump_->FindBuffer(space, address)) {
        region = {space, buffer->address};
      } else if (const Memory::Segment* const segment = dump_->memory.Find(space, address)) {
        region = {space, segment->address};
      }
    }
    const auto [known, fresh] = regions_.try_emplace(std::make_pair(space, region.address),
                                                     static_cast<uint32_t>(trail_.regions.size()));
    if (fresh) trail_.regions.push_back(region);
    return {known->second, address - region.address};
  }

  // The pointers in use that were announced before the record, and its other addresses.
  void Addresses(const Record& record, Item& item) {
    item.addresses = std::exchange(leads_, {});
    const auto by_bit = [](const Address& x, const Address& y) { return x.bit < y.bit; };
    std::stable_sort(item.addresses.begin(), item.addresses.end(), by_bit);
    absl::flat_hash_set<uint64_t> leads;
    for (const Address& lead : item.addresses) leads.insert(lead.bit);
    decode::ForEachField(trail_.tables, addresses_, record.view(), [&](const FieldAt& at) {
      if (at.cut || at.width > 64 || leads.contains(at.bit)) return;
      const uint64_t raw = decode::ReadBits(record.bytes, at.bit, at.width);
      const uint64_t address = decode::NumberOfBits(trail_.tables, *at.leaf, at.width, raw);
      item.addresses.push_back(At(at, record.space, address));
    });
    std::stable_sort(item.addresses.begin(), item.addresses.end(), by_bit);
  }

  void Contents(const Record& record, Item& item) {
    item.data_size = record.data_size;
    absl::Span<const uint8_t> code;
    if (record.kernel != nullptr) code = record.kernel->code;
    if (!code.empty()) {
      item.bytes.assign(code.begin(), code.begin() + static_cast<ptrdiff_t>(
                                                         std::min(code.size(), Trail::kMostBytes)));
      item.own_hash = absl::HashOf(item.name, item.data_size, HashOfBytes(code));
      return;
    }
    const auto key = std::make_tuple(record.space, record.address, record.data_size);
    const auto [known, fresh] = hashes_.try_emplace(key, 0);
    if (fresh) known->second = HashOfMemory(record);
    item.own_hash = absl::HashOf(item.name, item.data_size, known->second);
    if (dump_ == nullptr || item.bytes.size() >= Trail::kMostBytes) return;
    item.bytes.resize(std::min<uint64_t>(record.data_size, Trail::kMostBytes));
    item.bytes.resize(dump_->memory.Copy(record.space, record.address, absl::MakeSpan(item.bytes)));
  }

  uint64_t HashOfMemory(const Record& record) const {
    if (dump_ == nullptr) return HashOfBytes(record.bytes);
    uint64_t hash = 0;
    const uint64_t size = std::min(record.data_size, kMostHashed);
    // Pieces of one size, wherever the segments of memory end.
    std::vector<uint8_t> piece(std::min<uint64_t>(size, uint64_t{1} << 16));
    for (uint64_t done = 0; done < size;) {
      const absl::Span<uint8_t> some =
          absl::MakeSpan(piece).subspan(0, std::min<uint64_t>(piece.size(), size - done));
      const size_t copied = dump_->memory.Copy(record.space, record.address + done, some);
      hash = absl::HashOf(hash, HashOfBytes(some.first(copied)));
      done += copied;
      if (copied < some.size()) break;
    }
    return hash;
  }

  static uint64_t OwnHash(const Item& item) {
    std::vector<uint8_t> bytes = item.bytes;
    for (const Address& address : item.addresses) {
      for (uint32_t done = 0; done < address.width;) {
        const uint32_t some = std::min(address.width - done, 32u);
        decode::WriteBits(absl::MakeSpan(bytes), address.bit + done, some, 0);
        done += some;
      }
    }
    return absl::HashOf(item.name, HashOfBytes(bytes));
  }

  Trail& trail_;
  const Dump* dump_ = nullptr;
  decode::ChosenLeaves addresses_;
  std::vector<Address> leads_;                        // of the next record
  std::vector<std::pair<uint64_t, uint32_t>> stack_;  // id and item, from a packet on
  // Item, bit of a pointer, and number in a table: those that have a record.
  absl::flat_hash_set<std::tuple<uint32_t, uint64_t, int64_t>> used_;
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, uint32_t> regions_;
  absl::flat_hash_map<std::tuple<uint32_t, uint64_t, uint64_t>, uint64_t> hashes_;
};

class TrailSink : public decode::Sink {
 public:
  explicit TrailSink(Trail& trail) : trail_(trail), recorder_(trail) {}

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnDump(const Dump* dump) override { recorder_.OnDump(dump); }
  void OnSubmission(const Submission& submission, uint64_t) override {
    trail_.sequences.push_back({submission.engine, submission.kind, submission.index, false, {}});
  }
  void OnLead(const decode::Lead& lead) override { recorder_.OnLead(lead); }
  void OnRecord(const Record& record) override {
    const std::optional<uint32_t> item = recorder_.OnRecord(record);
    if (item && !trail_.sequences.empty()) trail_.sequences.back().items.push_back(*item);
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override { recorder_.Finish(); }

 private:
  Trail& trail_;
  Recorder recorder_;
};

class StateSink : public decode::Sink {
 public:
  StateSink(Trail& trail, uint64_t draw, uint64_t dispatch)
      : trail_(trail), recorder_(trail), rules_(trail.tables), draw_(draw), dispatch_(dispatch) {}

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnDump(const Dump* dump) override {
    dump_ = dump;
    recorder_.OnDump(dump);
  }
  void OnSubmission(const Submission& submission, uint64_t) override {
    // Packets of earlier submissions come as bound ones.
    if (!found_) since_.clear();
    submission_ = {submission.engine, submission.kind, submission.index, true, {}};
  }
  void OnLead(const decode::Lead& lead) override { recorder_.OnLead(lead); }
  void OnRecord(const Record& record) override {
    const std::optional<uint32_t> item = recorder_.OnRecord(record);
    if (!item || record.type != RecordType::kPacket) return;
    const bool wanted = draw_ != 0 ? record.draw == draw_ : record.dispatch == dispatch_;
    if (record.bound) {
      if (wanted) Set(record, *item, before_);
      return;
    }
    if (found_) return;
    const bool works = record.container->role != tables::Role::kOther;
    if (works && wanted) {
      found_ = *item;
      trail_.sequences.push_back(submission_);
    } else if (works && (dispatch_ != 0 || record.container->role == tables::Role::kDraw)) {
      since_.clear();
    } else if (!works) {
      Set(record, *item, since_);
    }
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {
    recorder_.Finish();
    if (!found_) return;
    for (const auto& [key, item] : since_) before_[key] = item;
    std::vector<uint32_t>& items = trail_.sequences.back().items;
    std::vector<bool> listed(trail_.items.size());
    for (const auto& [key, item] : before_) {
      if (listed[item]) continue;
      listed[item] = true;
      items.push_back(item);
      // Packets of one name are told apart by what they set.
      trail_.items[item].key =
          absl::HashOf(static_cast<uint32_t>(std::get<1>(key)), std::get<2>(key));
    }
    items.push_back(*found_);
  }

 private:
  // By name: other descriptions have other indices.
  using State = std::map<std::tuple<std::string, decode::SettingKey::What, uint64_t>, uint32_t>;

  void Set(const Record& record, uint32_t item, State& state) const {
    if (record.container == nullptr) return;
    rules_.ForEach(
        trail_.tables.IndexOf(*record.container), record.bytes,
        dump_ == nullptr ? nullptr : &dump_->memory, record.space,
        [&](const decode::SettingKey& key) {
          const tables::Container& container = trail_.tables.container(key.container);
          state[{std::string(trail_.tables.string(container.name)), key.what, key.number}] = item;
        });
  }

  Trail& trail_;
  Recorder recorder_;
  const decode::SettingRules rules_;
  const uint64_t draw_, dispatch_;
  const Dump* dump_ = nullptr;
  Sequence submission_;
  State before_, since_;  // the previous draw
  std::optional<uint32_t> found_;
};

}  // namespace

std::unique_ptr<decode::Sink> MakeTrailSink(Trail& trail) {
  return std::make_unique<TrailSink>(trail);
}

std::unique_ptr<decode::Sink> MakeStateSink(Trail& trail, uint64_t draw, uint64_t dispatch) {
  return std::make_unique<StateSink>(trail, draw, dispatch);
}

}  // namespace packsmith::compare
