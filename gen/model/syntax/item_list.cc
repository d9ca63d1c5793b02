#include "gen/model/syntax/item_list.h"

#include <algorithm>

namespace packsmith::model {
namespace {

bool RemoveFrom(std::vector<Item>& items, const std::string& name) {
  for (auto it = items.begin(); it != items.end(); ++it) {
    if (it->name == name) {
      items.erase(it);
      return true;
    }
    if (it->kind == Item::Kind::kGroup && RemoveFrom(it->items, name)) {
      if (it->items.empty()) items.erase(it);
      return true;
    }
  }
  return false;
}

template <class Call>
void ForEachInside(const std::vector<Item>& items, const Call& call) {
  for (const Item& item : items) {
    if (!item.name.empty()) call(item);
    ForEachInside(item.items, call);
  }
}

}  // namespace

template <class Change>
void ItemList::ForEachIndex(const Item& item, const Change& change) {
  change(item.name.empty() ? unnamed_[{item.kind, item.bit}] : named_[item.name]);
  ForEachInside(item.items, [&](const Item& inner) { change(inside_[inner.name]); });
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
    greatest = std::max(greatest, item.bit);
    Insert({greatest, next_++}, std::move(item));
  }
}

const Item* ItemList::FindField(const std::string& name) {
  if (!inherits_) return nullptr;
  Open();
  for (const Place& place : named_[name]) {
    const Item& item = open_.at(place);
    if (item.kind == Item::Kind::kField) return &item;
  }
  return nullptr;
}

const ItemList::Place* ItemList::FindOld(const Item& item) {
  const Places& places = item.name.empty() ? unnamed_[{item.kind, item.bit}] : named_[item.name];
  for (const Place& place : places) {
    if (open_.at(place).kind == item.kind) return &place;
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
    const bool stays = open_.at(place).bit == item.bit;
    Erase(place);
    if (stays) {
      Insert(place, std::move(item));
      return;
    }
  }
  const uint32_t bit = item.bit;
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
    std::vector<Item>& items = open_.at(place).items;
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
