// The items of a container as the IR has them: nested as the description nests
// them.
#ifndef PACKSMITH_GEN_MODEL_WRITE_ITEMS_H_
#define PACKSMITH_GEN_MODEL_WRITE_ITEMS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "gen/model/ast/model.h"
#include "gen/model/write/json.h"

namespace packsmith::model {

// The word of the IR for the type of a field.
absl::string_view TypeName(const Field& field);

// "cpp" and "c".
void WriteSpelling(Json& json, const Spelling& spelled);

// An item with every member that items may leave out, which then are what they
// are here.
void WriteUsualItem(const Model& model, Json& json);

// "items": those of a container, in the order of the XML.
void WriteItems(const Model& model, Json& json, const Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_ITEMS_H_
