// A description's facts, as lines of text that can be counted and compared: sizes, positions,
// types, defaults, names of values. Names and types are those of the C headers.
#ifndef PACKSMITH_TESTS_GENERATIONS_FACTS_H_
#define PACKSMITH_TESTS_GENERATIONS_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gen/model/ast/model.h"

namespace packsmith {

struct Fact {
  std::string of;    // the container or enumeration
  std::string text;  // begins with packet, struct, register, enum, field or value

  bool operator==(const Fact& other) const { return of == other.of && text == other.text; }
};

// The model must be free of errors. In the order of `text`.
std::vector<Fact> FactsOf(const model::Model& model);

// How many begin with the word.
uint32_t CountOf(const std::vector<Fact>& facts, absl::string_view word);

// Of the texts, whatever their order; 16 hex digits.
std::string DigestOf(std::vector<Fact> facts);

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_GENERATIONS_FACTS_H_
