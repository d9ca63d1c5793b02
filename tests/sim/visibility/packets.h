// Packets of any generation, by the manual's names of their fields.
#ifndef PACKSMITH_TESTS_SIM_VISIBILITY_PACKETS_H_
#define PACKSMITH_TESTS_SIM_VISIBILITY_PACKETS_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/decode/fields/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

using FieldValue = std::pair<absl::string_view, uint64_t>;

// The shortest form of a packet; all other fields are zero. Values are raw bits without the shift:
// addresses are addresses.
inline std::vector<uint32_t> Packet(const tables::Tables& tables, absl::string_view name,
                                    const std::vector<FieldValue>& values) {
  for (const tables::Container& container : tables.containers()) {
    if (container.kind != tables::ContainerKind::kPacket || tables.string(container.name) != name) {
      continue;
    }
    std::vector<uint32_t> words(container.bytes / 4);
    const absl::Span<uint8_t> bytes(reinterpret_cast<uint8_t*>(words.data()), words.size() * 4);
    std::vector<FieldValue> left = values;
    for (uint32_t i = container.leaves.first; i < container.leaves.first + container.leaves.count;
         ++i) {
      const tables::Leaf& leaf = tables.leaf(i);
      if ((leaf.flags & tables::kForced) != 0) {
        decode::WriteBits(bytes, leaf.bit, leaf.width, tables.extra(leaf.extra).forced);
      }
      if (i == container.length_leaf) {
        decode::WriteBits(bytes, leaf.bit, leaf.width, words.size() - container.length_bias);
      }
      const absl::string_view field = absl::StripAsciiWhitespace(tables.string(leaf.name));
      std::erase_if(left, [&](const FieldValue& value) {
        if (value.first != field) return false;
        decode::WriteBits(bytes, leaf.bit, leaf.width, value.second >> leaf.shift);
        return true;
      });
    }
    for (const FieldValue& value : left) {
      ADD_FAILURE() << name << " of " << tables.generation() << " has no " << value.first;
    }
    return words;
  }
  ADD_FAILURE() << tables.generation() << " has no " << name;
  return {};
}

// Whether a packet has the field.
inline bool HasField(const tables::Tables& tables, absl::string_view packet,
                     absl::string_view field) {
  for (const tables::Container& container : tables.containers()) {
    if (tables.string(container.name) != packet) continue;
    for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
      if (absl::StripAsciiWhitespace(tables.string(leaf.name)) == field) return true;
    }
  }
  return false;
}

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_VISIBILITY_PACKETS_H_
