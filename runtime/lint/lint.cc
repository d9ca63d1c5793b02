#include "runtime/lint/lint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/lint/alarms.h"
#include "runtime/lint/cache_actions.h"
#include "runtime/lint/context.h"
#include "runtime/lint/declared_rules.h"
#include "runtime/lint/pointer_rules.h"
#include "runtime/lint/record_rules.h"
#include "runtime/lint/relation_rules.h"
#include "runtime/lint/setting_rules.h"
#include "runtime/lint/vertex_rules.h"
#include "runtime/lint/workaround_rules.h"

namespace packsmith::lint {
namespace {

using decode::FieldAt;
using decode::Record;
using decode::RecordType;

bool CountsGroups(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.extra != tables::kNone &&
         tables.extra(leaf.extra).meaning == tables::Meaning::kGroups;
}

// Of one context and slot.
struct AllState {
  Context context;
  RelationState relations;
  VertexState vertices;
  SettingState settings;
  WorkaroundState workarounds;
};

// All that depends on the description.
class Rules {
 public:
  Rules(const tables::Tables& tables, const Product& product, const Zones& zones, Alarms& alarms)
      : evaluator(tables),
        records(tables, alarms),
        pointers(tables, evaluator, zones, alarms),
        relations(tables, alarms),
        vertices(tables, evaluator, alarms),
        settings(tables, alarms),
        workarounds(tables, product, alarms),
        declared(tables, evaluator, alarms),
        actions(tables),
        groups(tables, CountsGroups) {}

  const Evaluator evaluator;
  RecordRules records;
  PointerRules pointers;
  RelationRules relations;
  VertexRules vertices;
  SettingRules settings;
  WorkaroundRules workarounds;
  DeclaredRules declared;
  CacheActionFinder actions;
  decode::ChosenLeaves groups;
};

class Linter : public LintSink {
 public:
  Linter(AlarmSink& sink, const LintOptions& options)
      : options_(options), alarms_(sink, options.without, options.most_of_a_rule) {}

  const AlarmCounts& counts() const override { return alarms_.counts(); }

  void OnSchema(const tables::Tables& tables) override {
    tables_ = tables;
    rules_.reset();
    states_.clear();
    state_ = nullptr;
  }

  void OnDevice(const Device& device, uint64_t) override {
    Product product;
    if (options_.product) {
      product = *options_.product;
    } else {
      const tables::Platform* platform = nullptr;
      if (device.pci_id) platform = tables_->FindPciId(*device.pci_id);
      if (device.chip_id && platform == nullptr) platform = tables_->FindChipId(*device.chip_id);
      product.platform =
          platform != nullptr ? std::string(tables_->string(platform->name)) : device.platform;
    }
    if (rules_ != nullptr && product.platform == platform_) return;
    platform_ = product.platform;
    rules_ = std::make_unique<Rules>(*tables_, product, options_.zones, alarms_);
    rules_->pointers.OnDump(dump_);
    for (auto& [key, state] : states_) state->workarounds = {};
  }

  void OnDump(const Dump* dump) override {
    FinishBatch();
    dump_ = dump;
    alarms_.OnDump(dump);
    if (rules_ != nullptr) rules_->pointers.OnDump(dump);
    if (dump != nullptr && dump->error_state != nullptr) is_whole_ = false;
  }

  void OnSubmission(const Submission& submission, uint64_t) override {
    FinishBatch();
    Need();
    leads_.clear();
    alarms_.OnSubmission(submission);
    rules_->records.OnSubmission(submission);
    is_whole_ = is_whole_ && submission.index == next_index_ && !submission.bare &&
                !submission.ring && submission.kind != "context image";
    next_index_ = submission.index + 1;
    batch_ = {};
    batch_.submission = submission.index;
    batch_.space = submission.space;
    batch_.address = submission.batch_address;
    // Structures, and streams that are no commands of batches, may be anything.
    may_be_empty_ = !submission.stream.empty() || submission.kind == "context image" ||
                    submission.kind == "ring" || submission.unless_reached;
    in_batch_ = true;
    std::unique_ptr<AllState>& state = states_[{submission.context, submission.slot}];
    if (state == nullptr) {
      state = std::make_unique<AllState>();
      state->context.is_whole =
          options_.history == History::kAuto ? is_whole_ : options_.history == History::kWhole;
      for (const Submission::Base& base : submission.bases) {
        for (uint32_t i = 0; i < tables_->bases().size(); ++i) {
          if (tables_->string(tables_->bases()[i].name) == base.name) {
            state->context.bases.Set(i, base.address);
          }
        }
      }
    }
    state_ = state.get();
    state_->context.batch_begin = state_->context.packets;
  }

  void OnLead(const decode::Lead& lead) override {
    leads_.push_back({*lead.at, lead.pointer, lead.space, lead.address, lead.size});
  }

