// The items of a container while it is parsed. In one that inherits, items are replaced, moved and
// taken out by name; each takes as long as looking a name up, however many there are.
#ifndef PACKSMITH_GEN_MODEL_SYNTAX_ITEM_LIST_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_ITEM_LIST_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gen/model/ast/model.h"

namespace packsmith::model {

class ItemList {
 public:
  // Changes `items` when it is finished, and until then only where nothing is inherited.
  ItemList(std::vector<Item>& items, bool inherits) : items_(items), inherits_(inherits) {}

  // The first inherited field of that name, nullptr if there is none. Good until the next change.
  const Field* FindField(const std::string& name);
  // In what inherits, an item of the same name (an item without one: at the same place) replaces
  // the old one. Items are in the order of their bits; what stays at its bit stays in its place.
  void Add(Item&& item);
  // Removes the first item of that name, which may be inside a group, and a group that it leaves
  // empty. False if there is none.
  bool Remove(const std::string& name);
  void Finish();

 private:
  // Where an item is in the list: after those whose first number is less. The number is a bit; of
  // what was inherited, the greatest of its own and those before it.
  using Place = std::pair<uint32_t, uint64_t>;
  using Places = std::set<Place>;

  void Open();
  // Calls change(places) for each index that has the item.
  template <class Change>
  void ForEachIndex(const Item& item, const Change& change);
  void Insert(const Place& place, Item&& item);
  void Erase(const Place& place);
  // The place of what Add replaces; nullptr if it replaces nothing.
  const Place* FindOld(const Item& item);

  std::vector<Item>& items_;
  const bool inherits_;
  bool is_open_ = false;
  uint64_t next_ = 0;
  std::map<Place, Item> open_;
  std::unordered_map<std::string, Places> named_;   // items of that name
  std::unordered_map<std::string, Places> inside_;  // groups that hold, or held, one of that name
  std::map<std::pair<size_t, uint32_t>, Places> unnamed_;  // by Item::index() and their bits
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_ITEM_LIST_H_
