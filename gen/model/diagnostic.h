// Problems of a description, as values: a code, a location, a sentence, and notes. All problems of
// a run are collected: nothing is printed here, and nothing stops at the first one.
#ifndef PACKSMITH_GEN_MODEL_DIAGNOSTIC_H_
#define PACKSMITH_GEN_MODEL_DIAGNOSTIC_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gen/model/source.h"

namespace packsmith::model {

// The numbers are stable: tests, docs and users search for them. docs/diagnostics.md has a line for
// each. E… stops generation, W… does not.
enum class Code {
  kMalformedXml = 1,
  kUnknownElement,
  kUnknownAttribute,
  kMissingAttribute,
  kBadNumber,
  kBadBits,
  kBadType,
  kUnknownType,
  kDuplicateName,
  kFieldOutsideContainer,
  kOverlap,
  kValueTooWide,
  kBadWidth,
  kMissingLength,
  kBadLengthField,
  kAmbiguousOpcode,
  kMissingOpcode,
  kUnknownField,
  kBadCondition,
  kBadExpression,
  kUnknownReference,
  kCannotRead,
  kInheritanceCycle,
  kNothingToInherit,
  kStructCycle,
  kBadGroup,
  kBadEncoding,
  kContradiction,
  kNameCollision,
  kTooLarge,
  kBadVariant,
  kBadPart,
  kBadFlow,
  kBadRange,
  kBadRegister,
  kBadData,
  kBadOperation,
  kEndOfErrors,

  kNoDocumentation = 101,
  kUnusedEnum,
  kValueTwice,
  kNothingRemoved,
  kEndOfWarnings,
};

// "E007", "W101".
std::string CodeName(Code code);
bool IsError(Code code);

struct Note {
  Location where;
  std::string text;
};

struct Diagnostic {
  Code code;
  Location where;
  std::string text;
  std::vector<Note> notes;
};

class Diagnostics {
 public:
  // Returns the stored diagnostic, so that notes can be added. After the first kMost, problems are
  // counted and not stored: hostile input must not fill memory.
  Diagnostic& Add(Code code, Location where, std::string text);

  absl::Span<const Diagnostic> all() const { return all_; }
  bool has_errors() const { return errors_ != 0; }
  size_t errors() const { return errors_; }
  size_t not_stored() const { return not_stored_; }
  // Sorts by file, in the order of `files` (indices into Sources), then by position.
  void Sort(absl::Span<const int32_t> files);

 private:
  static constexpr size_t kMost = 1000;
  std::vector<Diagnostic> all_;
  Diagnostic overflow_{};
  size_t errors_ = 0;
  size_t not_stored_ = 0;
};

// "file:line:column: error E007: text", the source line, a caret, then the notes in the same form.
std::string Format(const Diagnostic& diagnostic, const Sources& sources);
std::string FormatAll(const Diagnostics& diagnostics, const Sources& sources);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_DIAGNOSTIC_H_
