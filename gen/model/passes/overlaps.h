// Fields that share bits without overlap="true", and containers with too many fields.
//
// Needs: types and sizes; structures that do not nest in circles.
// Establishes: what is written out leaf by leaf (flatten) is of a size that can be.
#ifndef PACKSMITH_GEN_MODEL_PASSES_OVERLAPS_H_
#define PACKSMITH_GEN_MODEL_PASSES_OVERLAPS_H_

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "gen/model/ast/flatten.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

class OverlapPass : private Pass {
 public:
  explicit OverlapPass(Context& context) : Pass(context) {}
  void Check(const Container& c);

 private:
  void Sweep(const std::vector<FlatLeaf>& leaves);

  std::set<std::pair<const ItemBase*, const ItemBase*>> overlaps_;  // that were reported
  size_t leaves_ = 0;                                               // of all containers so far
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_OVERLAPS_H_
