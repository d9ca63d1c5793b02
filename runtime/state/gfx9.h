// Draw states of Gfx9: DrawState<Gfx9>, PipelineState<Gfx9>.

#ifndef PACKSMITH_RUNTIME_STATE_GFX9_H_
#define PACKSMITH_RUNTIME_STATE_GFX9_H_

#include "packsmith/gfx9_relations.h"
#include "runtime/batch/gfx9.h"

#endif  // PACKSMITH_RUNTIME_STATE_GFX9_H_
