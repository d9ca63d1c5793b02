#include "gen/model/write/fixed.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "gen/model/write/leaves.h"

namespace packsmith::model {
namespace {

struct Fixed {
  const ItemBase* item;
  std::optional<uint64_t> forced;  // of a field
  bool must_be_one = false;        // of a reserved run
  uint32_t bit;
};

// Those of `items`, through nested structures and groups.
void CollectFixed(const Model& model, const std::vector<Item>& items, uint32_t base,
                  std::vector<Fixed>& into) {
  for (const Item& item : items) {
    if (const Group* const group = item.group()) {
      for (uint32_t i = 0; i < group->count; ++i) {
        CollectFixed(model, group->items, base + group->bit + i * group->width, into);
      }
    } else if (const Reserved* const run = item.reserved()) {
      into.push_back({run, {}, run->must_be_one, base + run->bit});
    } else if (const Field& field = *item.field(); field.forced) {
      into.push_back({&field, field.forced, false, base + field.bit});
    } else if (field.type == FieldType::kStruct) {
      CollectFixed(model, model.containers[static_cast<size_t>(field.type_index)].items,
                   base + field.bit, into);
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
    if (!f.forced) continue;
    json.StartObject();
    json.Member("name", f.item->name);
    json.Member("bit", f.bit);
    json.Member("width", f.item->width);
    json.Hex("value", *f.forced);
    WritePlaces(json, f.bit, f.item->width);
    json.EndObject();
  }
  json.EndArray();
  json.Key("reserved");
  json.StartArray();
  for (const Fixed& f : fixed) {
    if (f.forced) continue;
    json.StartObject();
    json.Member("name", f.item->name);
    json.Member("bit", f.bit);
    json.Member("width", f.item->width);
    json.Member("must", f.must_be_one ? 1 : 0);
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
      if (!f.forced && !f.must_be_one) {
        zero_mask[word] |= bit;
        continue;
      }
      ones_mask[word] |= bit;
      if (f.must_be_one || (i < 64 && (*f.forced >> i & 1) != 0)) ones[word] |= bit;
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
