#include "gen/model/syntax/item_list.h"

#include <algorithm>

namespace packsmith::model {
namespace {

bool RemoveFrom(std::vector<Item>& items, const std::string& name) {
  for (auto it = items.begin(); it != items.end(); ++it) {
    if (it->base().name == name) {
      items.erase(it);
      return true;
    }
    Group* const group = it->group();
    if (group != nullptr && RemoveFrom(group->items, name)) {
      if (group->items.empty()) items.erase(it);
      return true;
    }
  }
  return false;
}

// Calls call(name) for each named item inside a group.
template <class Call>
void ForEachInside(const Item& item, const Call& call) {
  const Group* const group = item.group();
  if (group == nullptr) return;
  for (const Item& inner : group->items) {
    if (const std::string& name = inner.base().name; !name.empty()) call(name);
    ForEachInside(inner, call);
  }
}

}  // namespace

template <class Change>
void ItemList::ForEachIndex(const Item& item, const Change& change) {
  const ItemBase& base = item.base();
  change(base.name.empty() ? unnamed_[{item.index(), base.bit}] : named_[base.name]);
  ForEachInside(item, [&](const std::string& name) { change(inside_[name]); });
}

void ItemList::Insert(const Place& place, Item&& item) {
  ForEachIndex(item, [&](Places& places) { places.insert(place); });
  open_.insert_or_assign(place, std::move(item));
}

void ItemList::Erase(const Place& place) {
  const auto at = open_.find(place);
  ForEachIndex(at->second, [&](Places& places) { places.erase(place); });
  open_.erase(at);
}

void ItemList::Open() {
  if (is_open_) return;
  is_open_ = true;
  uint32_t greatest = 0;
  for (Item& item : items_) {
    greatest = std::max(greatest, item.base().bit);
    Insert({greatest, next_++}, std::move(item));
  }
}

const Field* ItemList::FindField(const std::string& name) {
  if (!inherits_) return nullptr;
  Open();
  for (const Place& place : named_[name]) {
    if (const Field* const field = open_.at(place).field()) return field;
  }
  return nullptr;
}

const ItemList::Place* ItemList::FindOld(const Item& item) {
  const ItemBase& base = item.base();
  const Places& places = base.name.empty() ? unnamed_[{item.index(), base.bit}] : named_[base.name];
  for (const Place& place : places) {
    if (open_.at(place).index() == item.index()) return &place;
  }
  return nullptr;
}

void ItemList::Add(Item&& item) {
  if (!inherits_) {
    items_.push_back(std::move(item));
    return;
  }
  Open();
  if (const Place* const old = FindOld(item)) {
    const Place place = *old;
    const bool stays = open_.at(place).base().bit == item.base().bit;
    Erase(place);
    if (stays) {
      Insert(place, std::move(item));
      return;
    }
  }
  const uint32_t bit = item.base().bit;
  Insert({bit, next_++}, std::move(item));
}

bool ItemList::Remove(const std::string& name) {
  if (name.empty() || !inherits_) return false;
  Open();
  while (true) {
    const Places &named = named_[name], &inside = inside_[name];
    if (named.empty() && inside.empty()) return false;
    if (inside.empty() || (!named.empty() && *named.begin() < *inside.begin())) {
      Erase(*named.begin());
      return true;
    }
    const Place place = *inside.begin();
    std::vector<Item>& items = open_.at(place).group()->items;
    const bool removed = RemoveFrom(items, name);
    if (items.empty()) {
      Erase(place);
    } else if (!removed) {
      inside_[name].erase(place);
    }
    if (removed) return true;
  }
}

void ItemList::Finish() {
  if (!is_open_) return;
  items_.clear();
  for (auto& [place, item] : open_) items_.push_back(std::move(item));
}

}  // namespace packsmith::model
