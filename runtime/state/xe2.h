// Draw states of Xe2: DrawState<Xe2>, PipelineState<Xe2>.

#ifndef PACKSMITH_RUNTIME_STATE_XE2_H_
#define PACKSMITH_RUNTIME_STATE_XE2_H_

#include "packsmith/xe2_relations.h"
#include "runtime/batch/xe2.h"

#endif  // PACKSMITH_RUNTIME_STATE_XE2_H_
