// Which workarounds a product needs.
#ifndef PACKSMITH_RUNTIME_LINT_PLATFORMS_H_
#define PACKSMITH_RUNTIME_LINT_PLATFORMS_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

// Parts that are not known are empty.
struct Product {
  std::string platform;  // "dg2"
  std::string variant;   // "g10"
  std::string stepping;  // "b0"
};

// "dg2", "dg2-g10", "tgl(b0)", "dg2-g10(b0)". InvalidArgument for anything else.
absl::StatusOr<Product> ParseProduct(absl::string_view text);

class Platforms {
 public:
  // Which variants there are is known from the workarounds of the tables.
  explicit Platforms(const tables::Tables& tables);

  // Whether a list as in Workaround::platforms has the product. An entry with steppings counts only
  // if the product's is known. If its variant is not, the list must have all variants of the
  // platform.
  bool Has(absl::string_view list, const Product& product) const;

 private:
  const std::string generation_;
  std::map<std::string, std::set<std::string>> variants_;  // by platform
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_PLATFORMS_H_
