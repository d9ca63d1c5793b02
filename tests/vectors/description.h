// A description as tests look at it: the model that its XML says, and the decode tables made of it,
// leaf by leaf side by side.
#ifndef PACKSMITH_TESTS_VECTORS_DESCRIPTION_H_
#define PACKSMITH_TESTS_VECTORS_DESCRIPTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gen/model/ast/flatten.h"
#include "gen/model/ast/model.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::vectors {

class Description {
 public:
  // Reads XML. InvalidArgument with the diagnostics where it has errors.
  static absl::StatusOr<std::unique_ptr<Description>> Load(const std::string& path);

  const model::Model& model() const { return model_; }
  const tables::Tables& tables() const { return *tables_; }

  const model::ItemBase& item(const tables::Leaf& leaf) const { return *items_[IndexOf(leaf)]; }
  // What the XML says of a field; of a reserved run, a field without attributes.
  const model::Field& field(const tables::Leaf& leaf) const { return *fields_[IndexOf(leaf)]; }
  uint32_t IndexOf(const tables::Leaf& leaf) const {
    return static_cast<uint32_t>(&leaf - &tables_->leaf(0));
  }

  // Whether people set it: no opcode, no length, no reserved bits.
  static bool IsValue(const tables::Leaf& leaf) {
    return (leaf.flags &
            (tables::kForced | tables::kLength | tables::kMustBeZero | tables::kMustBeOne)) == 0;
  }

  // Whether raw bits are a value that may be packed: finite, in range, not to be avoided, and what
  // its value encodes to again.
  bool IsGood(const tables::Leaf& leaf, uint64_t raw) const;
  // Whether the XML allows a value, its encoding aside.
  bool IsAllowed(const tables::Leaf& leaf, const decode::Value& value) const;
  // A value of the leaf's kind. Integers are in two's complement.
  decode::Value ValueOf(const tables::Leaf& leaf, uint64_t integer, double real) const;
  decode::Value Decoded(const tables::Leaf& leaf, uint64_t raw) const {
    return decode::DecodeValue(*tables_, leaf, leaf.width, raw);
  }
  std::optional<uint64_t> Encoded(const tables::Leaf& leaf, const decode::Value& value) const {
    return decode::EncodeValue(*tables_, leaf, value);
  }

  // The good raw bits whose value is the least possible one (zero, where that is good), the
  // smallest, the largest, the default. Empty if no bits are good; the default also where it may
  // not be packed.
  std::optional<uint64_t> Least(const tables::Leaf& leaf) const { return least_[IndexOf(leaf)]; }
  std::optional<uint64_t> Lowest(const tables::Leaf& leaf) const;
  std::optional<uint64_t> Most(const tables::Leaf& leaf) const;
  std::optional<uint64_t> Default(const tables::Leaf& leaf) const;
  // What generated code's defaults are, good or not.
  decode::Value DefaultValue(const tables::Leaf& leaf) const;

 private:
  Description() = default;
  std::optional<uint64_t> FindLeast(const tables::Leaf& leaf) const;

  model::Model model_;
  std::vector<uint64_t> block_;
  std::optional<tables::Tables> tables_;
  // By leaf index.
  std::vector<const model::ItemBase*> items_;  // by leaf
  std::vector<const model::Field*> fields_;
  std::vector<std::optional<uint64_t>> least_;  // asked for each field of each vector
};

bool IsReal(const tables::Leaf& leaf);

// Ones in the low bits.
inline uint64_t Ones(uint32_t width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

// All fields, opcodes and reserved runs of a record whose bytes say how long it is.
std::vector<decode::FieldAt> FieldsOf(const tables::Tables& tables,
                                      const tables::Container& container,
                                      absl::Span<const uint8_t> bytes);

// RECORDS name of a field.
std::string NameOf(const decode::FieldAt& at);

}  // namespace packsmith::vectors

#endif  // PACKSMITH_TESTS_VECTORS_DESCRIPTION_H_
