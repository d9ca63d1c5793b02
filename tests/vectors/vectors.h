// Values and the bytes that they pack to, for every container of a description. Made by the decode
// tables' own encoder, so that generated code is compared with an independent result.
#ifndef PACKSMITH_TESTS_VECTORS_VECTORS_H_
#define PACKSMITH_TESTS_VECTORS_VECTORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/fields/value.h"
#include "tests/vectors/description.h"

namespace packsmith::vectors {

// A reproducible source of numbers: the same everywhere, which std's distributions are not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  // 0 to n - 1; n > 0.
  uint64_t Below(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_;
};

// FNV-1a: seeds that depend on a container's name alone, so that its vectors stay as they are when
// others come and go.
uint64_t SeedOf(absl::string_view text);

struct FieldValue {
  std::string name;  // RECORDS name
  decode::Value value;
};

struct Vector {
  std::string container;
  std::string what;  // "least", "most", "only Width", "random 1, 3 items", …
  // What to pack. A field that is not mentioned is zero; or its bits are another's that is
  // mentioned.
  std::vector<FieldValue> fields;
  std::vector<uint8_t> packed;
};

// All of a container's.
std::vector<Vector> VectorsOf(const Description& description, const tables::Container& container);

// One with random good values, in a random form (variant, parts, number of items), empty if that
// form is impossible.
std::optional<Vector> RandomVector(const Description& description,
                                   const tables::Container& container, Random& random);

// A good value's raw bits, random with a preference for the extremes.
uint64_t RandomRaw(const Description& description, const tables::Leaf& leaf, Random& random);

// A JSON object in one line, without the line's end.
std::string ToJson(const Vector& vector);

// All containers' in the order of the XML, a line each. The file for other implementations' tests.
std::string Jsonl(const Description& description);

}  // namespace packsmith::vectors

#endif  // PACKSMITH_TESTS_VECTORS_VECTORS_H_
