// Designated initialisers of the members of one structure, from bits.
#ifndef PACKSMITH_RUNTIME_SOURCE_DESIGNATORS_H_
#define PACKSMITH_RUNTIME_SOURCE_DESIGNATORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/source/spelling.h"
#include "runtime/source/symbols.h"
#include "runtime/tables/tables.h"

namespace packsmith::source {

// Where a field points.
struct Target {
  uint64_t bit;  // the field's, from the start of the record
  uint32_t space;
  uint64_t address;
  bool has_base;  // the field is an offset from a base address
};

// A member with its value, or with members of its own.
struct Initializer {
  std::string member = {};  // ".name = "; empty: an element of an array
  std::string value = {};
  bool has_parts = false;
  std::vector<Initializer> parts = {};
};

// The text of initialisers, between their braces: on one line after `used` columns if it fits with
// `after` more, else one a line, indented by `indent`.
std::string InitializersText(absl::Span<const Initializer> initializers, size_t indent, size_t used,
                             size_t after);

// Reads members from the bytes of a record, and writes what they pack to `packed`, which is at
// least as large.
class DesignatorReader {
 public:
  // All that is given must outlive the reader. The leaves of the record tell which fields hold
  // something else at the moment, and what codes are called.
  DesignatorReader(const tables::Tables& tables, const Spelling& spelling, const Symbols& symbols,
                   Language language, const tables::Container& container,
                   absl::Span<const uint8_t> bytes, absl::Span<const Target> targets,
                   uint32_t space, std::vector<uint8_t>& packed);

  // Members at `base` that differ from their defaults. What ends after `end`, in bits of the
  // record, has no value. `owner`: the C++ type whose constants name values.
  std::vector<Initializer> Read(const std::vector<Member>& members, absl::string_view owner,
                                uint64_t base, uint64_t end);

  // Some value is one that pack refuses.
  bool refused() const { return refused_; }

 private:
  struct Place {
    absl::string_view owner;
    uint64_t base;
    uint64_t end;
    size_t depth = 0;
  };
  struct LeafThere {
    const tables::Leaf* leaf;
    bool counts;
  };

  std::vector<Initializer> ReadAt(const std::vector<Member>& members, const Place& place);
  std::optional<Initializer> ReadMember(const Member& member, const Place& place, size_t dimension,
                                        uint64_t bit);
  std::optional<std::string> ReadValue(const Member& member, const Place& place, uint64_t bit,
                                       bool always);
  std::optional<std::string> TextOf(const Member& member, const Place& place, uint64_t bit,
                                    uint64_t raw);
  std::optional<std::string> RealText(const Member& member, uint64_t raw) const;
  std::string IntegerText(const Member& member, uint64_t bit, uint64_t value) const;
  std::string CodeText(uint64_t bit, const Member& member, uint64_t value) const;
  bool SharesAnAddress(const Member& member, uint64_t bit, uint32_t width) const;
  void Check(const Member& member, uint64_t raw);
  void Pack(uint64_t bit, uint32_t width, uint64_t raw);

  const tables::Tables& tables_;
  const Spelling& spelling_;
  const Symbols& symbols_;
  const Language language_;
  const absl::Span<const uint8_t> bytes_;
  const absl::Span<const Target> targets_;
  const uint32_t space_;
  std::vector<uint8_t>& packed_;
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, LeafThere> leaves_;  // by bit and width
  std::vector<std::pair<uint64_t, uint32_t>> addresses_;  // that have values, by bit and width
  bool refused_ = false;
};

}  // namespace packsmith::source

#endif  // PACKSMITH_RUNTIME_SOURCE_DESIGNATORS_H_
