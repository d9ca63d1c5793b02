#include "gen/model/write/leaves.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/facts.h"

namespace packsmith::model {
namespace {

// Groups of more leaves than this are loops in generated code; smaller ones are written out.
constexpr size_t kMostUnrolled = 16;

class LeafWriter {
 public:
  LeafWriter(const Model& model, Faces& faces, Json& json)
      : model_(model), faces_(faces), json_(json) {}

  void WriteUsual() {
    usual_ = true;
    WriteLeaf({}, {}, {}, Face::kCpp, 1, true);
    usual_ = false;
  }
  void WriteAll(const Container& c, Face face, uint32_t bits_that_exist, const char* leaves_key,
                const char* loops_key) {
    WriteAt(c, c.items, {}, face, bits_that_exist, 0, leaves_key, loops_key);
  }

 private:
  struct Frame {
    std::string path;   // prefix for members
    std::string name;   // the same in names of the XML
    std::string index;  // "[2]" of the unnamed groups around, which goes behind the member
    uint32_t bit = 0;
  };

  // Leaves that one item of `items` comes to when all is written out.
  size_t CountLeaves(const std::vector<Item>& items) const {
    size_t count = 0;
    for (const Item& item : items) {
      if (const Group* const group = item.group()) {
        count += group->tail ? 0 : group->count * CountLeaves(group->items);
      } else if (const Field* const field = item.field()) {
        count += field->type == FieldType::kStruct
                     ? CountLeaves(model_.containers[static_cast<size_t>(field->type_index)].items)
                     : 1;
      }
    }
    return count;
  }

  bool Unrolled(const Group& group, Face face) const {
    return Faces::ItemsIn(group, face) * CountLeaves(group.items) <= kMostUnrolled;
  }

  // Calls leaf(item, frame) and loop(group, frame) for what stands in `items`, nested structures
  // and small groups written out.
  template <class OnLeaf, class OnLoop>
  void Walk(const std::vector<Item>& items, const Frame& frame, Face face, const OnLeaf& on_leaf,
            const OnLoop& on_loop) {
    for (const Item& described : items) {
      const Item& item = faces_.SeenAs(described, face);
      if (const Field* const field = item.field()) {
        const Frame here{absl::StrCat(frame.path, NameIn(*field, face), frame.index),
                         absl::StrCat(frame.name, field->name, frame.index), "",
                         frame.bit + field->bit};
        if (field->type == FieldType::kStruct) {
          Frame inner = here;
          inner.path += ".";
          inner.name += ".";
          Walk(model_.containers[static_cast<size_t>(field->type_index)].items, inner, face,
               on_leaf, on_loop);
        } else {
          on_leaf(*field, here);
        }
      } else if (const Group* const group = item.group()) {
        if (!Unrolled(*group, face)) {
          on_loop(*group, frame);
          continue;
        }
        for (uint32_t i = 0; i < Faces::ItemsIn(*group, face); ++i) {
          // One item of a tail is no array.
          const std::string index =
              group->tail && group->in_c.count == 1 ? "" : absl::StrCat("[", i, "]");
          Walk(group->items, Enter(*group, frame, index, i, face), face, on_leaf, on_loop);
        }
      }
    }
  }

  static const std::string& NameIn(const Field& field, Face face) {
    return face == Face::kCpp ? field.spelled.cpp : field.spelled.c;
  }

  static Frame Enter(const Group& group, const Frame& frame, const std::string& index, uint32_t i,
                     Face face) {
    Frame inner = frame;
    inner.bit += group.bit + i * group.width;
    if (group.name.empty() || face == Face::kC) {
      inner.index += index;
    } else {
      inner.path = absl::StrCat(frame.path, group.spelled.cpp, frame.index, index, ".");
      inner.name = absl::StrCat(frame.name, group.name, frame.index, index, ".");
      inner.index.clear();
    }
    return inner;
  }

  // A member of a leaf that most leaves have alike: left out where it is what "usual_leaf" says.
  template <class T>
  void MemberIfUnusual(absl::string_view key, T value) {
    if (usual_ || value != T{}) json_.Member(key, value);
  }

  void WriteRange(absl::string_view key, const std::optional<int64_t>& integer,
                  const std::optional<double>& real) {
    if (integer) {
      json_.Member(key, absl::StrCat(*integer));
    } else if (real) {
      json_.Member(key, RealText(*real));
    } else if (usual_) {
      json_.Null(key);
    }
  }

  // How many bits an address has, whatever its field has.
  void WriteAddressBits(const Field& field) {
    const uint32_t bits =
        field.type == FieldType::kAddress ? model_.address_bits : kUsualAddressBits;
    if (usual_ || bits != kUsualAddressBits) json_.Member("address_bits", bits);
  }

  void WriteAvoided(const Field& field) {
    std::vector<uint64_t> avoided;
    // Names that a number borrows from an enumeration are for readers: its values are any.
    const bool borrowed = field.type != FieldType::kEnum && field.names.index >= 0;
    for (const Value& v : borrowed ? field.values : NamedValues(model_, field)) {
      if (v.avoid) avoided.push_back(v.value);
    }
    if (avoided.empty() && !usual_) return;
    json_.Key("avoid");
    json_.StartArray();
    for (const uint64_t value : avoided) json_.Uint64(value);
    json_.EndArray();
  }

  static absl::string_view AccessName(const Field& field) {
    constexpr absl::string_view kNames[] = {"none", "read", "write", "readwrite"};
    return field.points.empty() ? kNames[0] : kNames[static_cast<int>(field.points[0].access)];
  }

