// The version of packsmith.
#ifndef PACKSMITH_RUNTIME_BASE_VERSION_H_
#define PACKSMITH_RUNTIME_BASE_VERSION_H_

namespace packsmith {

// "1.2.3", as in pkg-config; from version.bzl.
const char* Version();

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_VERSION_H_
