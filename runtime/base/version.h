// Which packsmith this is.
#ifndef PACKSMITH_RUNTIME_BASE_VERSION_H_
#define PACKSMITH_RUNTIME_BASE_VERSION_H_

namespace packsmith {

// "1.2.3", as pkg-config has it. version.bzl says which.
const char* Version();

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_VERSION_H_
