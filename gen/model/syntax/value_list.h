#ifndef PACKSMITH_GEN_MODEL_SYNTAX_VALUE_LIST_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_VALUE_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gen/model/ast/model.h"
#include "gen/model/ast/name_index.h"

namespace packsmith::model {

// The values of an enumeration or a field while they are parsed. Amended, inherited ones are
// replaced in their places and taken out, and what is added goes where its number belongs.
class ValueList {
 public:
  // Changes `inherited` when it is finished.
  ValueList(std::vector<Value>& inherited, bool amends) : values_(inherited), amends_(amends) {}
  bool amends() const { return amends_; }

  Value* Find(const std::string& name) {
    FillNames();
    const std::optional<size_t> place = names_.Find(name);
    if (!place) return nullptr;
    return *place < values_.size() ? &values_[*place] : &added_[*place - values_.size()];
  }
  // Only what Find does not find.
  void Add(Value&& value) {
    FillNames();
    names_.Add(value.name, values_.size() + added_.size());
    added_.push_back(std::move(value));
  }
  bool Remove(const std::string& name) {
    Value* const value = Find(name);
    if (value == nullptr) return false;
    names_.Remove(name);
    value->name.clear();
    removed_ = true;
    return true;
  }
  void Finish() {
    if (removed_) {
      const auto is_removed = [](const Value& value) { return value.name.empty(); };
      std::erase_if(values_, is_removed);
      std::erase_if(added_, is_removed);
    }
    if (!amends_) {
      std::move(added_.begin(), added_.end(), std::back_inserter(values_));
      return;
    }
    if (added_.empty()) return;
    // Each before the first that is greater: the first at which the greatest so far is.
    std::vector<int64_t> greatest;
    for (const Value& value : values_) {
      const auto number = static_cast<int64_t>(value.value);
      greatest.push_back(greatest.empty() ? number : std::max(greatest.back(), number));
    }
    std::stable_sort(added_.begin(), added_.end(), [](const Value& a, const Value& b) {
      return static_cast<int64_t>(a.value) < static_cast<int64_t>(b.value);
    });
    std::vector<Value> all;
    all.reserve(values_.size() + added_.size());
    auto next = added_.begin();
    for (size_t i = 0; i < values_.size(); ++i) {
      while (next != added_.end() && static_cast<int64_t>(next->value) < greatest[i]) {
        all.push_back(std::move(*next++));
      }
      all.push_back(std::move(values_[i]));
    }
    std::move(next, added_.end(), std::back_inserter(all));
    values_ = std::move(all);
  }

 private:
  void FillNames() {
    if (!is_filled_) names_.Fill(values_);
    is_filled_ = true;
  }

  std::vector<Value>& values_;
  const bool amends_;
  bool is_filled_ = false, removed_ = false;
  NameIndex names_;
  std::vector<Value> added_;
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_VALUE_LIST_H_
