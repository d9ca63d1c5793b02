#include "runtime/guc/messages.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "packsmith/guc.h"
#include "packsmith/guc_tables.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::guc {
namespace {

// Where a channel's parts are. Source: Linux, drivers/gpu/drm/xe/xe_guc_ct.c.
constexpr size_t kDescriptorToGuc = 0, kDescriptorFromGuc = 0x800;
constexpr size_t kRingToGuc = 0x1000, kRingFromGuc = 0x2000;
constexpr uint32_t kFormatHxg = 0;

std::vector<uint32_t> DwordsAt(absl::Span<const uint8_t> bytes, size_t at, size_t size) {
  std::vector<uint32_t> dwords;
  if (at >= bytes.size()) return dwords;
  dwords.resize(std::min(size, bytes.size() - at) / 4);
  if (!dwords.empty()) std::memcpy(dwords.data(), bytes.data() + at, dwords.size() * 4);
  return dwords;
}

bool IsKnown(uint32_t action) { return !NameOfValue("HXG_MESSAGE", "Action", action).empty(); }

bool HasAction(uint32_t type) {
  return type == GUC_HXG_TYPE::REQUEST || type == GUC_HXG_TYPE::EVENT ||
         type == GUC_HXG_TYPE::FAST_REQUEST;
}

bool IsType(uint32_t type) {
  switch (type) {
    case GUC_HXG_TYPE::REQUEST:
    case GUC_HXG_TYPE::EVENT:
    case GUC_HXG_TYPE::FAST_REQUEST:
    case GUC_HXG_TYPE::NO_RESPONSE_BUSY:
    case GUC_HXG_TYPE::NO_RESPONSE_RETRY:
    case GUC_HXG_TYPE::RESPONSE_FAILURE:
    case GUC_HXG_TYPE::RESPONSE_SUCCESS:
      return true;
    default:
      return false;
  }
}

// One direction.
class Ring {
 public:
  Ring(absl::Span<const uint8_t> channel, size_t descriptor, size_t ring, size_t size,
       bool from_guc)
      : dwords_(DwordsAt(channel, ring, size)), offset_(ring), from_guc_(from_guc) {
    const std::vector<uint32_t> words =
        DwordsAt(channel, descriptor, sizeof(uint32_t) * CTB_DESCRIPTOR::length);
    if (words.size() == CTB_DESCRIPTOR::length) {
      const CTB_DESCRIPTOR said = CTB_DESCRIPTOR::unpack(words.data());
      head_ = said.head;
      tail_ = said.tail;
    }
  }

  // Dwords that are all pending.
  Ring(absl::Span<const uint8_t> dwords, bool from_guc)
      : dwords_(DwordsAt(dwords, 0, dwords.size())), offset_(0), from_guc_(from_guc) {}

  void ReadPending(std::vector<Message>& messages) const {
    const size_t size = dwords_.size();
    for (size_t at = 0; at < size && messages.size() < kMostMessages;) {
      std::optional<Message> message = At(at, size - at);
      at += message ? 2 + message->payload.size() : 1;
      if (!message) continue;
      message->pending = true;
      messages.push_back(*std::move(message));
    }
  }

  void Read(std::vector<Message>& messages) const {
    const size_t size = dwords_.size();
    if (size == 0 || head_ >= size || tail_ >= size) return;
    // The oldest messages come first: after the tail, to the end, and from the start on. The ring
    // may never have been full, then there are zeros.
    size_t at = tail_, left = size;
    while (left != 0 && messages.size() < kMostMessages) {
      std::optional<Message> message = At(at, left);
      // After the tail there may be the rest of a message: two good ones in a row are in step. A
      // message that ends at the tail is followed by none.
      if (message) {
        const size_t length = 2 + message->payload.size();
        const bool last = length == left;
        if (last || in_step_ || Dword(at + length) == 0 ||
            At((at + length) % size, left - length)) {
          in_step_ = true;
          const size_t from_head = (at + size - head_) % size;
          message->pending = from_head < (tail_ + size - head_) % size;
          messages.push_back(*std::move(message));
          at = (at + length) % size;
          left -= length;
          continue;
        }
      }
      in_step_ = false;
      at = (at + 1) % size;
      --left;
    }
  }

 private:
  uint32_t Dword(size_t at) const { return dwords_[at % dwords_.size()]; }

