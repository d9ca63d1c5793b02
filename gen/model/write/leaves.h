// Fields at their places: nested structures and small groups written out, larger groups as loops.
#ifndef PACKSMITH_GEN_MODEL_WRITE_LEAVES_H_
#define PACKSMITH_GEN_MODEL_WRITE_LEAVES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "gen/model/ast/model.h"
#include "gen/model/write/faces.h"
#include "gen/model/write/json.h"

namespace packsmith::model {

// The word of the IR for the type of a field that is no structure.
absl::string_view TypeName(const Field& field);

// "places": the words that [bit, bit + width) lies in, from low to high.
void WritePlaces(Json& json, uint32_t bit, uint32_t width);

// "usual_leaf": what most leaves have alike, and leave out.
void WriteUsualLeaf(const Model& model, Faces& faces, Json& json);

// The leaves and the loops of a container, in bit order, as members of those names. What begins at
// `bits_that_exist` or later is left out.
void WriteLeaves(const Model& model, Faces& faces, Json& json, const Container& c, Face face,
                 uint32_t bits_that_exist, const char* leaves_key, const char* loops_key);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_LEAVES_H_
