// Bits whose value is known: forced fields and reserved runs.
#ifndef PACKSMITH_GEN_MODEL_WRITE_FIXED_H_
#define PACKSMITH_GEN_MODEL_WRITE_FIXED_H_

#include "gen/model/ast/model.h"
#include "gen/model/write/json.h"

namespace packsmith::model {

// "forced" and "reserved": each in bit order; "forced_words" and "zero_words": the same by words.
void WriteFixed(const Model& model, Json& json, const Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_FIXED_H_
