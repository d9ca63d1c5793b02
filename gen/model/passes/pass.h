// What all passes share: the model that they complete, where problems go, and looking names up.
//
// A pass is a function of one file, declared in the header of its name, that says what the pass
// needs of the model and what it establishes. resolve.cc has them in order.
#ifndef PACKSMITH_GEN_MODEL_PASSES_PASS_H_
#define PACKSMITH_GEN_MODEL_PASSES_PASS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"
#include "gen/model/ast/model.h"
#include "gen/model/ast/name_index.h"
#include "gen/model/diagnostic.h"
#include "gen/model/source.h"

namespace packsmith::model {

// Passes neither add to the model's lists nor take anything out of them, so that indices and
// pointers into them stay what they are.
struct Context {
  Context(const Sources& from, Diagnostics& to, Model& completed)
      : sources(from), diagnostics(to), model(completed) {}

  Diagnostic& Report(Code code, Location where, std::string text) {
    return diagnostics.Add(code, where, std::move(text));
  }
  // Where an attribute of the element at `element` is.
  Location At(Location element, absl::string_view attribute) const {
    return AttributeLocation(sources, element, attribute);
  }

  // The index of what has the name, in one of the model's lists; -1 if nothing has.
  template <class T>
  int Find(const std::vector<T>& all, absl::string_view name) {
    const auto [index, is_new] = indices.try_emplace(&all);
    if (is_new) index->second.Fill(all);
    const std::optional<size_t> place = index->second.Find(name);
    return place ? static_cast<int>(*place) : -1;
  }
  int FindContainer(absl::string_view name) { return Find(model.containers, name); }

  const Sources& sources;
  Diagnostics& diagnostics;
  Model& model;
  std::unordered_map<const void*, NameIndex> indices;  // of the model's lists
};

// For passes that are more than a function.
class Pass {
 protected:
  explicit Pass(Context& context) : context_(context), model_(context.model) {}
  Diagnostic& Report(Code code, Location where, std::string text) {
    return context_.Report(code, where, std::move(text));
  }
  Location At(Location element, absl::string_view attribute) const {
    return context_.At(element, attribute);
  }
  template <class T>
  int Find(const std::vector<T>& all, absl::string_view name) {
    return context_.Find(all, name);
  }
  int FindContainer(absl::string_view name) { return context_.FindContainer(name); }

  Context& context_;
  Model& model_;
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_PASS_H_
