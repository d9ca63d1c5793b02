// What is wrong with a text, each problem with the place that it is about.
//
//   batch.asm:3:12: error: "Kernel Start" does not fit ...
//     3DSTATE_VS Kernel_Start=3
//                ^
#ifndef PACKSMITH_RUNTIME_ENCODE_PROBLEMS_H_
#define PACKSMITH_RUNTIME_ENCODE_PROBLEMS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace packsmith::encode {

// A text and its name. Must outlive the problems that are about it.
struct Source {
  std::string name;
  absl::string_view text;
};

// A place in a text: counted from 1, the column in bytes.
struct Place {
  uint64_t line = 1;
  uint64_t column = 1;
};
Place PlaceOf(absl::string_view text, size_t offset);

class Problems {
 public:
  // More are only counted.
  static constexpr size_t kMost = 20;

  void Add(const Source& source, size_t offset, std::string text);

  bool any() const { return count_ != 0; }
  uint64_t count() const { return count_; }
  void Clear();

  // Ok if there is none; else InvalidArgument, whose message has all of them, several lines each.
  // Characters that a terminal would interpret are replaced.
  absl::Status status() const;

 private:
  struct Problem {
    const Source* source;
    size_t offset;
    std::string text;
  };
  std::vector<Problem> problems_;
  uint64_t count_ = 0;
};

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_PROBLEMS_H_
