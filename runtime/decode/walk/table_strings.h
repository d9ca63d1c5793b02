// Strings of the tables, without counting their characters each time.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_TABLE_STRINGS_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_TABLE_STRINGS_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// Remembers the last ones: records of a few kinds alternate.
class TableStrings {
 public:
  // The tables must outlive this.
  explicit TableStrings(const tables::Tables& tables) : tables_(tables) {}

  absl::string_view Get(uint32_t string) {
    Known& known = known_[string % known_.size()];
    if (known.text.data() == nullptr || known.string != string) {
      known = {string, tables_.string(string)};
    }
    return known.text;
  }

 private:
  struct Known {
    uint32_t string = 0;
    absl::string_view text;
  };

  const tables::Tables& tables_;
  std::array<Known, 64> known_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_TABLE_STRINGS_H_
