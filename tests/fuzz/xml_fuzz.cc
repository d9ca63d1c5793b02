// Descriptions as hostile text: parse, check, and where they pass, write the IR and the decode
// tables and read the tables again.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gen/model/load.h"
#include "gen/model/write/ir.h"
#include "gen/model/write/tables.h"
#include "runtime/tables/tables.h"
#include "tests/model/touch_tables.h"

namespace {

using packsmith::model::LoadResult;

// Files that a text may extend or include, besides itself.
constexpr char kAncestor[] =
    "<packsmith family=\"f\" generation=\"g\"><stream name=\"s\"/><engine name=\"e\"/><data "
    "name=\"d\"/>"
    "<enum name=\"E\"><value name=\"X\" value=\"1\"/></enum>"
    "<struct name=\"S\" dwords=\"2\"><field name=\"f\" dword=\"0\" bits=\"31:0\" "
    "type=\"uint\"/></struct>"
    "<packet name=\"P\" dwords=\"2\"><field name=\"op\" dword=\"0\" bits=\"31:24\" type=\"uint\" "
    "forced=\"1\"/><field name=\"to\" dword=\"1\" bits=\"31:2\" "
    "type=\"address\"/></packet></packsmith>";

void Check(bool good, const char* what, absl::string_view detail) {
  if (good) return;
  std::fprintf(stderr, "%s: %s\n", what, std::string(detail).c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const LoadResult result = packsmith::model::Load(
      "main.xml", [&](const std::string& path) -> absl::StatusOr<std::string> {
        if (path == "main.xml") return text;
        if (absl::EndsWith(path, "a.xml")) return std::string(kAncestor);
        return absl::NotFoundError("there is no such file");
      });
  const std::string printed = packsmith::model::FormatAll(result.diagnostics, result.sources);
  Check(result.diagnostics.all().empty() == printed.empty(), "problems are not printed", printed);
  if (result.diagnostics.has_errors()) return 0;

  const std::string ir = packsmith::model::WriteIr(result.model, result.sources);
  Check(absl::EndsWith(ir, "}\n"), "the IR is cut", ir);
  const std::vector<uint64_t> block = packsmith::model::WriteTables(result.model);
  const auto tables = packsmith::tables::Tables::Open(
      {reinterpret_cast<const uint8_t*>(block.data()), block.size() * sizeof(block[0])});
  Check(tables.ok(), "a sound description gives tables that cannot be read",
        tables.status().message());
  packsmith::model::TouchTables(*tables);
  return 0;
}
