// What attributes an element may have, as data: the parser's checks, where most are stored, the
// schema (xml/packsmith.rng) and the page (docs/xml.md) are held against one table an element.
#ifndef PACKSMITH_GEN_MODEL_SYNTAX_ATTRIBUTE_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_ATTRIBUTE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gen/model/ast/model.h"

namespace packsmith::model {

enum class ValueKind {
  kText,
  kNumber,
  kFlag,
  kWord,   // one of some words
  kOther,  // a number or a word
};

struct AttributeInfo {
  absl::string_view name;
  ValueKind kind = ValueKind::kText;
  bool required = false;
  absl::Span<const absl::string_view> words;  // of kWord; the first counts where none is given
};

// One attribute of an element that becomes a T. At most one of the members after `info` says where
// the value is stored; without one the element's parser reads it itself.
template <class T>
struct Attribute {
  AttributeInfo info;
  std::string T::*text = nullptr;
  Deferred& (*later)(T&) = nullptr;
  bool T::*flag = nullptr;
  void (*number)(T&, uint64_t) = nullptr;
  uint64_t otherwise = 0;  // a number that is absent, or larger than `most`
  uint64_t most = 0;
  void (*word)(T&, size_t) = nullptr;

  bool is_stored() const {
    return text != nullptr || later != nullptr || flag != nullptr || number != nullptr ||
           word != nullptr;
  }
  Attribute Required() const {
    Attribute out = *this;
    out.info.required = true;
    return out;
  }
};

template <class T>
class Attributes {
 public:
  // In the order in which messages list them.
  Attributes(std::initializer_list<Attribute<T>> all) : all_(all) {
    for (const Attribute<T>& one : all_) infos_.push_back(one.info);
  }
  const std::vector<Attribute<T>>& all() const { return all_; }
  const std::vector<AttributeInfo>& infos() const { return infos_; }

 private:
  std::vector<Attribute<T>> all_;
  std::vector<AttributeInfo> infos_;
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_ATTRIBUTE_H_
