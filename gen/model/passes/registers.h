// Where registers are.
//
// Needs: nothing but the parsed model.
// Establishes: no two registers are at one offset.
#ifndef PACKSMITH_GEN_MODEL_PASSES_REGISTERS_H_
#define PACKSMITH_GEN_MODEL_PASSES_REGISTERS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void CheckRegisters(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_REGISTERS_H_
