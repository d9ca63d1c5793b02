// Batches of Xe2: Batch<Xe2>.

#ifndef PACKSMITH_RUNTIME_BATCH_XE2_H_
#define PACKSMITH_RUNTIME_BATCH_XE2_H_

#include "packsmith/xe2.h"
#include "runtime/batch/generation.h"

namespace packsmith::gpu {

PACKSMITH_GENERATION(Xe2, xe2, 200);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_XE2_H_
