// Looking names up in long lists: every look-up takes as long as hashing a name.
#ifndef PACKSMITH_GEN_MODEL_AST_NAME_INDEX_H_
#define PACKSMITH_GEN_MODEL_AST_NAME_INDEX_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith::model {

// The index of a list of named things while it is made: things are added at its end, replaced in
// their places, and removed. What is removed stays in the list, without being found, until Compact.
class NameIndex {
 public:
  // Takes up what a list holds already.
  template <class T>
  void Fill(const std::vector<T>& list) {
    places_.clear();
    removed_.clear();
    for (size_t i = 0; i < list.size(); ++i) Add(list[i].name, i);
  }
  // Of two things of one name the first is found. What has no name is never found.
  void Add(const std::string& name, size_t place) {
    if (!name.empty()) places_.emplace(name, place);
  }
  std::optional<size_t> Find(absl::string_view name) const {
    const auto at = places_.find(std::string(name));
    if (at == places_.end()) return std::nullopt;
    return at->second;
  }
  void Remove(absl::string_view name) {
    const auto at = places_.find(std::string(name));
    if (at == places_.end()) return;
    removed_.push_back(at->second);
    places_.erase(at);
  }
  // Takes out of the list what was removed; the index is then that of another list.
  template <class T>
  void Compact(std::vector<T>& list) {
    if (removed_.empty()) return;
    std::sort(removed_.begin(), removed_.end());
    size_t kept = removed_[0];
    auto gone = removed_.begin();
    for (size_t i = kept; i < list.size(); ++i) {
      if (gone != removed_.end() && *gone == i) {
        ++gone;
      } else {
        list[kept++] = std::move(list[i]);
      }
    }
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(kept), list.end());
    Fill(list);
  }

 private:
  std::unordered_map<std::string, size_t> places_;
  std::vector<size_t> removed_;
};

// Finds the longest of many names that a text begins with. The names have to outlive it.
class PrefixIndex {
 public:
  // Of two things of one name the first counts.
  void Add(absl::string_view name, size_t place) {
    if (name.empty()) return;
    places_.emplace(name, place);
    if (name.size() >= lengths_.size()) lengths_.resize(name.size() + 1);
    lengths_[name.size()] = true;
  }
  // good(length): whether a name may end there. `length` is that of the name that was found.
  template <class Good>
  std::optional<size_t> Longest(absl::string_view text, size_t& length, const Good& good) const {
    if (lengths_.empty()) return std::nullopt;
    for (size_t n = std::min(text.size(), lengths_.size() - 1); n > 0; --n) {
      if (!lengths_[n] || !good(n)) continue;
      const auto at = places_.find(text.substr(0, n));
      if (at == places_.end()) continue;
      length = n;
      return at->second;
    }
    return std::nullopt;
  }

 private:
  struct Hash {
    size_t operator()(absl::string_view text) const {
      return std::hash<std::string_view>()(std::string_view(text.data(), text.size()));
    }
  };
  std::unordered_map<absl::string_view, size_t, Hash> places_;
  std::vector<bool> lengths_;  // of which there are names
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_AST_NAME_INDEX_H_
