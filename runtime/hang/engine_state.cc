#include "runtime/hang/engine_state.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "runtime/base/addresses.h"
#include "runtime/decode/fields/pipeline_units.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::hang {
namespace {

using tables::Meaning;

std::array<uint8_t, 8> BytesOf(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(value >> 8 * i);
  return bytes;
}

// The values of registers by meaning.
class Meanings {
 public:
  Meanings(const tables::Tables& tables, uint64_t engines) : tables_(tables), engines_(engines) {}

  void Add(absl::Span<const ErrorRegister> registers) {
    for (const ErrorRegister& one : registers) {
      Add(one, tables_.FindDumped(one.name, engines_), one.value);
      if (!one.is_64) continue;
      Add(one, tables_.FindDumped(absl::StrCat(one.name, ":high"), engines_), one.value >> 32);
    }
  }

  std::optional<Said> Get(Meaning meaning) const { return said_[static_cast<size_t>(meaning)]; }
  const ErrorRegister* From(Meaning meaning) const { return from_[static_cast<size_t>(meaning)]; }
  std::vector<Busy> TakeBusy() { return std::move(busy_); }
  bool units_known() const { return units_known_; }
  BusyPipeline Pipeline() const {
    BusyPipeline pipeline;
    pipeline.threads_known = threads_known_;
    auto stage = std::find_if(stages_.rbegin(), stages_.rend(),
                              [](const auto& one) { return !one.second.empty(); });
    if (stage == stages_.rend()) return pipeline;
    pipeline.last = stage->second;
    pipeline.rest_known = HasAllAfter(stage->first);
    bool gap = false;
    for (++stage; stage != stages_.rend(); ++stage) {
      const std::vector<std::string>& units = stage->second;
      if (units.empty()) gap = true;
      if (gap && pipeline.before_gap.empty()) pipeline.before_gap = units;
      pipeline.before.insert(pipeline.before.begin(), units.begin(), units.end());
    }
    return pipeline;
  }

  // Only the parts of `value` that one register's fields of that meaning have.
  uint64_t Part(Meaning meaning, const std::string& name, uint64_t value) const {
    uint64_t part = 0;
    ForEachMeaning(tables_.FindDumped(name, engines_), value,
                   [&](const tables::Leaf&, const tables::Extra& extra, uint64_t number) {
                     if (extra.meaning == meaning) part |= number << extra.meaning_at;
                   });
    return part;
  }

 private:
  // Whether registers of the dump report each stage that the description has after one.
  bool HasAllAfter(uint16_t place) const {
    for (const decode::PipelineUnit& unit : decode::PipelineUnits(tables_)) {
      if (unit.place > place && stages_.count(unit.place) == 0) return false;
    }
    return true;
  }

  template <class Visit>
  void ForEachMeaning(uint32_t index, uint64_t value, const Visit& visit) const {
    if (index == tables::kNone) return;
    const tables::Container& container = tables_.container(index);
    const std::array<uint8_t, 8> bytes = BytesOf(value);
    for (const tables::Leaf& leaf : tables_.leaves(container.leaves)) {
      if (leaf.extra == tables::kNone || leaf.bit + leaf.width > 64) continue;
      const tables::Extra& extra = tables_.extra(leaf.extra);
      if (extra.meaning == Meaning::kNone) continue;
      const uint64_t raw = decode::ReadBits(bytes, leaf.bit, leaf.width);
      const decode::Value decoded = decode::DecodeValue(tables_, leaf, leaf.width, raw);
      visit(leaf, extra, decode::NumberOf(decoded, raw));
    }
  }

  void Add(const ErrorRegister& one, uint32_t index, uint64_t value) {
    ForEachMeaning(
        index, value, [&](const tables::Leaf& leaf, const tables::Extra& extra, uint64_t number) {
          const bool executes = extra.meaning == Meaning::kIdleExecution;
          if (executes || extra.meaning == Meaning::kIdle) {
            units_known_ = true;
            threads_known_ = threads_known_ || executes;
            // Several slices have the same units: one busy one keeps its stage busy.
            std::vector<std::string>* const stage =
                extra.meaning_at == 0 ? nullptr : &stages_[extra.meaning_at];
            if (number != 0) return;
            const std::string unit = decode::UnitOfField(tables_.string(leaf.name));
            if (stage != nullptr && std::find(stage->begin(), stage->end(), unit) == stage->end()) {
              stage->push_back(unit);
            }
            if (busy_.empty() || busy_.back().by != one.name) busy_.push_back({one.name, {}});
            busy_.back().units.push_back(unit);
            if (executes) ++busy_.back().executing;
            return;
          }
          // If several registers give the same meaning, the first counts.
          if (!seen_.insert({extra.meaning, extra.meaning_at}).second) return;
          const auto i = static_cast<size_t>(extra.meaning);
          if (!said_[i]) {
            said_[i] = Said{one.name, 0};
            from_[i] = &one;
          }
          said_[i]->value |= number << extra.meaning_at;
        });
  }

