// Writes a Model as JSON for code generators, gen/render first of all.
//
// The IR states facts in no programming language: the kind of a field's value, its bits, encoding,
// range and default as exact numbers (text, since not every reader of JSON has 64-bit integers),
// nested as the description nests them. Types, literals and expressions are chosen by the back end
// of a language. Names are the exception: "cpp" and "c" are how C++ and C spell them, because the
// model reports names that collide there.
#ifndef PACKSMITH_GEN_MODEL_WRITE_IR_H_
#define PACKSMITH_GEN_MODEL_WRITE_IR_H_

#include <string>

#include "gen/model/ast/model.h"

namespace packsmith::model {

// One line, for programs; python3 -m json.tool makes it legible. Members of a field that equal
// those of "usual_item" are left out. "in_c" has what C must say differently because others have
// published it so.
//
// The model must be free of errors. The same model gives the same text.
std::string WriteIr(const Model& model, const Sources& sources);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_IR_H_
