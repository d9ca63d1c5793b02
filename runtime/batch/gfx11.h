// Batches of Gfx11: Batch<Gfx11>.

#ifndef PACKSMITH_RUNTIME_BATCH_GFX11_H_
#define PACKSMITH_RUNTIME_BATCH_GFX11_H_

#include "packsmith/gfx11.h"
#include "runtime/batch/generation.h"

namespace packsmith::gpu {

PACKSMITH_GENERATION(Gfx11, gfx11, 110);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_GFX11_H_
