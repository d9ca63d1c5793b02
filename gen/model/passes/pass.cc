#include "gen/model/passes/pass.h"

#include "gen/model/parse.h"

namespace packsmith::model {

Location Context::At(Location element, absl::string_view attribute) const {
  return AttributeLocation(sources, element, attribute);
}

}  // namespace packsmith::model