  // The message at a dword, of at most `left` dwords.
  std::optional<Message> At(size_t at, size_t left) const {
    if (left < 2) return std::nullopt;
    const uint32_t first[CTB_MESSAGE::length] = {Dword(at)};
    const CTB_MESSAGE header = CTB_MESSAGE::unpack(first);
    if (header.format != kFormatHxg || header.reserved != 0 || header.dwords == 0 ||
        header.dwords >= left) {
      return std::nullopt;
    }
    const uint32_t second[HXG_MESSAGE::length] = {Dword(at + 1)};
    const HXG_MESSAGE hxg = HXG_MESSAGE::unpack(second);
    const uint32_t type = hxg.type;
    if (hxg.from_guc != from_guc_ || !IsType(type)) return std::nullopt;
    Message message;
    message.type = type;
    if (HasAction(type)) {
      message.action = hxg.action;
      if (!IsKnown(message.action)) return std::nullopt;
    }
    message.from_guc = from_guc_;
    message.fence = header.fence;
    message.offset = offset_ + at % dwords_.size() * 4;
    for (size_t i = 1; i < header.dwords; ++i) message.payload.push_back(Dword(at + 1 + i));
    return message;
  }

  const std::vector<uint32_t> dwords_;
  const size_t offset_;
  const bool from_guc_;
  size_t head_ = 0, tail_ = 0;
  mutable bool in_step_ = false;
};

}  // namespace

bool Message::Is(uint32_t what) const { return HasAction(type) && action == what; }

const tables::Tables& Tables() {
  static const tables::Tables* const kTables =
      new tables::Tables(tables::Tables::OpenBuiltIn(tables::guc_tables.words));
  return *kTables;
}

std::vector<Message> ReadMessages(absl::Span<const uint8_t> channel) {
  std::vector<Message> messages;
  Ring(channel, kDescriptorToGuc, kRingToGuc, kRingFromGuc - kRingToGuc, false).Read(messages);
  if (channel.size() > kRingFromGuc) {
    Ring(channel, kDescriptorFromGuc, kRingFromGuc, channel.size() - kRingFromGuc, true)
        .Read(messages);
  }
  return messages;
}

std::vector<Message> ReadPendingMessages(absl::Span<const uint8_t> dwords, bool from_guc) {
  std::vector<Message> messages;
  Ring(dwords, from_guc).ReadPending(messages);
  return messages;
}

std::string InWords(const Message& message) {
  const tables::Tables& tables = Tables();
  const tables::Container& first = tables.container(tables.FindContainer("HXG_MESSAGE"));
  std::string name;
  for (const tables::Leaf& leaf : tables.leaves(first.leaves)) {
    if (HasAction(message.type) && tables.string(leaf.name) == "Action") {
      name = std::string(tables.ValueName(leaf, message.action));
    } else if (!HasAction(message.type) && tables.string(leaf.name) == "Type") {
      name = std::string(tables.ValueName(leaf, message.type));
    }
  }
  const uint32_t found = HasAction(message.type) ? tables.FindContainer(name) : tables::kNone;
  if (found == tables::kNone) return name;
  const tables::Container& container = tables.container(found);
  const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(message.payload.data()),
                                        message.payload.size() * 4);
  const char* separator = ": ";
  decode::ForEachField(tables, container, bytes, [&](const decode::FieldAt& at) {
    if (at.cut) return;
    const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
    if (raw == 0) return;
    const decode::Value value = decode::DecodeValue(tables, *at.leaf, at.width, raw);
    const uint64_t number = decode::NumberOf(value, raw);
    const absl::string_view called = tables.ValueName(*at.leaf, number);
    absl::StrAppend(&name, separator);
    decode::AppendFieldName(at.name, name);
    if (!called.empty()) {
      absl::StrAppend(&name, " ", called);
    } else if (number < 10000) {
      absl::StrAppend(&name, " ", number);
    } else {
      absl::StrAppendFormat(&name, " 0x%x", number);
    }
    separator = ", ";
  });
  return name;
}

std::string FlagsInWords(absl::string_view structure, uint32_t dword) {
  const tables::Tables& tables = Tables();
  std::vector<absl::string_view> names;
  const uint32_t found = tables.FindContainer(structure);
  if (found == tables::kNone) return "";
  for (const tables::Leaf& leaf : tables.leaves(tables.container(found).leaves)) {
    if (leaf.bit < 32 && leaf.width == 1 && (dword >> leaf.bit & 1) != 0) {
      names.push_back(tables.string(leaf.name));
    }
  }
  return absl::StrJoin(names, ", ");
}

absl::string_view NameOfValue(absl::string_view structure, absl::string_view field,
                              uint64_t value) {
  const tables::Tables& tables = Tables();
  const uint32_t found = tables.FindContainer(structure);
  if (found == tables::kNone) return "";
  for (const tables::Leaf& leaf : tables.leaves(tables.container(found).leaves)) {
    if (tables.string(leaf.name) == field) return tables.ValueName(leaf, value);
  }
  return "";
}

std::string UnitName(uint32_t unit) {
  const absl::string_view name = NameOfValue("REPORT_PAGE_FAULT_REQ_DESC", "Source Unit", unit);
  return name.empty() ? absl::StrFormat("unit 0x%x", unit) : std::string(name);
}

}  // namespace packsmith::guc
