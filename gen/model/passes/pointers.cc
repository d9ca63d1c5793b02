#include "gen/model/passes/pointers.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/facts.h"
#include "gen/model/passes/data.h"

namespace packsmith::model {
namespace {

bool HasFormats(const std::vector<Value>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const Value& value) { return !value.format.empty(); });
}

class PointerPass : public Pass {
 public:
  PointerPass(Context& context, ExpressionReader& reader) : Pass(context), reader_(reader) {}

  void Run(Container& c) {
    for (Item& item : c.items) ResolveItem(item, {&c, nullptr});
  }

 private:
  void ResolveItem(Item& item, const Scope& scope) {
    if (item.kind == Item::Kind::kGroup) {
      const Scope inner{scope.container, scope.group != nullptr ? scope.group : &item};
      for (Item& child : item.items) ResolveItem(child, inner);
      return;
    }
    for (Points& points : item.points) {
      ResolvePoints(item, points, scope);
    }
    for (ElementOf& element : item.elements) ResolveElement(item, element, scope);
    if (!item.when.empty()) ResolveView(item, scope);
    if (!item.writes_memory.empty()) ResolveStore(item, scope);
    if (!item.high.empty()) ResolveHighBits(item, scope);
    for (SetsBase& sets : item.sets) {
      reader_.Resolve(sets.when, scope);
      if (sets.is_state) {
        sets.base.index = Find(model_.states, sets.base.text);
        if (sets.base.index < 0) {
          Report(Code::kUnknownReference, sets.base.where,
                 absl::StrCat("there is no <state name=\"", sets.base.text, "\">"));
        } else if (!IsWhole(item) || HasEncoding(item)) {
          Report(Code::kBadType, item.where, "a state is an integer without an encoding");
        }
        continue;
      }
      sets.base.index = Find(model_.bases, sets.base.text);
      if (sets.base.index < 0) {
        Report(Code::kUnknownReference, sets.base.where,
               absl::StrCat("there is no <base name=\"", sets.base.text, "\">"));
      }
      if (item.type != FieldType::kAddress && item.type != FieldType::kOffset) {
        Report(Code::kBadType, item.where, "only an address or offset can be a base");
      }
    }
    if (!item.writes_register.empty()) {
      item.writes_register.is = reader_.FindField(item.writes_register, scope);
      if (item.writes_register.is.field == nullptr ||
          item.writes_register.is.field->type != FieldType::kOffset) {
        Report(Code::kBadRegister, item.writes_register.where,
               absl::StrCat("\"", item.writes_register.text,
                            "\" is no offset field next to this one"));
        item.writes_register.is = {};
      }
    }
  }

  void ResolvePoints(const Item& item, Points& points, const Scope& scope) {
    if (item.type != FieldType::kAddress && item.type != FieldType::kOffset) {
      Report(Code::kBadType, points.where, "only an address or offset points to something");
    }
    if (const int data = Find(model_.data_kinds, points.to.text); data >= 0) {
      points.target = Points::Target::kData;
      points.to.index = data;
    } else if (const int stream = Find(model_.streams, points.to.text); stream >= 0) {
      points.target = Points::Target::kStream;
      points.to.index = stream;
    } else if (const int target = FindContainer(points.to.text);
               target >= 0 &&
               model_.containers[static_cast<size_t>(target)].kind == ContainerKind::kStruct) {
      points.target = Points::Target::kStruct;
      points.to.index = target;
    } else if (!points.to.empty()) {
      Report(Code::kUnknownReference, points.to.where,
             absl::StrCat("there is no structure, stream or <data> \"", points.to.text, "\""));
    }
    if (!points.base.empty()) {
      points.base.index = Find(model_.bases, points.base.text);
      if (points.base.index < 0) {
        Report(Code::kUnknownReference, points.base.where,
               absl::StrCat("there is no <base name=\"", points.base.text, "\">"));
      }
    }
    if (!points.space.empty()) {
      points.space.index = Find(model_.spaces, points.space.text);
      if (points.space.index < 0) {
        Report(Code::kUnknownReference, points.space.where,
               absl::StrCat("there is no <space name=\"", points.space.text, "\">"));
      }
    }
    if (!points.space_when.empty() && points.space.empty()) {
      Report(Code::kMissingAttribute, points.where, "space-when=\"…\" needs space=\"…\"");
    }
    reader_.Resolve(points.space_when, scope);
    reader_.Resolve(points.when, scope, true);
    ResolveOtherTarget(points);
    reader_.ResolveAll(points, kPointsExpressions, scope);
    const Expression& format = points.format.is;
    if (format.kind != Expression::Kind::kNone &&
        (format.kind == Expression::Kind::kConstant || format.power || format.multiply != 1 ||
         format.add != 0 || !HasFormats(NamedValues(model_, *format.ref.field)))) {
      Report(Code::kBadData, points.format.where,
             absl::StrCat("\"", points.format.text,
                          "\" names no field whose values have components=\"…\""));
      points.format.is = {};
    }
    if (points.target == Points::Target::kData && points.to.index >= 0) {
      const DataKind& kind = model_.data_kinds[static_cast<size_t>(points.to.index)];
      if (!kind.is_code && (!points.stage.empty() || !points.simd.empty())) {
        Report(
            Code::kBadData, points.where,
            absl::StrCat("\"", kind.name, "\" is no program (code=\"true\"), so it has no stage"));
      }
    }
  }

