#ifndef PACKSMITH_GEN_MODEL_PASSES_CURSOR_H_
#define PACKSMITH_GEN_MODEL_PASSES_CURSOR_H_

#include <cstddef>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace packsmith::model {

// A place in the text of a condition or an expression.
class Cursor {
 public:
  explicit Cursor(absl::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  absl::string_view rest() const { return rest_; }
  bool Take(absl::string_view what) { return absl::ConsumePrefix(&rest_, what); }
  void Skip(size_t n) { rest_.remove_prefix(n); }
  // Whether, after `n` characters, a name has ended.
  bool EndsAfter(size_t n, std::initializer_list<absl::string_view> ends) const {
    const absl::string_view after = rest_.substr(n);
    if (after.empty()) return true;
    for (const absl::string_view end : ends) {
      if (after.substr(0, end.size()) == end) return true;
    }
    return false;
  }

 private:
  absl::string_view rest_;
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_CURSOR_H_
