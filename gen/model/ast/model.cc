#include "gen/model/ast/model.h"

namespace packsmith::model {

int Model::FindContainer(absl::string_view name) const {
  for (size_t i = 0; i < containers.size(); ++i) {
    if (containers[i].name == name) return static_cast<int>(i);
  }
  for (size_t i = 0; i < containers.size(); ++i) {
    for (const std::string& alias : containers[i].aliases) {
      if (alias == name) return static_cast<int>(i);
    }
  }
  return -1;
}

int Model::FindEnum(absl::string_view name) const {
  for (size_t i = 0; i < enums.size(); ++i) {
    if (enums[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace packsmith::model