  const tables::Tables& tables_;
  const uint64_t engines_;
  std::array<std::optional<Said>, tables::kMeanings> said_;
  std::array<const ErrorRegister*, tables::kMeanings> from_{};
  std::set<std::pair<Meaning, uint16_t>> seen_;
  std::vector<Busy> busy_;
  // By place in the pipeline, of all stages that a register reports: their busy units.
  std::map<uint16_t, std::vector<std::string>> stages_;
  bool units_known_ = false, threads_known_ = false;
};

}  // namespace

uint64_t EngineMask(const tables::Tables& tables, const std::string& engine) {
  const uint32_t number = tables.FindEngine(engine);
  return number == tables::kNone ? ~uint64_t{0} : uint64_t{1} << number;
}

bool RunsOn(const Dump& dump, const Submission& submission, absl::string_view engine) {
  if (submission.engine == engine) return true;
  const auto class_of = [](absl::string_view name) {
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
  };
  return dump.device.uapi == "xe" && class_of(submission.engine) == class_of(engine);
}

std::string Describe(const BusyPipeline& pipeline) {
  if (pipeline.last.empty()) return "";
  const std::string last = absl::StrJoin(pipeline.last, ", ");
  const bool one = pipeline.last.size() == 1;
  if (pipeline.before.empty()) {
    return absl::StrCat(last, ", the only busy unit", one ? "" : "s", " of the pipeline");
  }
  std::string text = absl::StrCat(last, ", the last busy unit", one ? "" : "s",
                                  " of the pipeline; ", absl::StrJoin(pipeline.before, ", "),
                                  pipeline.before.size() == 1 ? " waits" : " wait", " for it");
  if (!pipeline.before_gap.empty()) {
    absl::StrAppend(&text, ". Units between them are idle: or ",
                    absl::StrJoin(pipeline.before_gap, ", "), ", if ", last,
                    one ? " only has" : " only have", " a part of a primitive");
  }
  return text;
}

Stop StopOf(const tables::Tables& tables, const ErrorState& state, const ErrorEngine& engine) {
  Meanings meanings(tables, EngineMask(tables, engine.name));
  meanings.Add(engine.registers);
  // Fault registers belong to the device on some generations; shader units always to the engine.
  Stop stop;
  stop.pipeline = meanings.Pipeline();
  stop.busy = meanings.TakeBusy();
  stop.units_known = meanings.units_known();
  stop.instruction_error = meanings.Get(Meaning::kInstructionError);
  stop.current_context = meanings.Get(Meaning::kCurrentContext);
  meanings.Add(state.registers);
  stop.ring_head = meanings.Get(Meaning::kRingHead);
  stop.ring_tail = meanings.Get(Meaning::kRingTail);
  stop.ring_start = meanings.Get(Meaning::kRingStart);
  stop.active_head = meanings.Get(Meaning::kActiveHead);
  stop.batch_head = meanings.Get(Meaning::kBatchHead);
  stop.header = meanings.Get(Meaning::kHeader);
  stop.fault = meanings.Get(Meaning::kFault);
  stop.fault_address = meanings.Get(Meaning::kFaultAddress);
  for (std::optional<Said>* said : {&stop.active_head, &stop.batch_head, &stop.fault_address}) {
    if (*said) (*said)->value = PlainAddress((*said)->value);
  }
  const std::optional<Said> global = meanings.Get(Meaning::kFaultGlobal);
  stop.fault_is_global = global && global->value != 0;
  if (stop.ring_head) {
    const ErrorRegister& head = *meanings.From(Meaning::kRingHead);
    if (!head.extra.empty()) {
      stop.request_head = meanings.Part(Meaning::kRingHead, head.name, head.extra[0]);
    }
    if (stop.active_head) {
      const ErrorRegister& active = *meanings.From(Meaning::kActiveHead);
      stop.active_ring_head = meanings.Part(Meaning::kRingHead, head.name, active.value);
      stop.active_is_ring_head = active.value == head.value;
    }
  }
  return stop;
}

}  // namespace packsmith::hang
