// Writes a Model as JSON for the templates of gen/render. Everything a template prints is derived
// here: identifiers, types, defaults, and for each field the words and bits it goes to.
#ifndef PACKSMITH_GEN_MODEL_WRITE_IR_H_
#define PACKSMITH_GEN_MODEL_WRITE_IR_H_

#include <string>

#include "gen/model/ast/model.h"

namespace packsmith::model {

// In a line, for programs; python3 -m json.tool makes it legible. Of a leaf, a field at its place,
// it says what it has other than "usual_leaf".
//
// The model must be free of errors. docs/architecture.md names the members. The same model gives
// the same text.
std::string WriteIr(const Model& model, const Sources& sources);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_IR_H_