  void WriteLeaf(const Container& c, const Field& field, const Frame& at, Face face,
                 uint32_t bits_that_exist, bool in_loop) {
    if (face == Face::kCpp && (field.forced || &field == c.length_field)) return;
    if (at.bit >= bits_that_exist) return;
    const uint32_t width = std::min(field.width, bits_that_exist - at.bit);
    const Encoding& e = field.encoding;
    json_.StartObject();
    json_.Member("name", at.name);
    json_.Member("path", at.path);
    json_.Member("bit", at.bit);
    json_.Member("width", width);
    json_.Member("type", TypeName(field));
    json_.Member("value_type", faces_.TypeOf(field, face));
    MemberIfUnusual("frac", field.fraction_bits);
    MemberIfUnusual("shift", e.shift);
    MemberIfUnusual("minus", e.minus);
    MemberIfUnusual("log2", e.log2);
    MemberIfUnusual("groups", e.groups);
    MemberIfUnusual("align", e.align);
    WriteRange("min", field.min, field.min_real);
    WriteRange("max", field.max, field.max_real);
    MemberIfUnusual("nonzero", field.nonzero != NotZero::kMayBeZero);
    MemberIfUnusual("multiple", field.multiple);
    MemberIfUnusual("clamp", field.clamp);
    if (usual_ || !field.points.empty()) json_.Member("access", AccessName(field));
    WriteAddressBits(field);
    MemberIfUnusual("overlap", field.overlap);
    WriteAvoided(field);
    const bool beyond = !in_loop && at.bit + field.width > c.bytes * 8;
    MemberIfUnusual("present_bytes", beyond ? (at.bit + field.width + 31) / 32 * 4 : 0);
    if (in_loop) {
      WritePlaces(json_, 0, 0);
    } else {
      WritePlaces(json_, at.bit, width);
    }
    json_.EndObject();
  }

  void WriteAt(const Container& c, const std::vector<Item>& items, const Frame& frame, Face face,
               uint32_t bits_that_exist, int depth, const char* leaves_key, const char* loops_key) {
    std::vector<std::pair<const Field*, Frame>> leaves;
    std::vector<std::pair<const Group*, Frame>> loops;
    Walk(
        items, frame, face,
        [&](const Field& field, const Frame& at) { leaves.emplace_back(&field, at); },
        [&](const Group& group, const Frame& at) { loops.emplace_back(&group, at); });
    const auto by_bit = [](const auto& a, const auto& b) { return a.second.bit < b.second.bit; };
    std::stable_sort(leaves.begin(), leaves.end(), by_bit);
    json_.Key(leaves_key);
    json_.StartArray();
    for (const auto& [field, at] : leaves) {
      WriteLeaf(c, *field, at, face, bits_that_exist, depth > 0);
    }
    json_.EndArray();
    json_.Key(loops_key);
    json_.StartArray();
    for (const auto& [group, at] : loops) {
      if (at.bit + group->bit >= bits_that_exist) continue;
      const std::string index = absl::StrCat("i", depth);
      Frame inner = Enter(*group, at, absl::StrCat("[", index, "]"), 0, face);
      const uint32_t start = inner.bit;
      inner.bit = 0;
      json_.StartObject();
      json_.Member("index", index);
      // Of the last item a part may exist.
      const uint64_t left = uint64_t{bits_that_exist} - start + group->width - 1;
      json_.Member("count", static_cast<uint32_t>(std::min<uint64_t>(Faces::ItemsIn(*group, face),
                                                                     left / group->width)));
      json_.Member("bit", start);
      json_.Member("stride", group->width);
      WriteAt(c, group->items, inner, face, ~0u, depth + 1, "leaves", "loops");
      json_.EndObject();
    }
    json_.EndArray();
  }

  const Model& model_;
  Faces& faces_;
  Json& json_;
  bool usual_ = false;  // the leaf that is written is the usual one
};

}  // namespace

absl::string_view TypeName(const Field& field) {
  switch (field.type) {
    case FieldType::kInt:
      return "int";
    case FieldType::kBool:
      return "bool";
    case FieldType::kFloat:
      return "float";
    case FieldType::kHalf:
      return "half";
    case FieldType::kUfixed:
      return "ufixed";
    case FieldType::kSfixed:
      return "sfixed";
    case FieldType::kAddress:
      return "address";
    case FieldType::kOffset:
      return "offset";
    case FieldType::kEnum:
      return "enum";
    case FieldType::kUint:
    case FieldType::kStruct:
      break;
  }
  return "uint";
}

void WritePlaces(Json& json, uint32_t bit, uint32_t width) {
  json.Key("places");
  json.StartArray();
  for (uint32_t from = 0; from < width;) {
    const uint32_t lsb = (bit + from) % 32;
    const uint32_t n = std::min(32 - lsb, width - from);
    json.StartObject();
    json.Member("word", (bit + from) / 32);
    json.Member("lsb", lsb);
    json.Member("from", from);
    json.Member("width", n);
    json.EndObject();
    from += n;
  }
  json.EndArray();
}

void WriteUsualLeaf(const Model& model, Faces& faces, Json& json) {
  LeafWriter(model, faces, json).WriteUsual();
}

void WriteLeaves(const Model& model, Faces& faces, Json& json, const Container& c, Face face,
                 uint32_t bits_that_exist, const char* leaves_key, const char* loops_key) {
  LeafWriter(model, faces, json).WriteAll(c, face, bits_that_exist, leaves_key, loops_key);
}

}  // namespace packsmith::model
