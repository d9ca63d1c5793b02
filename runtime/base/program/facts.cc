#include "runtime/base/program/facts.h"

#include "absl/strings/str_replace.h"

namespace packsmith::tools {

std::string PageName(const std::string& program) {
  return absl::StrReplaceAll(program, {{" ", "-"}});
}

}  // namespace packsmith::tools
