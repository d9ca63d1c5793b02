// Batches of Gfx125: Batch<Gfx125>.

#ifndef PACKSMITH_RUNTIME_BATCH_GFX125_H_
#define PACKSMITH_RUNTIME_BATCH_GFX125_H_

#include "packsmith/gfx125.h"
#include "runtime/batch/generation.h"

namespace packsmith::gpu {

PACKSMITH_GENERATION(Gfx125, gfx125, 125);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_GFX125_H_
