// A container with its nested structures and counted groups written out: each leaf once, with its
// full name and its place. The decode tables and the checks of overlaps are based on this.
#ifndef PACKSMITH_GEN_MODEL_AST_FLATTEN_H_
#define PACKSMITH_GEN_MODEL_AST_FLATTEN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gen/model/ast/model.h"

namespace packsmith::model {

struct FlatLeaf {
  const ItemBase* item = nullptr;  // a field that is not a structure, or a reserved run
  const Field* field = nullptr;    // the same, nullptr of a reserved run
  std::string name;                // RECORDS: outer.inner, name[3]
  std::string suffix;              // in a tail, what follows the index
  uint32_t bit = 0;                // from the start of the container; in a tail, of the item
  // To find the fields that this one refers to: the structure it was reached through, and which
  // item of its outermost group it is.
  uint32_t scope = 0;
  uint32_t index = 0;
  bool overlap = false;  // the field, or what holds it, says that it is another view of its bits
};

// A structure that is a field of the container, or of one of its structures.
struct NestedStruct {
  const Container* container = nullptr;
  uint32_t scope = 0;  // of its leaves
};

struct Flat {
  std::vector<FlatLeaf> leaves;           // in bit order
  std::vector<FlatLeaf> tail_leaves;      // of one item, in bit order
  std::vector<NestedStruct> nested;       // of the fixed part, by scope
  std::vector<NestedStruct> tail_nested;  // of an item of the tail
  bool too_large = false;                 // cut off: more leaves than any real description has
};

// Structures must not nest in circles.
Flat Flatten(const Model& model, const Container& container);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_AST_FLATTEN_H_