  // or="STRUCT": an element of the table may be that instead.
  void ResolveOtherTarget(Points& points) {
    if (points.other.empty()) return;
    points.other.index = FindContainer(points.other.text);
    const auto fixed = [&](int i) {
      if (i < 0) return uint32_t{0};
      const Container& c = model_.containers[static_cast<size_t>(i)];
      const bool good = c.kind == ContainerKind::kStruct && c.tail == nullptr && c.parts.empty() &&
                        c.variants.empty();
      return good ? c.bytes : 0;
    };
    const uint32_t bytes = fixed(points.other.index);
    if (points.target == Points::Target::kStruct && bytes != 0 && bytes == fixed(points.to.index)) {
      return;
    }
    points.other.index = -1;
    Report(Code::kUnknownReference, points.other.where,
           absl::StrCat("\"", points.other.text,
                        "\" is no structure of the same, fixed size as to=\"…\""));
  }

  void ResolveElement(const Item& item, ElementOf& element, const Scope& scope) {
    element.data.index = FindData(context_, element.data);
    reader_.ResolveAll(element, kElementExpressions, scope);
    reader_.Resolve(element.when, scope);
    if (!element.is_step && !HasFormats(NamedValues(model_, item))) {
      Report(Code::kBadData, element.where,
             absl::StrCat("no value of \"", item.name, "\" has components=\"…\""));
    } else if (element.is_step && !IsWhole(item)) {
      Report(Code::kBadData, element.where,
             absl::StrCat("\"", item.name, "\" is no integer, so it counts no instances"));
    }
  }

  // Memory is written in dwords: what is stored is read again as fields of packets.
  void ResolveStore(Item& item, const Scope& scope) {
    const FieldRef target = reader_.FindField(item.writes_memory, scope);
    if (target.field == nullptr ||
        (target.field->type != FieldType::kAddress && target.field->type != FieldType::kOffset)) {
      Report(Code::kBadData, item.writes_memory.where,
             absl::StrCat("\"", item.writes_memory.text, "\" is no address next to this field"));
    } else if (item.width % 32 != 0 || item.bit % 8 != 0) {
      Report(Code::kBadData, item.writes_memory.where,
             absl::StrCat("\"", item.name, "\" is no whole number of dwords"));
    } else {
      item.writes_memory.is = target;
    }
    reader_.Resolve(item.writes_when, scope);
  }

  // Of bits that hold something else where the condition does not hold.
  void ResolveView(Item& item, const Scope& scope) {
    reader_.Resolve(item.when, scope);
    if (!item.overlap) {
      Report(Code::kContradiction, item.when.where,
             "a field with when shares its bits: it has overlap=\"true\"");
    }
    if (item.forced || item.nonzero != NotZero::kMayBeZero || item.min || item.max ||
        item.type == FieldType::kStruct || !item.points.empty() || !item.sets.empty() ||
        !item.elements.empty() || !item.writes_register.empty() || !item.writes_memory.empty()) {
      Report(Code::kContradiction, item.when.where,
             "a field with when only shows a number: it has no fields of its own, no range, leads "
             "nowhere, and sets nothing");
    }
  }

  // high="FIELD": the value of FIELD stands above the bits of this one.
  void ResolveHighBits(Item& item, const Scope& scope) {
    reader_.Resolve(item.high, scope);
    const Item* field = item.high.is.ref.field;
    if (item.high.is.kind == Expression::Kind::kNone) return;
    const uint32_t from = item.width + item.encoding.shift;
    if (item.type != FieldType::kAddress && item.type != FieldType::kOffset) {
      Report(Code::kBadType, item.high.where,
             "only an address or offset continues in another field");
    } else if (item.high.is.kind == Expression::Kind::kConstant || item.high.is.multiply != 1 ||
               item.high.is.power || item.high.is.add != 0 || field->type != FieldType::kUint ||
               field == &item || HasEncoding(*field)) {
      Report(Code::kBadExpression, item.high.where,
             absl::StrCat("high=\"", item.high.text,
                          "\" must name another field, a uint without an encoding"));
    } else if (from + field->width > 64) {
      Report(Code::kBadWidth, item.high.where,
             absl::StrCat("the address and its high bits take ", from + field->width, " bits"));
    } else {
      item.high.is.multiply = uint64_t{1} << from;
      return;
    }
    item.high.is = {};
  }

  ExpressionReader& reader_;
};

}  // namespace

void ResolvePointers(Context& context, ExpressionReader& reader, Container& c) {
  PointerPass(context, reader).Run(c);
}

}  // namespace packsmith::model
