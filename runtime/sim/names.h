// The named values of a field as enumerators: the interpreter knows instructions, comparisons and
// the like by the names that the hardware manual gives them, never by their bits.
#ifndef PACKSMITH_RUNTIME_SIM_NAMES_H_
#define PACKSMITH_RUNTIME_SIM_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// Which of some names a raw value has; made once for each leaf.
class NameIndex {
 public:
  NameIndex() = default;
  // `names` in the order of their indices.
  NameIndex(const tables::Tables& tables, const tables::Leaf& leaf,
            absl::Span<const absl::string_view> names)
      : NameIndex(tables, leaf, names, [](absl::string_view name) { return name; }) {}
  // `name_of` maps the names of the description to those of `names`.
  template <class NameOf>
  NameIndex(const tables::Tables& tables, const tables::Leaf& leaf,
            absl::Span<const absl::string_view> names, const NameOf& name_of) {
    if (leaf.named == tables::kNone) return;
    for (const tables::NamedValue& value : tables.values(tables.enumeration(leaf.named).values)) {
      for (size_t i = 0; i < names.size(); ++i) {
        if (name_of(tables.string(value.name)) == names[i]) {
          known_.push_back({value.value, static_cast<uint32_t>(i)});
        }
      }
    }
  }

  // Empty if the value has none of the names.
  std::optional<uint32_t> Find(uint64_t raw) const {
    for (const Known& known : known_) {
      if (known.raw == raw) return known.index;
    }
    return std::nullopt;
  }

 private:
  struct Known {
    uint64_t raw;
    uint32_t index;
  };
  std::vector<Known> known_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_NAMES_H_
