#include "gen/model/passes/opcodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace packsmith::model {
namespace {

void ReadForcedBits(Context& context, Container& c) {
  for (const Item& item : c.items) {
    const Field* const field = item.field();
    if (field == nullptr || !field->forced || field->bit >= 32) continue;
    for (uint32_t i = 0; i < field->width && field->bit + i < 32; ++i) {
      c.identify_mask |= 1u << (field->bit + i);
      c.identify_value |= static_cast<uint32_t>(*field->forced >> i & 1) << (field->bit + i);
    }
  }
  c.identify_bytes = 1;
  while (c.identify_bytes < 4 && c.identify_mask >> (8 * c.identify_bytes) != 0) {
    ++c.identify_bytes;
  }
  if (c.identify_mask == 0) {
    context.Report(
        Code::kMissingOpcode, c.where,
        absl::StrCat("packet \"", c.name,
                     "\" has no forced field in its first dword, so nothing tells it apart"));
  } else if (c.bytes < c.identify_bytes) {
    context.Report(Code::kMissingOpcode, c.where,
                   absl::StrCat("packet \"", c.name, "\" is shorter than its opcode"));
  }
}

// What only draws, or only dispatches, read of what the packet sets.
void FindRoleServed(const Model& model, Container& c) {
  if (c.kind != ContainerKind::kPacket || c.stream < 0) return;
  for (const Serves& serves : model.streams[static_cast<size_t>(c.stream)].serves) {
    if ((c.identify_mask & serves.mask) != serves.mask ||
        (c.identify_value & serves.mask) != serves.value) {
      continue;
    }
    c.serves = serves.role;
    return;
  }
}

}  // namespace

void ReadOpcode(Context& context, Container& c) {
  if (c.kind != ContainerKind::kPacket) return;
  ReadForcedBits(context, c);
  FindRoleServed(context.model, c);
}

void CheckAmbiguity(Context& context) {
  std::vector<const Container*> packets;
  for (const Container& c : context.model.containers) {
    if (c.broken) continue;  // its opcode may be another one
    if (c.kind == ContainerKind::kPacket && c.identify_mask != 0) packets.push_back(&c);
  }
  // Two packets match the same dword if their values agree in the bits that both masks have. Per
  // pair of masks, packets are grouped by those bits, so that this is linear in the packets.
  std::set<uint32_t> masks;
  for (const Container* c : packets) masks.insert(c->identify_mask);
  if (masks.size() > 64) {
    context.Report(Code::kTooLarge, packets[0]->where, "packets have more than 64 forms of opcode");
    return;
  }
  std::map<uint32_t, std::vector<const Container*>> by_mask;
  for (const Container* c : packets) by_mask[c->identify_mask].push_back(c);
  std::set<std::pair<const Container*, const Container*>> reported;
  for (const uint32_t a : masks) {
    for (const uint32_t b : masks) {
      if (b < a) continue;
      std::multimap<uint32_t, const Container*> by_value;
      for (const Container* c : by_mask[a]) by_value.emplace(c->identify_value & a & b, c);
      for (const Container* c : by_mask[b]) {
        const auto [begin, end] = by_value.equal_range(c->identify_value & a & b);
        size_t looked = 0;
        for (auto it = begin; it != end && ++looked < 256; ++it) {
          const Container* other = it->second;
          if (other == c || other->stream != c->stream || (other->engines & c->engines) == 0) {
            continue;
          }
          if (!reported.insert(std::minmax(other, c)).second) continue;
          const bool c_later = std::make_pair(other->where.file, other->where.offset) <
                               std::make_pair(c->where.file, c->where.offset);
          context
              .Report(Code::kAmbiguousOpcode, (c_later ? c : other)->where,
                      absl::StrCat("\"", (c_later ? other : c)->name, "\" and \"",
                                   (c_later ? c : other)->name,
                                   "\" match the same dword on the same engine"))
              .notes.push_back({(c_later ? other : c)->where, "the other is here"});
        }
      }
    }
  }
}

}  // namespace packsmith::model
