// What this example does about errors: it says them and ends. A driver would pass them on.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_MUST_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_MUST_H_

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frame {

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

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_MUST_H_
