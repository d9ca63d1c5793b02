// What one element of data is made of: components="R10 G10 B10 A2 unorm".
#ifndef PACKSMITH_GEN_MODEL_AST_COMPONENTS_H_
#define PACKSMITH_GEN_MODEL_AST_COMPONENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::model {

using tables::ComponentType;

struct DataComponent {
  std::string name;
  uint32_t bit = 0;  // from the start of the element
  uint32_t width = 0;
  ComponentType type = ComponentType::kUnused;
};

struct DataFormat {
  std::vector<DataComponent> components;
  uint32_t bits = 0;
  bool empty() const { return components.empty(); }
};

// Components from the lowest bit on, each a name and its bits ("R32"; "X8": bits that are not
// used), and after one or several of them the word for their type. Errors: InvalidArgument that
// says what is wrong.
absl::StatusOr<DataFormat> ParseComponents(absl::string_view text);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_AST_COMPONENTS_H_
