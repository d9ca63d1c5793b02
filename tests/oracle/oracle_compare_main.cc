// How packsmith's records of a capture agree with the oracle's text, as a report.
//
//   oracle_compare RECORDS.jsonl ORACLE.txt[.zst|.gz]
//   oracle_compare --decode ORACLE.txt[.zst|.gz] CORE...
//   oracle_compare --xml=FILE ORACLE.txt[.zst|.gz] CORE...
//
// The latter forms make the records themselves, by the built-in description or another. Exit code 1
// if the two do not agree, 2 if something could not be read.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/run_unpack.h"

namespace {

constexpr int kDiffers = 1;
constexpr int kUnreadable = 2;

int Fail(const absl::Status& status) {
  absl::FPrintF(stderr, "oracle_compare: %s\n", status.message());
  return kUnreadable;
}

}  // namespace

int main(int argc, char** argv) {
  bool decode = false;
  std::string xml;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (absl::ConsumePrefix(&argument, "--xml=")) {
      xml = std::string(argument);
      decode = true;
    } else if (argument == "--decode") {
      decode = true;
    } else {
      files.emplace_back(argument);
    }
  }
  if (files.size() < 2 || (!decode && files.size() != 2)) {
    absl::FPrintF(stderr,
                  "usage: oracle_compare RECORDS.jsonl ORACLE.txt\n"
                  "       oracle_compare --decode ORACLE.txt CORE...\n"
                  "       oracle_compare --xml=FILE ORACLE.txt CORE...\n");
    return kUnreadable;
  }
  const std::string oracle_file = decode ? files[0] : files[1];
  const absl::StatusOr<std::string> text = packsmith::ReadText(oracle_file);
  if (!text.ok()) return Fail(text.status());
  const absl::StatusOr<std::string> records =
      decode ? packsmith::RunUnpack({files.begin() + 1, files.end()}, {}, xml)
             : packsmith::ReadText(files[0]);
  if (!records.ok()) return Fail(records.status());

  const packsmith::Oracle oracle = packsmith::ParseOracle(*text);
  for (const packsmith::OracleUnparsed& line : oracle.unparsed) {
    absl::PrintF("%s:%d: %s: %s\n", oracle_file, line.line, line.why, line.text);
  }
  const absl::StatusOr<packsmith::CompareResult> result =
      packsmith::CompareWithRecords(oracle, *records);
  if (!result.ok()) return Fail(result.status());
  absl::PrintF("%s", result->Report(200));
  return result->mismatch_count == 0 && oracle.unparsed.empty() ? 0 : kDiffers;
}
