#include "gen/model/passes/pointers.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"
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
    if (Group* const group = item.group()) {
      const Scope inner{scope.container, scope.group != nullptr ? scope.group : group};
      for (Item& child : group->items) ResolveItem(child, inner);
    }
    if (Field* const field = item.field()) ResolveField(*field, scope);
  }

  void ResolveField(Field& field, const Scope& scope) {
    for (Points& points : field.points) {
      ResolvePoints(field, points, scope);
    }
    for (ElementOf& element : field.elements) ResolveElement(field, element, scope);
    if (!field.when.empty()) ResolveView(field, scope);
    if (!field.writes_memory.empty()) ResolveStore(field, scope);
    if (!field.high.empty()) ResolveHighBits(field, scope);
    for (SetsBase& sets : field.sets) {
      reader_.Resolve(sets.when, scope);
      if (sets.is_state) {
        sets.base.index = Find(model_.states, sets.base.text);
        if (sets.base.index < 0) {
          Report(Code::kUnknownReference, sets.base.where,
                 absl::StrCat("there is no <state name=\"", sets.base.text, "\">"));
        } else if (!IsWhole(field) || HasEncoding(field)) {
          Report(Code::kBadType, field.where, "a state is an integer without an encoding");
        }
        continue;
      }
      sets.base.index = Find(model_.bases, sets.base.text);
      if (sets.base.index < 0) {
        Report(Code::kUnknownReference, sets.base.where,
               absl::StrCat("there is no <base name=\"", sets.base.text, "\">"));
      }
      if (field.type != FieldType::kAddress && field.type != FieldType::kOffset) {
        Report(Code::kBadType, field.where, "only an address or offset can be a base");
      }
      reader_.Resolve(sets.size, scope);
      reader_.Resolve(sets.size_when, scope);
    }
    if (!field.writes_register.empty()) {
      field.writes_register.is = reader_.FindField(field.writes_register, scope);
      if (field.writes_register.is.field == nullptr ||
          field.writes_register.is.field->type != FieldType::kOffset) {
        Report(Code::kBadRegister, field.writes_register.where,
               absl::StrCat("\"", field.writes_register.text,
                            "\" is not an offset field next to this one"));
        field.writes_register.is = {};
      }
    }
  }

  void ResolvePoints(const Field& field, Points& points, const Scope& scope) {
    if (field.type != FieldType::kAddress && field.type != FieldType::kOffset) {
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
    ResolveUnlimited(points, scope);
    ResolveOtherTarget(points);
    reader_.ResolveAll(points, kPointsExpressions, scope);
    const Expression& format = points.format.is;
    if (format.kind != Expression::Kind::kNone &&
        (format.kind == Expression::Kind::kConstant || format.power || format.multiply != 1 ||
         format.add != 0 || !HasFormats(NamedValues(model_, *format.ref.field)))) {
      Report(Code::kBadData, points.format.where,
             absl::StrCat("\"", points.format.text,
                          "\" must name a field whose values have components=\"…\""));
      points.format.is = {};
    }
    if (points.target == Points::Target::kData && points.to.index >= 0) {
      const DataKind& kind = model_.data_kinds[static_cast<size_t>(points.to.index)];
      if (!kind.is_code && (!points.stage.empty() || !points.simd.empty())) {
        Report(Code::kBadData, points.where,
               absl::StrCat("\"", kind.name,
                            "\" is not a program (code=\"true\"), so it has no stage"));
      }
    }
  }

  // unlimited-when="CONDITION": the hardware reads elements past `count`.
  void ResolveUnlimited(Points& points, const Scope& scope) {
    if (points.unlimited_when.empty()) return;
    reader_.Resolve(points.unlimited_when, scope);
    if (points.count.empty()) {
      Report(Code::kMissingAttribute, points.where, "unlimited-when=\"…\" needs count=\"…\"");
    } else if (!points.size.empty() || !points.end.empty()) {
      Report(Code::kContradiction, points.unlimited_when.where,
             "data with a size or an end is not unlimited");
    } else if (points.target != Points::Target::kData) {
      Report(Code::kContradiction, points.unlimited_when.where,
             absl::StrCat("only <data> can be unlimited, and \"", points.to.text,
                          "\" is not; a table of unknown length has until=\"zero\""));
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
                        "\" must be a structure of the same fixed size as to=\"…\""));
  }

  void ResolveElement(const Field& field, ElementOf& element, const Scope& scope) {
    element.data.index = FindData(context_, element.data);
    reader_.ResolveAll(element, kElementExpressions, scope);
    reader_.Resolve(element.when, scope);
    if (!element.is_step && !HasFormats(NamedValues(model_, field))) {
      Report(Code::kBadData, element.where,
             absl::StrCat("no value of \"", field.name, "\" has components=\"…\""));
    } else if (element.is_step && !IsWhole(field)) {
      Report(Code::kBadData, element.where,
             absl::StrCat("\"", field.name, "\" must be an integer to count instances"));
    }
  }

  // Memory is written in dwords: what is stored is read again as fields of packets.
  void ResolveStore(Field& field, const Scope& scope) {
    const FieldRef target = reader_.FindField(field.writes_memory, scope);
    if (target.field == nullptr ||
        (target.field->type != FieldType::kAddress && target.field->type != FieldType::kOffset)) {
      Report(
          Code::kBadData, field.writes_memory.where,
          absl::StrCat("\"", field.writes_memory.text, "\" is not an address next to this field"));
    } else if (field.width % 32 != 0 || field.bit % 8 != 0) {
      Report(Code::kBadData, field.writes_memory.where,
             absl::StrCat("\"", field.name, "\" must be a whole number of dwords"));
    } else {
      field.writes_memory.is = target;
    }
    reader_.Resolve(field.writes_when, scope);
  }

  // Of bits that hold something else where the condition does not hold.
  void ResolveView(Field& field, const Scope& scope) {
    reader_.Resolve(field.when, scope);
    if (!field.overlap) {
      Report(Code::kContradiction, field.when.where,
             "a field with when shares its bits: it has overlap=\"true\"");
    }
    if (field.forced || field.nonzero != NotZero::kMayBeZero || field.min || field.max ||
        field.type == FieldType::kStruct || !field.points.empty() || !field.sets.empty() ||
        !field.elements.empty() || !field.writes_register.empty() || !field.writes_memory.empty()) {
      Report(
          Code::kContradiction, field.when.where,
          "a field with when only shows a number: it has no fields of its own and no range, points "
          "nowhere and sets nothing");
    }
  }

  // high="FIELD": the value of FIELD is above the bits of this one.
  void ResolveHighBits(Field& field, const Scope& scope) {
    reader_.Resolve(field.high, scope);
    const Field* above = field.high.is.ref.field;
    if (field.high.is.kind == Expression::Kind::kNone) return;
    const uint32_t from = field.width + field.encoding.shift;
    if (field.type != FieldType::kAddress && field.type != FieldType::kOffset) {
      Report(Code::kBadType, field.high.where,
             "only an address or offset continues in another field");
    } else if (field.high.is.kind == Expression::Kind::kConstant || field.high.is.multiply != 1 ||
               field.high.is.power || field.high.is.add != 0 || above->type != FieldType::kUint ||
               above == &field || HasEncoding(*above)) {
      Report(Code::kBadExpression, field.high.where,
             absl::StrCat("high=\"", field.high.text,
                          "\" must name another field, a uint without an encoding"));
    } else if (from + above->width > 64) {
      Report(Code::kBadWidth, field.high.where,
             absl::StrCat("the address and its high bits take ", from + above->width, " bits"));
    } else {
      field.high.is.multiply = uint64_t{1} << from;
      return;
    }
    field.high.is = {};
  }

  ExpressionReader& reader_;
};

}  // namespace

void ResolvePointers(Context& context, ExpressionReader& reader, Container& c) {
  PointerPass(context, reader).Run(c);
}

}  // namespace packsmith::model
