// How the examples handle errors: they print them and exit. A driver would return them.

#ifndef PACKSMITH_DOCS_EXAMPLES_MUST_H_
#define PACKSMITH_DOCS_EXAMPLES_MUST_H_

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace example {

inline void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <class T>
T Must(absl::StatusOr<T> result) {
  Must(result.status());
  return *std::move(result);
}

inline void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::exit(1);
}

}  // namespace example

#endif  // PACKSMITH_DOCS_EXAMPLES_MUST_H_
