// oracle_compare records.jsonl oracle.txt: prints how the two agree. Exit code 1 if they do not, 2
// if they could not be read.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"

namespace {

bool ReadWhole(const char* path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return !file.bad();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    absl::FPrintF(stderr, "usage: oracle_compare RECORDS.jsonl ORACLE.txt\n");
    return 2;
  }
  std::string records, text;
  if (!ReadWhole(argv[1], &records) || !ReadWhole(argv[2], &text)) {
    absl::FPrintF(stderr, "oracle_compare: cannot read %s or %s\n", argv[1], argv[2]);
    return 2;
  }
  const packsmith::Oracle oracle = packsmith::ParseOracle(text);
  for (const packsmith::OracleUnparsed& line : oracle.unparsed) {
    absl::PrintF("%s:%d: %s: %s\n", argv[2], line.line, line.why, line.text);
  }
  const absl::StatusOr<packsmith::CompareResult> result =
      packsmith::CompareWithRecords(oracle, records);
  if (!result.ok()) {
    absl::FPrintF(stderr, "oracle_compare: %s: %s\n", argv[1], result.status().ToString());
    return 2;
  }
  absl::PrintF("%s", result->Report(200));
  return result->mismatch_count == 0 && oracle.unparsed.empty() ? 0 : 1;
}
