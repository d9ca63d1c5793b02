#ifndef PACKSMITH_TESTS_ORACLE_COMPARE_H_
#define PACKSMITH_TESTS_ORACLE_COMPARE_H_

// Compares the records that packsmith writes for a capture with an independent decoder's text.
//
// Everything in either is compared, excused by a named rule, or counted as not compared: nothing
// is left out silently.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/oracle/oracle.h"

namespace packsmith {

// Why a difference is not a fault of packsmith.
enum class RuleKind {
  kDefect,    // the oracle is wrong
  kOmission,  // the oracle, or the record, leaves out by design what the other has
  kNotation,  // the same fact in another notation
};

struct CompareRule {
  const char* name;
  RuleKind kind;
  const char* reason;
  // Captures in which the rule is known to be needed, separated by spaces. One that no longer
  // fires there hides nothing but a mistake, and is reported by SilentRules.
  const char* folders;
};

absl::Span<const CompareRule> CompareRules();

struct CompareMismatch {
  int batch = 0;
  uint64_t address = 0;
  // Line of the oracle's text, 0 if it has none.
  int oracle_line = 0;
  std::string item;
  // Empty if the item as a whole is meant.
  std::string field;
  // "(nothing)" where one side has none.
  std::string oracle;
  std::string record;
};

struct CompareResult {
  // What the oracle's text holds.
  int64_t batches = 0;
  int64_t oracle_packets = 0;
  int64_t oracle_fields = 0;
  // How many of those have a counterpart among the records, each field of which was compared.
  int64_t packets_compared = 0;
  int64_t structs_compared = 0;
  int64_t registers_compared = 0;
  int64_t pointers_compared = 0;
  // Vertex, constant and index buffers; values_compared are what they hold.
  int64_t data_compared = 0;
  int64_t values_compared = 0;
  int64_t fields_compared = 0;
  // Fields that a rule excuses from having a counterpart. With fields_compared and those of
  // mismatches they make up oracle_fields.
  int64_t fields_excused = 0;
  int64_t dwords_compared = 0;
  // Structures that the oracle shows after one packet and the records after another.
  int64_t structs_found_elsewhere = 0;

  // Dwords that packsmith found no packet for, as runs.
  int64_t unknown_records = 0;
  // Faults in the records, by kind.
  std::map<std::string, int64_t> faults;

  // Uses of each rule, by name; all rules are here, unused ones with 0.
  std::map<std::string, int64_t> rules;
  // Items of the oracle that have nothing to compare, by kind.
  std::map<std::string, int64_t> not_compared;
  // Structures and data that only packsmith shows, by name.
  std::map<std::string, int64_t> only_in_records;

  int64_t mismatch_count = 0;
  // The first kMaxMismatches of them.
  std::vector<CompareMismatch> mismatches;

  static constexpr int kMaxMismatches = 2000;

  // All of the above as text, at most `max_mismatches` of them in full.
  std::string Report(int max_mismatches = 50) const;
};

// `jsonl` is the output of `unpack --format=jsonl` for the files of a capture, in order. Each
// `submission` record begins what is compared with the next batch. An error names the line that is
// no record.
absl::StatusOr<CompareResult> CompareWithRecords(const Oracle& oracle, absl::string_view jsonl);

// Names of the rules that should have fired in `folder` and did not.
std::vector<std::string> SilentRules(absl::string_view folder, const CompareResult& result);

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_ORACLE_COMPARE_H_
