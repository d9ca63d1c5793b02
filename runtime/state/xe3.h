// Draw states of Xe3: DrawState<Xe3>, PipelineState<Xe3>.

#ifndef PACKSMITH_RUNTIME_STATE_XE3_H_
#define PACKSMITH_RUNTIME_STATE_XE3_H_

#include "packsmith/xe3_relations.h"
#include "runtime/batch/xe3.h"

#endif  // PACKSMITH_RUNTIME_STATE_XE3_H_
