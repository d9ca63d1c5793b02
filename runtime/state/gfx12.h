// Draw states of Gfx12: DrawState<Gfx12>, PipelineState<Gfx12>.

#ifndef PACKSMITH_RUNTIME_STATE_GFX12_H_
#define PACKSMITH_RUNTIME_STATE_GFX12_H_

#include "packsmith/gfx12_relations.h"
#include "runtime/batch/gfx12.h"

#endif  // PACKSMITH_RUNTIME_STATE_GFX12_H_
