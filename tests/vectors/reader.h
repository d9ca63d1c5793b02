// Reads a file of vectors, with no other knowledge than the file.
#ifndef PACKSMITH_TESTS_VECTORS_READER_H_
#define PACKSMITH_TESTS_VECTORS_READER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace packsmith::vectors {

// A value as JSON has it: a bool is 0 or 1, "0x…" a number.
struct Number {
  bool is_real = false;
  uint64_t integer = 0;  // two's complement
  double real = 0;       // also where it is an integer
};

struct ReadVector {
  std::string container;
  std::string what;
  std::vector<uint8_t> packed;
  std::vector<std::pair<std::string, Number>> fields;
};

// The text of a file, unpacked if it is compressed.
absl::StatusOr<std::string> ReadText(const std::string& path);

// InvalidArgument with the number of the first line that is not a vector.
absl::StatusOr<std::vector<ReadVector>> ParseVectors(const std::string& text);

}  // namespace packsmith::vectors

#endif  // PACKSMITH_TESTS_VECTORS_READER_H_
