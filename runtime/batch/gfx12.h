// Batches of Gfx12: Batch<Gfx12>.

#ifndef PACKSMITH_RUNTIME_BATCH_GFX12_H_
#define PACKSMITH_RUNTIME_BATCH_GFX12_H_

#include "packsmith/gfx12.h"
#include "runtime/batch/generation.h"

namespace packsmith::gpu {

PACKSMITH_GENERATION(Gfx12, gfx12, 120);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_GFX12_H_
