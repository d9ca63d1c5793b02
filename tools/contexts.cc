#include "tools/contexts.h"

#include "absl/strings/str_cat.h"
#include "runtime/sim/contexts/contexts_text.h"

namespace packsmith::tools {

ContextsResult ShowContexts(
    Inputs& inputs,
    const std::function<absl::StatusOr<tables::Tables>(Dump&, const std::string&)>& describe,
    const std::function<void(absl::string_view)>& complain) {
  sim::ContextImagesText images;
  ContextsResult result;
  inputs.ForEach(false, [&](Dump& dump, const std::string& path) {
    const absl::StatusOr<tables::Tables> tables = describe(dump, path);
    if (!tables.ok()) return Then::kRefuse;
    const size_t before = images.images() + images.failures();
    images.Add(*tables, dump);
    if (images.images() + images.failures() == before) {
      complain(absl::StrCat(path,
                            " has no context image: dumps that the kernel makes of a hang "
                            "may have some"));
      result.complete = false;
    }
    return Then::kGoOn;
  });
  result.text = images.text();
  result.complete = result.complete && images.failures() == 0 && !inputs.failed();
  return result;
}

ContextsResult ShowPageTables(
    Inputs& inputs,
    const std::function<absl::StatusOr<tables::Tables>(Dump&, const std::string&)>& describe,
    const std::function<void(absl::string_view)>& complain) {
  ContextsResult result;
  inputs.ForEach(false, [&](Dump& dump, const std::string& path) {
    const absl::StatusOr<tables::Tables> tables = describe(dump, path);
    if (!tables.ok()) return Then::kRefuse;
    const sim::PageTablesOfDump shown = sim::ShowPageTables(*tables, dump);
    if (!shown.text.empty()) {
      absl::StrAppend(&result.text, result.text.empty() ? "" : "\n", shown.text);
    }
    for (const std::string& problem : shown.problems) {
      complain(absl::StrCat(path, ": ", problem));
      result.complete = false;
    }
    return Then::kGoOn;
  });
  result.complete = result.complete && !inputs.failed();
  return result;
}

}  // namespace packsmith::tools
