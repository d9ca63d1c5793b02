#include "runtime/decode/walk/emitter.h"

#include <string>
#include <utility>

namespace packsmith::decode {

Emitter::Emitter(const tables::Tables& tables, TableStrings& strings, Sink& sink,
                 const Options& options)
    : tables_(tables),
      strings_(strings),
      sink_(sink),
      brief_(options.brief),
      next_id_(options.first_id) {}

Observer* Emitter::Observe(Observer* observer) { return std::exchange(observer_, observer); }

void Emitter::FlushBriefs() {
  if (briefs_.empty()) return;
  for (const Brief& brief : briefs_) {
    if (brief.container == tables::kNone) {
      CountUnknown(brief.space, brief.address, brief.bytes);
    } else {
      ++summary_.packets;
    }
  }
  next_id_ += briefs_.size();
  sink_.OnPackets(briefs_);
  briefs_.clear();
}

void Emitter::Emit(Record& record) {
  if (brief_) {
    record.id = next_id_ + briefs_.size();
    EmitBrief({record.address, record.bytes.data(), static_cast<uint32_t>(record.bytes.size()),
               record.container == nullptr ? tables::kNone : tables_.IndexOf(*record.container),
               record.depth, record.space});
    // The bytes may be a temporary copy.
    FlushBriefs();
    return;
  }
  record.id = next_id_++;
  Attribute(record);
  switch (record.type) {
    case RecordType::kPacket:
      ++summary_.packets;
      break;
    case RecordType::kStruct:
      ++summary_.structs;
      break;
    case RecordType::kData:
      ++summary_.data;
      break;
    case RecordType::kUnknown:
      CountUnknown(record.space, record.address, record.bytes.size());
      break;
    case RecordType::kRegister:
      break;
  }
  if (!record.faults.empty()) CountFaults(record);
  if (observer_ != nullptr) observer_->OnRecord(record, nullptr);
  sink_.OnRecord(record);
}

uint64_t Emitter::EmitDescribed(const Described& described, const RecordView& view,
                                const Shape* shape, absl::Span<const Stored> stored,
                                absl::Span<const Fault> faults) {
  described_.type = described.type;
  described_.parent = described.parent;
  described_.space = described.space;
  described_.address = described.address;
  described_.depth = described.depth;
  described_.container = &view.container;
  described_.name = shape != nullptr ? shape->name : strings_.Get(view.container.name);
  described_.bytes = view.bytes;
  described_.parts = view.parts;
  described_.index = described.index;
  described_.bound = described.bound;
  described_.stream = described.stream;
  described_.stored = stored;
  described_.faults = faults;
  described_.shape = shape != nullptr ? shape->number : 0;
  if (shape == nullptr) {
    Emit(described_);
    return described_.id;
  }
  // As Emit(), without testing the type.
  Attribute(described_);
  described_.id = next_id_++;
  ++(described.type == RecordType::kPacket ? summary_.packets : summary_.structs);
  if (!faults.empty()) CountFaults(described_);
  if (observer_ != nullptr) observer_->OnRecord(described_, shape);
  sink_.OnRecord(described_);
  return described_.id;
}

void Emitter::Problem(absl::string_view text) {
  FlushBriefs();
  if (summary_.problems++ == 0) summary_.first_problem = std::string(text);
  sink_.OnRemark(text, true);
}

void Emitter::CountFaults(const Record& record) {
  for (const Fault& fault : record.faults) {
    const auto kind = static_cast<size_t>(fault.kind);
    if (summary_.faults[kind]++ != 0) continue;
    summary_.first_faults[kind] = {std::string(record.name), record.space, record.address,
                                   record.type == RecordType::kRegister};
  }
}

void Emitter::CountUnknown(uint32_t space, uint64_t address, uint64_t bytes) {
  if (summary_.unknown_dwords == 0) summary_.first_unknown = {"", space, address, false};
  summary_.unknown_dwords += (bytes + 3) / 4;
}

}  // namespace packsmith::decode
