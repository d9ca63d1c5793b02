// Draw states of Gfx125: DrawState<Gfx125>, PipelineState<Gfx125>.

#ifndef PACKSMITH_RUNTIME_STATE_GFX125_H_
#define PACKSMITH_RUNTIME_STATE_GFX125_H_

#include "packsmith/gfx125_relations.h"
#include "runtime/batch/gfx125.h"

#endif  // PACKSMITH_RUNTIME_STATE_GFX125_H_
