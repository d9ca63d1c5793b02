// Writes a Model as what people read of it: one JSON object a line for the generation itself, each
// packet, structure, register, enumeration, stream, engine, base, state, space, client of memory
// and kind of data. Nothing is flattened and nothing is encoded: groups and nested structures stay
// what they are, conditions and expressions are the text of the XML. docs/records.md names the
// members.
#ifndef PACKSMITH_GEN_MODEL_WRITE_REFERENCE_H_
#define PACKSMITH_GEN_MODEL_WRITE_REFERENCE_H_

#include <string>

#include "gen/model/ast/model.h"

namespace packsmith::model {

// The model must be free of errors. Each line begins with name, kind and, if there are some,
// aliases, so that a reader that looks for one of them need not read the others. What has no doc,
// unit, range or default has no such member. The same model gives the same text.
std::string WriteReference(const Model& model);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_REFERENCE_H_
