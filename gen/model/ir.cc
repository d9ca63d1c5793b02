#include "gen/model/ir.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "gen/model/names.h"

namespace packsmith::model {
namespace {

// Without blanks: they would be a third of the ten megabytes of a large generation.
using Json = rapidjson::Writer<rapidjson::StringBuffer>;

// Groups of more leaves than this are loops in generated code; smaller ones are written out.
constexpr size_t kMostUnrolled = 16;

uint64_t Ones(uint32_t width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

enum class Face { kCpp, kC };

class Writer {
 public:
  Writer(const Model& model, const Sources& sources)
      : model_(model), sources_(sources), json_(buffer_) {}

  std::string Run() {
    json_.StartObject();
    Member("ir", 2);
    Member("family", model_.family);
    Member("generation", model_.generation);
    Member("version_x10", model_.version_x10);
    Member("title", model_.title);
    Member("namespace", model_.cpp_namespace);
    Member("c_prefix", model_.c_prefix);
    Member("unit", model_.byte_unit ? "byte" : "dword");
    Member("digest", model_.digest);
    Strings("inputs", model_.inputs);
    Member("doc", model_.doc);
    Member("source", model_.source);
    Array("engines", model_.engines, [this](const Engine& e) {
      Member("name", e.name);
      Strings("aliases", absl::StrSplit(e.aliases, ' ', absl::SkipEmpty()));
      Member("doc", e.doc);
    });
    Array("spaces", model_.spaces, [this](const Space& s) {
      Member("name", s.name);
      Member("number", s.number);
    });
    Array("bases", model_.bases, [this](const Base& b) {
      Member("name", b.name);
      Member("doc", b.doc);
    });
    Array("streams", model_.streams, [this](const Stream& s) {
      Member("name", s.name);
      Strings("engines", EngineNames(s.engines));
      Member("align", s.align);
      Member("doc", s.doc);
    });
    Key("usual_leaf");
    usual_ = true;
    WriteLeaf({}, {}, {}, Face::kCpp, 1, true);
    usual_ = false;
    WriteEnums("enums", false);
    WriteEnums("codes", true);
    Key("containers");
    json_.StartArray();
    for (const int i : model_.nesting_order) {
      json_.StartObject();
      WriteContainer(model_.containers[static_cast<size_t>(i)]);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
    buffer_.Put('\n');
    return std::string(buffer_.GetString(), buffer_.GetSize());
  }

 private:
  // --- JSON ---

  void Key(absl::string_view key) {
    json_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  }
  void Text(absl::string_view text) {
    json_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void Member(absl::string_view key, absl::string_view value) {
    Key(key);
    Text(value);
  }
  void Member(absl::string_view key, const char* value) { Member(key, absl::string_view(value)); }
  void Member(absl::string_view key, const std::string& value) {
    Member(key, absl::string_view(value));
  }
  template <class T>
  requires std::is_integral_v<T>
  void Member(absl::string_view key, T value) {
    Key(key);
    if constexpr (std::is_same_v<T, bool>) {
      json_.Bool(value);
    } else if constexpr (std::is_signed_v<T>) {
      json_.Int64(value);
    } else {
      json_.Uint64(value);
    }
  }
  // A member of a leaf that most leaves have alike: left out where it is what "usual_leaf" says.
  template <class T>
  void Unusual(absl::string_view key, T value) {
    if (usual_ || value != T{}) Member(key, value);
  }
  void Null(absl::string_view key) {
    Key(key);
    json_.Null();
  }
  void MemberOrNull(absl::string_view key, absl::string_view value) {
    Key(key);
    if (value.empty()) {
      json_.Null();
    } else {
      Text(value);
    }
  }
  void Hex(absl::string_view key, uint64_t value) { Member(key, absl::StrFormat("0x%x", value)); }
  void Strings(absl::string_view key, const std::vector<std::string>& all) {
    Key(key);
    json_.StartArray();
    for (const std::string& one : all) Text(one);
    json_.EndArray();
  }
  template <class T, class Write>
  void Array(absl::string_view key, const std::vector<T>& all, const Write& write) {
    Key(key);
    json_.StartArray();
    for (const T& one : all) {
      json_.StartObject();
      write(one);
      json_.EndObject();
    }
    json_.EndArray();
  }

  std::vector<std::string> EngineNames(uint64_t mask) const {
    std::vector<std::string> names;
    if (mask == ~uint64_t{0}) return names;
    for (size_t i = 0; i < model_.engines.size() && i < 64; ++i) {
      if (mask >> i & 1) names.push_back(model_.engines[i].name);
    }
    return names;
  }

  // --- Enumerations ---

  // only_names: those that are no member's type, but what the values of some members are called.
  void WriteEnums(absl::string_view key, bool only_names) {
    Key(key);
    json_.StartArray();
    for (const Enum& e : model_.enums) {
      if (e.only_names() != only_names) continue;
      json_.StartObject();
      WriteEnum(e);
      json_.EndObject();
    }
    json_.EndArray();
  }
  void WriteEnum(const Enum& e) {
    Member("name", e.name);
    Member("doc", e.doc);
    Member("source", e.source);
    Member("cpp", CppName(e.name));
    Member("c", c_names_.EnumType(e.name));
    Array("values", e.values, [&](const Value& v) {
      Member("name", v.name);
      Member("value", v.value);
      Member("cpp", CppName(v.name));
      Member("c", c_names_.Enumerator(e.name, e.prefix, v.name));
      Member("doc", v.doc);
      Member("avoid", v.avoid);
    });
  }

  // --- Types of members ---

  static bool Wide(const Item& item) {
    const Encoding& e = item.encoding;
    if (item.width + e.shift > 32) return true;
    if (e.log2) return item.width > 5;
    if (e.groups != 0) return (Ones(item.width) + 1) * e.groups > 0xffffffffu;
    return (Ones(item.width) << e.shift) + e.minus > 0xffffffffu;
  }

  std::string CppType(const Item& item) const {
    switch (item.type) {
      case FieldType::kBool:
        return "bool";
      case FieldType::kInt:
        return item.width > 32 ? "int64_t" : "int32_t";
      case FieldType::kFloat:
      case FieldType::kHalf:
        return "float";
      case FieldType::kUfixed:
      case FieldType::kSfixed:
        return item.width > 24 ? "double" : "float";
      case FieldType::kAddress:
        return "address";
      case FieldType::kEnum:
        return CppName(model_.enums[static_cast<size_t>(item.type_index)].name);
      case FieldType::kStruct:
        return model_.containers[static_cast<size_t>(item.type_index)].cpp;
      case FieldType::kUint:
      case FieldType::kOffset:
        break;
    }
    return Wide(item) ? "uint64_t" : "uint32_t";
  }

  std::string CTypeOf(const Item& item) const {
    switch (item.type) {
      case FieldType::kBool:
        return "bool";
      case FieldType::kInt:
        return item.width > 33 ? "int64_t" : "int32_t";
      case FieldType::kFloat:
      case FieldType::kHalf:
      case FieldType::kUfixed:
      case FieldType::kSfixed:
        return "float";
      case FieldType::kAddress:
        return "__gen_address_type";
      case FieldType::kOffset:
        return "uint64_t";
      case FieldType::kEnum:
        return absl::StrCat(
            "enum ", c_names_.EnumType(model_.enums[static_cast<size_t>(item.type_index)].name));
      case FieldType::kStruct:
        return absl::StrCat("struct ", model_.containers[static_cast<size_t>(item.type_index)].c);
      case FieldType::kUint:
        break;
    }
    // The interface that C drivers know widens a member where its last bit lies more than 32 bits
    // behind its first.
    return item.width > 33 || (item.width <= 33 && Wide(item) && model_.byte_unit) ? "uint64_t"
                                                                                   : "uint32_t";
  }

  static std::string Real(double value) {
    // The shortest text that reads back as the same number.
    for (int precision = 1; precision < 18; ++precision) {
      char text[40];
      std::snprintf(text, sizeof(text), "%.*g", precision, value);
      if (std::atof(text) == value) {
        return absl::string_view(text).find_first_of(".e") == absl::string_view::npos
                   ? absl::StrCat(text, ".0")
                   : text;
      }
    }
    return absl::StrFormat("%.17g", value);
  }

  // What raw zero decodes to, unless the XML says otherwise.
  static uint64_t Default(const Item& item) {
    if (item.default_value) return *item.default_value;
    if (item.encoding.log2) return 1;
    if (item.encoding.groups != 0) return (Ones(item.width) + 1) * item.encoding.groups;
    return item.encoding.minus;
  }

  std::string CppDefault(const Item& item) const {
    switch (item.type) {
      case FieldType::kBool:
        return Default(item) != 0 ? "true" : "false";
      case FieldType::kFloat:
      case FieldType::kHalf:
        return absl::StrCat(Real(item.default_real.value_or(0)), "f");
      case FieldType::kUfixed:
      case FieldType::kSfixed:
        return absl::StrCat(Real(item.default_real.value_or(0)), item.width > 24 ? "" : "f");
      case FieldType::kStruct:
        return "{}";
      case FieldType::kEnum: {
        const Enum& e = model_.enums[static_cast<size_t>(item.type_index)];
        for (const Value& v : e.values) {
          if (v.value == Default(item)) return absl::StrCat(CppName(e.name), "::", CppName(v.name));
        }
        return absl::StrCat("static_cast<", CppName(e.name), ">(", Default(item), ")");
      }
      case FieldType::kInt:
        return absl::StrCat(static_cast<int64_t>(Default(item)));
      default:
        return absl::StrCat(Default(item));
    }
  }

  // Text of the initialiser in <T>_header, empty if the field has no default.
  std::string CDefault(const Container& c, const Item& item) const {
    if (item.c_no_default) return "";
    if (item.forced) return absl::StrCat(*item.forced);
    if (item.default_real) return Real(*item.default_real);
    if (item.default_value) {
      return item.type == FieldType::kInt ? absl::StrCat(static_cast<int64_t>(*item.default_value))
                                          : absl::StrCat(*item.default_value);
    }
    if (&item == c.length_field && !c.variable) {
      const uint32_t length = c.c_dwords.value_or(c.bytes / (c.byte_unit ? 1 : 4));
      return absl::StrCat(length - c.length_bias);
    }
    const Encoding& e = item.encoding;
    if (e.log2 || e.groups != 0 || e.minus != 0) return absl::StrCat(Default(item));
    return "";
  }

  // --- What C knows as something else ---

  // An item as C has it. Valid as long as the writer.
  const Item& Seen(const Item& item, Face face) {
    if (face == Face::kCpp || !(item.c_whole || item.c_uint)) return item;
    const auto [it, is_new] = as_c_.try_emplace(&item);
    Item& seen = it->second;
    if (!is_new) return seen;
    if (item.c_whole) {
      seen = item.items[0];
      seen.bit = item.bit;
      seen.width = item.width * (item.tail ? item.c_count : item.count);
    } else {
      seen = item;
      seen.type = FieldType::kUint;
      seen.encoding.shift = 0;
    }
    return seen;
  }

  // --- Members ---

  void Dims(const std::vector<uint32_t>& dims) {
    Key("dims");
    json_.StartArray();
    for (const uint32_t d : dims) json_.Uint(d);
    json_.EndArray();
  }

  void Members(const Container& c, const std::vector<Item>& items, std::vector<uint32_t> dims,
               Face face) {
    for (const Item& described : items) {
      const Item& item = Seen(described, face);
      switch (item.kind) {
        case Item::Kind::kReserved:
          break;
        case Item::Kind::kField:
          WriteMember(c, item, dims, face);
          break;
        case Item::Kind::kGroup: {
          if (item.tail && (face == Face::kCpp || item.c_count == 0)) break;
          std::vector<uint32_t> inner = dims;
          // One item of a tail is no array.
          if (!item.tail || item.c_count > 1)
            inner.push_back(item.tail ? item.c_count : item.count);
          if (item.name.empty() || face == Face::kC) {
            Members(c, item.items, inner, face);
            break;
          }
          json_.StartObject();
          Member("name", item.name);
          Member("doc", item.doc);
          Member("id", item.cpp);
          // The type is declared in place; its name must differ from the member's.
          Member("type", absl::StrCat(item.cpp, "_item"));
          Dims(inner);
          Null("default");
          Key("members");
          json_.StartArray();
          Members(c, item.items, {}, face);
          json_.EndArray();
          json_.EndObject();
          break;
        }
      }
    }
  }

  void WriteMember(const Container& c, const Item& item, const std::vector<uint32_t>& dims,
                   Face face) {
    if (face == Face::kCpp && (item.forced || &item == c.length_field)) return;
    json_.StartObject();
    Member("name", item.name);
    Member("doc", item.doc);
    Member("unit", item.unit);
    Member("id", face == Face::kCpp ? item.cpp : item.c);
    Member("type", face == Face::kCpp ? CppType(item) : CTypeOf(item));
    Dims(dims);
    if (face == Face::kCpp) {
      Member("default", CppDefault(item));
    } else {
      MemberOrNull("default", dims.empty() ? CDefault(c, item) : "");
    }
    json_.EndObject();
  }

  // --- Leaves ---

  struct Frame {
    std::string path;   // prefix for members
    std::string name;   // the same in names of the XML
    std::string index;  // "[2]" of the unnamed groups around, which goes behind the member
    uint32_t bit = 0;
  };

  // How many items of a group are members: of a tail, those that C's users know as such.
  static uint32_t ItemsIn(const Item& group, Face face) {
    if (!group.tail) return group.count;
    return face == Face::kC ? group.c_count : 0;
  }

  // Leaves that one item of `items` comes to when all is written out.
  size_t CountLeaves(const std::vector<Item>& items) const {
    size_t count = 0;
    for (const Item& item : items) {
      if (item.kind == Item::Kind::kGroup) {
        count += item.tail ? 0 : item.count * CountLeaves(item.items);
      } else if (item.kind == Item::Kind::kField) {
        count += item.type == FieldType::kStruct
                     ? CountLeaves(model_.containers[static_cast<size_t>(item.type_index)].items)
                     : 1;
      }
    }
    return count;
  }

  bool Unrolled(const Item& group, Face face) const {
    return ItemsIn(group, face) * CountLeaves(group.items) <= kMostUnrolled;
  }

  // Calls leaf(item, frame) and loop(group, frame) for what stands in `items`, nested structures
  // and small groups written out.
  template <class OnLeaf, class OnLoop>
  void Walk(const std::vector<Item>& items, const Frame& frame, Face face, const OnLeaf& on_leaf,
            const OnLoop& on_loop) {
    for (const Item& described : items) {
      const Item& item = Seen(described, face);
      switch (item.kind) {
        case Item::Kind::kReserved:
          break;
        case Item::Kind::kField: {
          const Frame here{
              absl::StrCat(frame.path, face == Face::kCpp ? item.cpp : item.c, frame.index),
              absl::StrCat(frame.name, item.name, frame.index), "", frame.bit + item.bit};
          if (item.type == FieldType::kStruct) {
            Frame inner = here;
            inner.path += ".";
            inner.name += ".";
            Walk(model_.containers[static_cast<size_t>(item.type_index)].items, inner, face,
                 on_leaf, on_loop);
          } else {
            on_leaf(item, here);
          }
          break;
        }
        case Item::Kind::kGroup:
          if (!Unrolled(item, face)) {
            on_loop(item, frame);
            break;
          }
          for (uint32_t i = 0; i < ItemsIn(item, face); ++i) {
            // One item of a tail is no array.
            const std::string index =
                item.tail && item.c_count == 1 ? "" : absl::StrCat("[", i, "]");
            Walk(item.items, Enter(item, frame, index, i, face), face, on_leaf, on_loop);
          }
          break;
      }
    }
  }

  static Frame Enter(const Item& group, const Frame& frame, const std::string& index, uint32_t i,
                     Face face) {
    Frame inner = frame;
    inner.bit += group.bit + i * group.width;
    if (group.name.empty() || face == Face::kC) {
      inner.index += index;
    } else {
      inner.path = absl::StrCat(frame.path, group.cpp, frame.index, index, ".");
      inner.name = absl::StrCat(frame.name, group.name, frame.index, index, ".");
      inner.index.clear();
    }
    return inner;
  }

  void Places(uint32_t bit, uint32_t width) {
    Key("places");
    json_.StartArray();
    for (uint32_t from = 0; from < width;) {
      const uint32_t lsb = (bit + from) % 32;
      const uint32_t n = std::min(32 - lsb, width - from);
      json_.StartObject();
      Member("word", (bit + from) / 32);
      Member("lsb", lsb);
      Member("from", from);
      Member("width", n);
      json_.EndObject();
      from += n;
    }
    json_.EndArray();
  }

  static absl::string_view TypeName(const Item& item) {
    switch (item.type) {
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

  static absl::string_view AccessName(const Item& item) {
    constexpr absl::string_view kNames[] = {"none", "read", "write", "readwrite"};
    return item.points.empty() ? kNames[0] : kNames[static_cast<int>(item.points[0].access)];
  }

  void WriteAvoided(const Item& item) {
    std::vector<uint64_t> avoided;
    for (const Value& v : NamedValues(item)) {
      if (v.avoid) avoided.push_back(v.value);
    }
    if (avoided.empty() && !usual_) return;
    Key("avoid");
    json_.StartArray();
    for (const uint64_t value : avoided) json_.Uint64(value);
    json_.EndArray();
  }

  void WriteLeaf(const Container& c, const Item& item, const Frame& at, Face face,
                 uint32_t bits_that_exist, bool in_loop) {
    if (face == Face::kCpp && (item.forced || &item == c.length_field)) return;
    if (at.bit >= bits_that_exist) return;
    const uint32_t width = std::min(item.width, bits_that_exist - at.bit);
    const Encoding& e = item.encoding;
    json_.StartObject();
    Member("name", at.name);
    Member("path", at.path);
    Member("bit", at.bit);
    Member("width", width);
    Member("type", TypeName(item));
    Member("value_type", face == Face::kCpp ? CppType(item) : CTypeOf(item));
    Unusual("frac", item.fraction_bits);
    Unusual("shift", e.shift);
    Unusual("minus", e.minus);
    Unusual("log2", e.log2);
    Unusual("groups", e.groups);
    Unusual("align", e.align);
    Range("min", item.min, item.min_real);
    Range("max", item.max, item.max_real);
    Unusual("nonzero", item.nonzero != NotZero::kMayBeZero);
    Unusual("multiple", item.multiple);
    Unusual("clamp", item.clamp);
    if (usual_ || !item.points.empty()) Member("access", AccessName(item));
    Unusual("overlap", item.overlap);
    WriteAvoided(item);
    const bool beyond = !in_loop && at.bit + item.width > c.bytes * 8;
    Unusual("present_bytes", beyond ? (at.bit + item.width + 31) / 32 * 4 : 0);
    if (in_loop) {
      Places(0, 0);
    } else {
      Places(at.bit, width);
    }
    json_.EndObject();
  }

  const std::vector<Value>& NamedValues(const Item& item) const {
    return item.type == FieldType::kEnum && item.type_index >= 0
               ? model_.enums[static_cast<size_t>(item.type_index)].values
               : item.values;
  }

  void Range(absl::string_view key, const std::optional<int64_t>& integer,
             const std::optional<double>& real) {
    if (integer) {
      Member(key, absl::StrCat(*integer));
    } else if (real) {
      Member(key, Real(*real));
    } else if (usual_) {
      Null(key);
    }
  }

  void LeavesAndLoops(const Container& c, const std::vector<Item>& items, const Frame& frame,
                      Face face, uint32_t bits_that_exist, int depth, const char* leaves_key,
                      const char* loops_key) {
    std::vector<std::pair<const Item*, Frame>> leaves, loops;
    Walk(
        items, frame, face,
        [&](const Item& item, const Frame& at) { leaves.emplace_back(&item, at); },
        [&](const Item& group, const Frame& at) { loops.emplace_back(&group, at); });
    const auto by_bit = [](const auto& a, const auto& b) { return a.second.bit < b.second.bit; };
    std::stable_sort(leaves.begin(), leaves.end(), by_bit);
    Key(leaves_key);
    json_.StartArray();
    for (const auto& [item, at] : leaves) {
      WriteLeaf(c, *item, at, face, bits_that_exist, depth > 0);
    }
    json_.EndArray();
    Key(loops_key);
    json_.StartArray();
    for (const auto& [group, at] : loops) {
      if (at.bit + group->bit >= bits_that_exist) continue;
      const std::string index = absl::StrCat("i", depth);
      Frame inner = Enter(*group, at, absl::StrCat("[", index, "]"), 0, face);
      const uint32_t start = inner.bit;
      inner.bit = 0;
      json_.StartObject();
      Member("index", index);
      // Of the last item a part may exist.
      const uint64_t left = uint64_t{bits_that_exist} - start + group->width - 1;
      Member("count",
             static_cast<uint32_t>(std::min<uint64_t>(ItemsIn(*group, face), left / group->width)));
      Member("bit", start);
      Member("stride", group->width);
      LeavesAndLoops(c, group->items, inner, face, ~0u, depth + 1, "leaves", "loops");
      json_.EndObject();
    }
    json_.EndArray();
  }

  // --- Forced and reserved bits ---

  struct Fixed {
    const Item* item;
    uint32_t bit;
  };

  // Those of `items`, through nested structures and groups.
  void CollectFixed(const std::vector<Item>& items, uint32_t base, std::vector<Fixed>& into) const {
    for (const Item& item : items) {
      if (item.kind == Item::Kind::kGroup) {
        for (uint32_t i = 0; i < item.count; ++i) {
          CollectFixed(item.items, base + item.bit + i * item.width, into);
        }
      } else if (item.kind == Item::Kind::kReserved || item.forced) {
        into.push_back({&item, base + item.bit});
      } else if (item.type == FieldType::kStruct) {
        CollectFixed(model_.containers[static_cast<size_t>(item.type_index)].items, base + item.bit,
                     into);
      }
    }
  }

  void WriteFixed(const Container& c) {
    std::vector<Fixed> fixed;
    CollectFixed(c.items, 0, fixed);
    std::stable_sort(fixed.begin(), fixed.end(),
                     [](const Fixed& a, const Fixed& b) { return a.bit < b.bit; });
    Key("forced");
    json_.StartArray();
    for (const Fixed& f : fixed) {
      if (!f.item->forced) continue;
      json_.StartObject();
      Member("name", f.item->name);
      Member("bit", f.bit);
      Member("width", f.item->width);
      Hex("value", *f.item->forced);
      Places(f.bit, f.item->width);
      json_.EndObject();
    }
    json_.EndArray();
    Key("reserved");
    json_.StartArray();
    for (const Fixed& f : fixed) {
      if (f.item->forced) continue;
      json_.StartObject();
      Member("name", f.item->name);
      Member("bit", f.bit);
      Member("width", f.item->width);
      Member("must", f.item->must_be_one ? 1 : 0);
      Places(f.bit, f.item->width);
      json_.EndObject();
    }
    json_.EndArray();
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
    Key("forced_words");
    json_.StartArray();
    for (uint32_t w = 0; w < words; ++w) {
      if (ones_mask[w] == 0) continue;
      json_.StartObject();
      Member("word", w);
      Hex("mask", ones_mask[w]);
      Hex("value", ones[w]);
      json_.EndObject();
    }
    json_.EndArray();
    Key("zero_words");
    json_.StartArray();
    for (uint32_t w = 0; w < words; ++w) {
      if (zero_mask[w] == 0) continue;
      json_.StartObject();
      Member("word", w);
      Hex("mask", zero_mask[w]);
      json_.EndObject();
    }
    json_.EndArray();
  }

  // --- Containers ---

  void WriteCondition(absl::string_view key, const Condition& condition, Face face) {
    Key(key);
    if (condition.empty()) {
      json_.Null();
      return;
    }
    json_.StartArray();
    for (const std::vector<Term>& clause : condition) {
      json_.StartArray();
      for (const Term& term : clause) {
        json_.StartObject();
        Member("path", face == Face::kCpp ? term.ref.field->cpp : term.ref.field->c);
        Member("op", term.negated ? "ne" : "eq");
        Member("value", term.value);
        Member("type", TypeName(*term.ref.field));
        json_.EndObject();
      }
      json_.EndArray();
    }
    json_.EndArray();
  }

  void Positions(const Container& c, const std::vector<Item>& items, uint32_t base,
                 std::set<std::string>& seen) {
    for (const Item& described : items) {
      const Item& item = Seen(described, Face::kC);
      if (item.kind == Item::Kind::kGroup) {
        Positions(c, item.items, base + item.bit, seen);
      } else if (item.kind == Item::Kind::kField) {
        const std::string name = absl::StrCat(c.c, "_", item.c);
        if (!seen.insert(name).second) continue;
        json_.StartObject();
        Member("name", item.name);
        Member("c", name);
        Member("start", base + item.bit);
        Member("bits", item.c_bits == 0 ? item.width : item.c_bits);
        json_.EndObject();
      }
    }
  }

  // Values of an int are kept in two's complement, and may be negative.
  void ConstantValue(const Item& item, const Value& v) {
    if (item.type == FieldType::kInt) {
      Member("value", static_cast<int64_t>(v.value));
    } else {
      Member("value", v.value);
    }
  }

  void Constants(const std::vector<Item>& items, std::set<std::string>& seen) {
    for (const Item& item : items) {
      if (item.kind == Item::Kind::kGroup) Constants(item.items, seen);
      for (const Value& v : item.values) {
        const std::string name = CppConstant(item.alias.empty() ? item.name : item.alias, v.name);
        if (!seen.insert(name).second) continue;
        json_.StartObject();
        Member("cpp", name);
        Member("type", CppType(item));
        ConstantValue(item, v);
        Member("doc", v.doc);
        json_.EndObject();
      }
    }
  }

  void CValues(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (item.kind == Item::Kind::kGroup) CValues(item.items);
      for (const Value& v : item.values) {
        const std::string name = c_names_.FieldValue(item.prefix, v.name);
        if (!c_values_.insert(name).second) continue;
        json_.StartObject();
        Member("c", name);
        ConstantValue(item, v);
        json_.EndObject();
      }
    }
  }

  // Up to where C packs members. What lies beyond <T>_length, of a longer variant or of a tail that
  // users of genxml know as members, is packed as far as the length field counts it.
  static uint32_t BitsInC(const Container& c) {
    uint32_t bits = std::max(c.byte_unit || c.variable ? c.max_bytes * 8 : c.bytes * 8,
                             c.c_dwords.value_or(0) * 32);
    if (c.length_field == nullptr || c.byte_unit) return bits;
    bits = std::max(bits, c.max_bytes * 8);
    if (c.tail != nullptr) bits = std::max(bits, c.tail->bit + c.tail->c_count * c.tail->width);
    return bits;
  }

  void WriteContainer(const Container& c) {
    constexpr const char* kKinds[] = {"packet", "struct", "register"};
    const LineColumn at = sources_.file(c.where.file).Find(c.where.offset);
    Member("kind", kKinds[static_cast<int>(c.kind)]);
    Member("name", c.name);
    Strings("aliases", c.aliases);
    Member("doc", c.doc);
    Member("source", c.source);
    Member("file", sources_.file(c.where.file).path());
    Member("line", at.line);
    Member("cpp", c.cpp);
    Member("c", c.c);
    Member("unit", c.byte_unit ? "byte" : "dword");
    Member("bytes", c.bytes);
    Member("max_bytes", c.max_bytes);
    Member("words", (c.max_bytes + 3) / 4);
    if (c.c_dwords) {
      Member("c_length", *c.c_dwords);
    } else if (c.variable || c.byte_unit) {
      Null("c_length");
    } else {
      Member("c_length", c.bytes / 4);
    }
    if (c.length_field != nullptr) {
      Member("length_bias", c.length_bias);
      Key("length");
      json_.StartObject();
      Member("name", c.length_field->name);
      Member("bit", c.length_field->bit);
      Member("width", c.length_field->width);
      Member("bias", c.length_bias);
      Member("unit_bytes", c.byte_unit ? 1 : 4);
      Member("c", c.length_field->c);
      json_.EndObject();
    } else {
      if (c.kind == ContainerKind::kPacket && c.length_bias != 0) {
        Member("length_bias", c.length_bias);
      } else {
        Null("length_bias");
      }
      Null("length");
    }
    Strings("engines",
            c.kind == ContainerKind::kPacket ? EngineNames(c.engines) : std::vector<std::string>());
    Member("stream",
           c.stream < 0 ? std::string() : model_.streams[static_cast<size_t>(c.stream)].name);
    constexpr const char* kRoles[] = {"other", "draw", "dispatch"};
    Member("role", kRoles[static_cast<int>(c.role)]);
    if (c.kind == ContainerKind::kRegister) {
      Member("register_offset", c.register_offset);
      Member("c_offset", c.c_offset.value_or(c.register_offset));
    } else {
      Null("register_offset");
      Null("c_offset");
    }
    Key("identify");
    if (c.identify_mask == 0) {
      json_.Null();
    } else {
      json_.StartObject();
      Hex("mask", c.identify_mask);
      Hex("value", c.identify_value);
      Member("bytes", c.identify_bytes);
      json_.EndObject();
    }
    WriteBody(c);
    Key("c_values");
    json_.StartArray();
    CValues(c.items);
    json_.EndArray();
    Key("c_members");
    json_.StartArray();
    Members(c, c.items, {}, Face::kC);
    json_.EndArray();
    LeavesAndLoops(c, c.items, {}, Face::kC, BitsInC(c), 0, "c_leaves", "c_loops");
    std::set<std::string> seen;
    Key("positions");
    json_.StartArray();
    Positions(c, c.items, 0, seen);
    json_.EndArray();
    Array("variants", c.variants, [this](const Variant& v) {
      Member("bytes", v.bytes);
      WriteCondition("when", v.condition, Face::kCpp);
    });
    Array("parts", c.parts, [this](const Part& p) {
      const Container& nested = model_.containers[static_cast<size_t>(p.struct_index)];
      Member("name", p.name);
      Member("id", p.cpp);
      Member("struct", nested.cpp);
      Member("bytes", nested.bytes);
      WriteCondition("when", p.condition, Face::kCpp);
      const Expression& repeat = p.repeat_expression;
      if (repeat.kind == Expression::Kind::kNone) {
        Null("repeat");
        return;
      }
      Key("repeat");
      json_.StartObject();
      MemberOrNull("path", repeat.kind == Expression::Kind::kField ? repeat.ref.field->cpp : "");
      if (repeat.power) Member("power", true);
      Member("multiply", repeat.multiply);
      Member("add", repeat.add);
      json_.EndObject();
    });
    Key("pad");
    if (c.pad.to == 0) {
      json_.Null();
    } else {
      json_.StartObject();
      Member("to", c.pad.to);
      WriteCondition("when", c.pad.condition, Face::kCpp);
      json_.EndObject();
    }
    Array("relations", c.relations, [this](const Relation& r) {
      constexpr const char* kRelations[] = {"commits", "requires", "invalidates"};
      Member("kind", kRelations[static_cast<int>(r.kind)]);
      Member("packet", model_.containers[static_cast<size_t>(r.container)].name);
    });
    WriteTail(c);
  }

  // What a container and the item of a tail have in common.
  void WriteBody(const Container& c) {
    std::set<std::string> seen;
    Key("constants");
    json_.StartArray();
    Constants(c.items, seen);
    json_.EndArray();
    Key("members");
    json_.StartArray();
    Members(c, c.items, {}, Face::kCpp);
    json_.EndArray();
    LeavesAndLoops(c, c.items, {}, Face::kCpp, c.max_bytes * 8, 0, "leaves", "loops");
    WriteFixed(c);
  }

  void WriteTail(const Container& c) {
    Key("tail");
    if (c.tail == nullptr) {
      json_.Null();
      return;
    }
    const Item& tail = *c.tail;
    json_.StartObject();
    Member("name", tail.name.empty() ? tail.items[0].name : tail.name);
    Member("id", tail.name.empty() ? tail.items[0].cpp : tail.cpp);
    Member("start_bit", tail.bit);
    Member("item_bytes", tail.width / 8);
    if (tail.most != 0) {
      Member("max", tail.most);
    } else {
      Null("max");
    }
    const bool one_struct = tail.items.size() == 1 && tail.items[0].kind == Item::Kind::kField &&
                            tail.items[0].type == FieldType::kStruct && tail.items[0].bit == 0;
    if (one_struct) {
      Member("struct", model_.containers[static_cast<size_t>(tail.items[0].type_index)].cpp);
      Null("item");
    } else {
      Null("struct");
      // The item as a container of its own, declared inside of its packet.
      Container item;
      item.kind = ContainerKind::kStruct;
      item.name = c.name;
      item.where = tail.where;
      item.byte_unit = c.byte_unit;
      item.bytes = item.max_bytes = tail.width / 8;
      item.items = tail.items;
      Key("item");
      json_.StartObject();
      Member("cpp", "item");
      Member("unit", item.byte_unit ? "byte" : "dword");
      Member("bytes", item.bytes);
      Member("max_bytes", item.max_bytes);
      Member("words", (item.bytes + 3) / 4);
      Member("doc", tail.doc);
      WriteBody(item);
      json_.EndObject();
    }
    json_.EndObject();
  }

  const Model& model_;
  const CNames c_names_{model_.c_prefix, model_.byte_unit};
  const Sources& sources_;
  rapidjson::StringBuffer buffer_;
  Json json_;
  bool usual_ = false;  // the leaf that is written is the usual one
  std::set<std::string> c_values_;
  std::map<const Item*, Item> as_c_;
};

}  // namespace

std::string WriteIr(const Model& model, const Sources& sources) {
  return Writer(model, sources).Run();
}

}  // namespace packsmith::model
