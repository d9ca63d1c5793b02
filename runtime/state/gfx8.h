// Draw states of Gfx8: DrawState<Gfx8>, PipelineState<Gfx8>.

#ifndef PACKSMITH_RUNTIME_STATE_GFX8_H_
#define PACKSMITH_RUNTIME_STATE_GFX8_H_

#include "packsmith/gfx8_relations.h"
#include "runtime/batch/gfx8.h"

#endif  // PACKSMITH_RUNTIME_STATE_GFX8_H_
