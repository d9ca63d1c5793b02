#include "runtime/capture/execute/submission_checks.h"

#include <iterator>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/execute/mapped_memory.h"
#include "runtime/capture/execute/work_dump.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"

namespace packsmith::capture {

using decode::FaultKind;

// What the decoder finds.
struct SubmissionChecks::Device : decode::Sink {
  Device(const tables::Tables& of, SubmissionChecks& in)
      : tables(of), checks(in), decoder(tables, *this, Options()) {}

  static decode::Options Options() {
    decode::Options options;
    options.leads = true;
    return options;
  }

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const packsmith::Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override { leads.clear(); }
  void OnSummary(const decode::Summary&) override {}
  // Without faults; leads come before, as of single records.
  void OnTrace(const decode::RecordTrace& tree) override {
    for (const decode::Record& record : tree.records) CheckLeads(record);
  }

  void OnLead(const decode::Lead& lead) override {
    const tables::Access access = lead.pointer->access;
    if (lead.size == 0 || lead.space != space ||
        (access != tables::Access::kWrite && access != tables::Access::kReadWrite)) {
      return;
    }
    leads.push_back({lead.address, lead.size, tables.string(lead.at->leaf->name)});
  }

  void OnRecord(const decode::Record& record) override {
    CheckLeads(record);
    if (record.type == decode::RecordType::kUnknown) {
      checks.Warn(absl::StrCat("unknown ", record.space, " ", record.address),
                  absl::StrFormat("%d dwords at 0x%x are not of a packet that is described",
                                  record.bytes.size() / 4, record.address));
    }
    for (const decode::Fault& fault : record.faults) {
      if (fault.kind != FaultKind::kUnmapped && fault.kind != FaultKind::kTruncated) continue;
      // What was set before the first submission is not known.
      if (fault.kind == FaultKind::kUnmapped && absl::EndsWith(fault.text, "base is not known")) {
        continue;
      }
      const bool unmapped = fault.kind == FaultKind::kUnmapped;
      checks.Warn(absl::StrCat(decode::FaultKindName(fault.kind), " ", record.name, " ", fault.bit,
                               " ", unmapped ? fault.value : 0),
                  unmapped
                      ? absl::StrFormat("%s at 0x%x points to 0x%x, which is not mapped%s",
                                        record.name, record.address, fault.value,
                                        checks.WhatWasAt(*checks.work_, fault.value))
                      : absl::StrFormat("%s at 0x%x: %s", record.name, record.address, fault.text));
    }
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    if (is_problem) checks.Warn(absl::StrCat("problem ", text), std::string(text));
  }

  // Those of this record.
  void CheckLeads(const decode::Record& record) {
    for (const Written& written : leads) {
      const AddressMap& map = *checks.work_->memory;
      const Mapping* const first = map.Find(written.address);
      if (first == nullptr || first->object == nullptr || first->repeats != 0) continue;
      // Objects that are mapped in several pieces are sparse, or go on.
      const uint64_t rest = first->size - (written.address - first->address);
      if (written.size <= rest) continue;
      if (first->offset + first->size < first->object->size()) continue;
      const Mapping* const next = map.Find(first->address + first->size);
      if (next != nullptr && (next->object == first->object || next->offset != 0)) continue;
      checks.Warn(absl::StrCat("beyond ", record.name, " ", written.field, " ", first->object->id(),
                               " ", written.address),
                  absl::StrFormat(
                      "%s of %s at 0x%x: 0x%x bytes at 0x%x may be written, and %s ends after 0x%x",
                      written.field, record.name, record.address, written.size, written.address,
                      NameOf(*first->object), rest));
    }
    leads.clear();
  }

  struct Written {
    uint64_t address, size;
    absl::string_view field;
  };

  const tables::Tables tables;
  SubmissionChecks& checks;
  decode::Decoder decoder;
  uint32_t space = 0;  // of the work
  std::vector<Written> leads;
};

SubmissionChecks::SubmissionChecks(
    std::function<void(const Work& work, absl::string_view line)> warn)
    : warn_(std::move(warn)) {}
SubmissionChecks::~SubmissionChecks() = default;

SubmissionChecks::Device* SubmissionChecks::DeviceOf(const Work& work) {
  for (const auto& [info, device] : devices_) {
    if (info == work.device) return device.get();
  }
  const absl::StatusOr<tables::Tables> tables =
      FindGeneration(work.device == nullptr ? "" : work.device->generation);
  return devices_
      .emplace_back(work.device, tables.ok() ? std::make_unique<Device>(*tables, *this) : nullptr)
      .second.get();
}

void SubmissionChecks::Warn(const std::string& key, const std::string& text) {
  if (warned_.size() >= kMostWarnings) return;
  if (!warned_.insert(absl::StrCat(work_->context, " ", key)).second) return;
  ++warnings_;
  warn_(*work_, decode::Harmless(absl::StrCat("submission ", work_->number, " (", work_->process,
                                              "[", work_->pid, "], ", work_->engine, "): ", text)));
}

std::string SubmissionChecks::WhatWasAt(const Work& work, uint64_t address) const {
  const auto found = histories_.find(work.context);
  if (found == histories_.end()) return "";
  const auto& mappings = found->second.mappings;
  auto at = mappings.upper_bound(address);
  if (at == mappings.begin()) return "";
  --at;
  if (address - at->first >= at->second.size) return "";
  return absl::StrCat("; it was ", at->second.name, " in submission ", at->second.number);
}

void SubmissionChecks::Remember(const Work& work) {
  const auto [it, fresh] = histories_.try_emplace(work.context);
  History& history = it->second;
  if (fresh) {
    oldest_.push_back(work.context);
    if (oldest_.size() > kMostContexts) {
      histories_.erase(oldest_.front());
      oldest_.pop_front();
    }
  }
  const bool same = history.last.lock() == work.memory;
  history.last = work.memory;
  for (const auto& [address, mapping] : work.memory->mappings()) {
    if (mapping.object == nullptr) continue;
    const auto was = history.mappings.find(address);
    if (was == history.mappings.end()) {
      if (history.mappings.size() >= kMostMappings) continue;
      history.mappings[address] = {mapping.size, mapping.object->id(), work.number,
                                   NameOf(*mapping.object)};
      continue;
    }
    was->second.number = work.number;
    if (same || (was->second.object == mapping.object->id() && was->second.size == mapping.size)) {
      continue;
    }
    was->second = {mapping.size, mapping.object->id(), work.number, NameOf(*mapping.object)};
  }
}

void SubmissionChecks::OnSubmit(const std::shared_ptr<const Work>& work) {
  Device* const device = DeviceOf(*work);
  if (device == nullptr) return;
  work_ = work.get();
  const WorkDump made = DumpOf(*work);
  if (!made.dump.submissions.empty()) {
    device->space = made.dump.submissions[0].space;
    device->decoder.Decode(made.dump);
  }
  Remember(*work);
  work_ = nullptr;
}

}  // namespace packsmith::capture