  void OnRecord(const Record& record) override {
    if (record.type == RecordType::kRegister || record.type == RecordType::kData || record.bound) {
      return;
    }
    Need();
    const std::vector<KeptLead> leads = std::exchange(leads_, {});
    if (state_ == nullptr) return;
    Place place;
    place.submission = record.submission;
    place.space = record.space;
    place.address = record.address;
    place.draw = record.draw;
    place.dispatch = record.dispatch;
    place.record = record.container == nullptr ? absl::string_view("unknown")
                                               : tables_->string(record.container->name);
    const bool is_struct = record.type == RecordType::kStruct;
    place.packet = is_struct ? packet_.record : place.record;
    place.packet_address = is_struct ? packet_.address : place.address;
    if (record.type == RecordType::kUnknown) {
      did_something_ = true;
      return rules_->records.Check(record, place);
    }
    if (!is_struct) {
      ++state_->context.packets;
      packet_ = place;
    }
    rules_->records.Check(record, place);
    rules_->pointers.Check(record, leads, state_->context, place);
    rules_->declared.Check(record, state_->context, place);
    if (is_struct) {
      rules_->workarounds.OnStruct(record, place);
      rules_->pointers.SetBases(record, state_->context);
    } else {
      Packet(record, leads, place);
    }
    rules_->evaluator.Remember(record, state_->context);
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    if (!is_problem) return;
    Place place = batch_;
    place.record = "";
    alarms_.Raise(RuleId::kNotDecoded, place, {}, std::string(text));
  }

  void OnSummary(const decode::Summary&) override { FinishBatch(); }

 private:
  // A dump without a device has no OnDevice().
  void Need() {
    if (rules_ == nullptr) OnDevice({}, 0);
  }

  void Packet(const Record& record, absl::Span<const KeptLead> leads, const Place& place) {
    AllState& state = *state_;
    Context& context = state.context;
    const tables::Container& container = *record.container;
    const CacheActionsDone done = rules_->actions.Find(record);
    rules_->settings.OnPacket(record, place, done, state.settings);
    // Draws of nothing use no state: Ivy Bridge's drivers emit one after they choose the pipeline.
    const bool nothing =
        rules_->vertices.DrawsNothing(record, place, context) || DispatchesNothing(record, place);
    if (!nothing) {
      rules_->workarounds.OnPacket(record, place, done, context, state.workarounds);
      rules_->relations.OnPacket(record, place, done, context, state.relations);
      rules_->vertices.OnPacket(record, leads, place, context, state.vertices);
    }
    context.last_seen[tables_->IndexOf(container)] = context.packets;
    rules_->pointers.SetBases(record, context);
    rules_->relations.OnBases(record, place, context, state.relations);
    if (container.role != tables::Role::kOther && !nothing) context.work = context.packets;
    const auto operations = tables_->operations(container);
    const bool is_filler =
        !operations.empty() &&
        std::all_of(operations.begin(), operations.end(), [](const tables::Operation& one) {
          return one.kind == tables::OperationKind::kNothing;
        });
    did_something_ = did_something_ || (container.flows.count == 0 && !is_filler);
  }

  // Whether the packet has the number of its groups, and one is zero.
  bool DispatchesNothing(const Record& record, const Place& place) {
    if (record.container->role != tables::Role::kDispatch) return false;
    const decode::Scope own(*tables_, *record.container, record.bytes);
    for (const tables::Operation& one : tables_->operations(*record.container)) {
      const bool elsewhere = one.kind == tables::OperationKind::kReplace ||
                             one.kind == tables::OperationKind::kDrawIndirect;
      if (elsewhere && own.Holds(one.when)) return false;
    }
    bool nothing = false;
    decode::ForEachField(*tables_, rules_->groups, record.view(), [&](const FieldAt& at) {
      if (at.cut || at.width > 64) return;
      const uint64_t raw = decode::ReadBits(record.bytes, at.bit, at.width);
      if (decode::NumberOfBits(*tables_, *at.leaf, at.width, raw) != 0) return;
      nothing = true;
      alarms_.Raise(RuleId::kDrawsNothing, place, PlaceOf(at), "no groups");
    });
    return nothing;
  }

  void FinishBatch() {
    if (!std::exchange(in_batch_, false)) return;
    if (!std::exchange(did_something_, false) && !may_be_empty_) {
      alarms_.Raise(RuleId::kEmptyBatch, batch_, {}, "");
    }
  }

  const LintOptions options_;
  Alarms alarms_;
  std::optional<tables::Tables> tables_;
  std::unique_ptr<Rules> rules_;
  std::string platform_;
  const Dump* dump_ = nullptr;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, std::unique_ptr<AllState>> states_;
  AllState* state_ = nullptr;  // of the submission
  std::vector<KeptLead> leads_;
  Place packet_;  // the last one
  Place batch_;
  bool in_batch_ = false, did_something_ = false, may_be_empty_ = false;
  bool is_whole_ = true;
  uint32_t next_index_ = 0;
};

}  // namespace

std::unique_ptr<LintSink> MakeLintSink(AlarmSink& alarms, const LintOptions& options) {
  return std::make_unique<Linter>(alarms, options);
}

}  // namespace packsmith::lint
