// What descriptions say in words. Made here alone: text for terminals prints it, JSON lines carry
// it, and the reference pages are made of those.
#ifndef PACKSMITH_RUNTIME_DESCRIBE_SENTENCES_H_
#define PACKSMITH_RUNTIME_DESCRIBE_SENTENCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/describe/reference.h"

namespace packsmith::describe {

struct Piece {
  std::string text;
  absl::string_view kind;  // of the entry that `text` names; empty: the text is not a name
};
using Sentence = std::vector<Piece>;

std::string PlainText(const Sentence& sentence);

// Short facts about a field's value, for after its type: "[B], default 4, at most 2048". Empty if
// nothing is unusual.
std::string FieldFacts(const Json& field);
// What a field does besides having a value: points to something, sets a base, is written.
std::vector<Sentence> FieldSentences(const Json& field);
// What follows a container's fields, and what the container does: parts, padding, variants, jumps,
// relations to packets, draws; the workarounds that are about it. Of a workaround: what it asks
// for.
std::vector<Sentence> ContainerSentences(const Json& record);

// A number of JSON as text; empty if it is not one.
std::string NumberText(const Json& value);
// "3 dwords", or where the unit is bytes or the size is not whole dwords, "6 bytes".
std::string SizeText(uint64_t bytes, bool byte_unit);

}  // namespace packsmith::describe

#endif  // PACKSMITH_RUNTIME_DESCRIBE_SENTENCES_H_
