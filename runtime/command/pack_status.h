// Errors of packing as statuses, for states that are not packets of a batch.

#ifndef PACKSMITH_RUNTIME_COMMAND_PACK_STATUS_H_
#define PACKSMITH_RUNTIME_COMMAND_PACK_STATUS_H_

#include "absl/status/status.h"
#include "packsmith/pack.h"

namespace packsmith {

// InvalidArgument that names the structure, the member and the error. `e` must be an error.
absl::Status PackStatus(const char* structure, const error& e);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_COMMAND_PACK_STATUS_H_
