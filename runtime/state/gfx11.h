// Draw states of Gfx11: DrawState<Gfx11>, PipelineState<Gfx11>.

#ifndef PACKSMITH_RUNTIME_STATE_GFX11_H_
#define PACKSMITH_RUNTIME_STATE_GFX11_H_

#include "packsmith/gfx11_relations.h"
#include "runtime/batch/gfx11.h"

#endif  // PACKSMITH_RUNTIME_STATE_GFX11_H_
