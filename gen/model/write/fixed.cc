#include "gen/model/write/fixed.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gen/model/write/leaves.h"

namespace packsmith::model {
namespace {

struct Fixed {
  const Item* item;
  uint32_t bit;
};

// Those of `items`, through nested structures and groups.
void CollectFixed(const Model& model, const std::vector<Item>& items, uint32_t base,
                  std::vector<Fixed>& into) {
  for (const Item& item : items) {
    if (item.kind == Item::Kind::kGroup) {
      for (uint32_t i = 0; i < item.count; ++i) {
        CollectFixed(model, item.items, base + item.bit + i * item.width, into);
      }
    } else if (item.kind == Item::Kind::kReserved || item.forced) {
      into.push_back({&item, base + item.bit});
    } else if (item.type == FieldType::kStruct) {
      CollectFixed(model, model.containers[static_cast<size_t>(item.type_index)].items,
                   base + item.bit, into);
    }
  }
}

}  // namespace

void WriteFixed(const Model& model, Json& json, const Container& c) {
  std::vector<Fixed> fixed;
  CollectFixed(model, c.items, 0, fixed);
  std::stable_sort(fixed.begin(), fixed.end(),
                   [](const Fixed& a, const Fixed& b) { return a.bit < b.bit; });
  json.Key("forced");
  json.StartArray();
  for (const Fixed& f : fixed) {
    if (!f.item->forced) continue;
    json.StartObject();
    json.Member("name", f.item->name);
    json.Member("bit", f.bit);
    json.Member("width", f.item->width);
    json.Hex("value", *f.item->forced);
    WritePlaces(json, f.bit, f.item->width);
    json.EndObject();
  }
  json.EndArray();
  json.Key("reserved");
  json.StartArray();
  for (const Fixed& f : fixed) {
    if (f.item->forced) continue;
    json.StartObject();
    json.Member("name", f.item->name);
    json.Member("bit", f.bit);
    json.Member("width", f.item->width);
    json.Member("must", f.item->must_be_one ? 1 : 0);
    WritePlaces(json, f.bit, f.item->width);
    json.EndObject();
  }
  json.EndArray();
  const uint32_t words = (c.max_bytes + 3) / 4;
  std::vector<uint32_t> ones_mask(words), ones(words), zero_mask(words);
  for (const Fixed& f : fixed) {
    for (uint32_t i = 0; i < f.item->width; ++i) {
      const uint32_t word = (f.bit + i) / 32, bit = 1u << (f.bit + i) % 32;
      if (word >= words) continue;
      if (f.item->kind == Item::Kind::kReserved && !f.item->must_be_one) {
        zero_mask[word] |= bit;
        continue;
      }
      ones_mask[word] |= bit;
      if (f.item->must_be_one || (i < 64 && (*f.item->forced >> i & 1) != 0)) ones[word] |= bit;
    }
  }
  json.Key("forced_words");
  json.StartArray();
  for (uint32_t w = 0; w < words; ++w) {
    if (ones_mask[w] == 0) continue;
    json.StartObject();
    json.Member("word", w);
    json.Hex("mask", ones_mask[w]);
    json.Hex("value", ones[w]);
    json.EndObject();
  }
  json.EndArray();
  json.Key("zero_words");
  json.StartArray();
  for (uint32_t w = 0; w < words; ++w) {
    if (zero_mask[w] == 0) continue;
    json.StartObject();
    json.Member("word", w);
    json.Hex("mask", zero_mask[w]);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace packsmith::model
