// Batches of Gfx8: Batch<Gfx8>.

#ifndef PACKSMITH_RUNTIME_BATCH_GFX8_H_
#define PACKSMITH_RUNTIME_BATCH_GFX8_H_

#include "packsmith/gfx8.h"
#include "runtime/batch/generation.h"

namespace packsmith::gpu {

PACKSMITH_GENERATION(Gfx8, gfx8, 80);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_GFX8_H_
