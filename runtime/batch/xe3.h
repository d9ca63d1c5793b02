// Batches of Xe3: Batch<Xe3>.

#ifndef PACKSMITH_RUNTIME_BATCH_XE3_H_
#define PACKSMITH_RUNTIME_BATCH_XE3_H_

#include "packsmith/xe3.h"
#include "runtime/batch/generation.h"

namespace packsmith::gpu {

PACKSMITH_GENERATION(Xe3, xe3, 300);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_XE3_H_
