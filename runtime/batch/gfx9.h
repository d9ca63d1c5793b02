// Batches of Gfx9: Batch<Gfx9>.

#ifndef PACKSMITH_RUNTIME_BATCH_GFX9_H_
#define PACKSMITH_RUNTIME_BATCH_GFX9_H_

#include "packsmith/gfx9.h"
#include "runtime/batch/generation.h"

namespace packsmith::gpu {

PACKSMITH_GENERATION(Gfx9, gfx9, 90);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_GFX9_H_
