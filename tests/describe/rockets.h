// Two invented generations, the second of which has a change of each kind.
#ifndef PACKSMITH_TESTS_DESCRIBE_ROCKETS_H_
#define PACKSMITH_TESTS_DESCRIBE_ROCKETS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/describe/reference.h"

namespace packsmith::describe {

// Reference texts, and their tables.
class References {
 public:
  // Each text is the XML of a generation; the first is called "0.xml", so that the second can
  // extend it.
  explicit References(const std::vector<std::string>& texts);

  absl::Span<const Reference> all() const { return references_; }
  operator absl::Span<const Reference>() const { return references_; }

 private:
  std::vector<std::unique_ptr<std::vector<uint64_t>>> blocks_;
  std::vector<Reference> references_;
};

extern const char kRocket1[];
extern const char kRocket2[];

}  // namespace packsmith::describe

#endif  // PACKSMITH_TESTS_DESCRIBE_ROCKETS_H_
