#include "runtime/base/version.h"

namespace packsmith {

const char* Version() { return PACKSMITH_VERSION; }

}  // namespace packsmith
