#include "gen/model/passes/workarounds.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {
namespace {

// Whether text is a stepping: a letter and a digit.
bool IsStepping(absl::string_view text) {
  return text.size() == 2 && absl::ascii_islower(static_cast<unsigned char>(text[0])) &&
         absl::ascii_isdigit(static_cast<unsigned char>(text[1]));
}

// "dg2-g10(a0..b0)" or "dg2": a platform, perhaps one of its variants, and perhaps the first
// stepping that has the flaw and the first one after it that does not.
bool IsWellFormed(absl::string_view text) {
  const size_t open = text.find('(');
  const absl::string_view name = text.substr(0, open);
  const auto may_be_in_name = [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return absl::ascii_islower(u) || absl::ascii_isdigit(u) || c == '-';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), may_be_in_name)) return false;
  if (open == absl::string_view::npos) return true;
  const absl::string_view steppings = text.substr(open);
  return steppings.size() == 8 && IsStepping(steppings.substr(1, 2)) &&
         steppings.substr(3, 2) == ".." && IsStepping(steppings.substr(5, 2)) &&
         steppings.back() == ')';
}

// "dg2-g10(a0..b0)" is a variant of "dg2", "nvl-p" is the platform "nvlp". A family without a
// variant is all platforms whose names begin with it: "adl" is "adls" and "adlp".
bool IsOf(const Model& model, absl::string_view text) {
  const absl::string_view name = text.substr(0, text.find('('));
  const size_t dash = name.find('-');
  const absl::string_view family = name.substr(0, dash);
  if (family == model.generation) return true;
  const std::string joined = absl::StrReplaceAll(name, {{"-", ""}});
  return std::any_of(model.platforms.begin(), model.platforms.end(), [&](const Platform& one) {
    if (dash == absl::string_view::npos) return absl::StartsWith(one.name, family);
    return one.name == family || one.name == joined;
  });
}

// The first field of that name among the items, their groups and structures; or null.
const Field* FindField(const Model& model, const std::vector<Item>& items, absl::string_view name) {
  for (const Item& item : items) {
    const Field* found = nullptr;
    if (const Group* const group = item.group()) {
      found = FindField(model, group->items, name);
    } else if (const Field* const field = item.field()) {
      if (field->type == FieldType::kStruct && field->type_index >= 0) {
        const auto index = static_cast<size_t>(field->type_index);
        found = FindField(model, model.containers[index].items, name);
      }
      if (found == nullptr && field->name == name) found = field;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

void ResolveContainer(Context& context, Reference& reference) {
  if (reference.empty()) return;
  reference.index = context.FindContainer(reference.text);
  if (reference.index < 0) {
    context.Report(Code::kUnknownReference, reference.where,
                   absl::StrCat("there is no packet, structure or register \"", reference.text,
                                "\" in ", context.model.generation));
  }
}

// The raw bits that `value` is of a field: a number, or the name of a value.
std::optional<uint64_t> RawOf(const Model& model, const Field& field, const std::string& value) {
  for (const Value& named : NamedValues(model, field)) {
    if (named.name == value) return named.value;
  }
  uint64_t number = 0;
  const bool is_number = absl::StartsWith(value, "0x") ? absl::SimpleHexAtoi(value, &number)
                                                       : absl::SimpleAtoi(value, &number);
  if (!is_number || HasEncoding(field)) return std::nullopt;
  return number;
}

// checked="true": all of it is understood.
void ResolveChecked(Context& context, Ask& ask) {
  const auto refuse = [&](absl::string_view why) {
    context.Report(
        Code::kContradiction, ask.where,
        absl::StrCat("checked=\"true\": batches cannot be held against this, since ", why));
  };
  if (ask.kind == AskKind::kShader || ask.kind == AskKind::kMemory) {
    return refuse("it is about shaders or memory");
  }
  for (const Reference* one : {&ask.of, &ask.with}) {
    if (one->index >= 0 && context.model.containers[static_cast<size_t>(one->index)].kind ==
                               ContainerKind::kRegister) {
      return refuse("it is about a register");
    }
  }
  const bool needs_value = ask.kind == AskKind::kField || ask.kind == AskKind::kLimit;
  if (needs_value && (ask.field.empty() || ask.value.empty())) {
    return refuse("it names no field with a value");
  }
  if (ask.is_field == nullptr || ask.value.empty()) return;
  ask.raw = RawOf(context.model, *ask.is_field, ask.value);
  if (!ask.raw) refuse("its value is not a number, nor the name of a value of the field");
}

void ResolveAsk(Context& context, ExpressionReader& reader, Ask& ask) {
  ResolveContainer(context, ask.of);
  ResolveContainer(context, ask.with);
  const bool pairs = ask.kind <= AskKind::kAround;
  if (pairs ? ask.with.empty() : !ask.with.empty()) {
    context.Report(Code::kContradiction, ask.where,
                   "with=\"…\" is for before, after and around, which need it");
  }
  if (ask.of.empty() && ask.kind != AskKind::kShader && ask.kind != AskKind::kMemory) {
    context.Report(Code::kMissingAttribute, ask.where,
                   "<asks> needs of=\"…\", unless its kind is shader or memory");
  }
  if (ask.of.index >= 0) {
    const Container& of = context.model.containers[static_cast<size_t>(ask.of.index)];
    reader.Resolve(ask.when, Scope{&of, nullptr});
  } else if (!ask.when.empty()) {
    context.Report(Code::kContradiction, ask.when.where, "when=\"…\" is a condition on of=\"…\"");
  }
  const int owner = ask.with.empty() ? ask.of.index : ask.with.index;
  if (!ask.field.empty() && owner >= 0) {
    ask.is_field = FindField(
        context.model, context.model.containers[static_cast<size_t>(owner)].items, ask.field.text);
  }
  if (!ask.field.empty() && owner >= 0 && ask.is_field == nullptr) {
    context.Report(Code::kUnknownReference, ask.field.where,
                   absl::StrCat(context.model.containers[static_cast<size_t>(owner)].name,
                                " has no field \"", ask.field.text, "\""));
  } else if (ask.checked && ask.of.index >= 0) {
    ResolveChecked(context, ask);
  }
}

}  // namespace

void ResolveWorkarounds(Context& context, ExpressionReader& reader) {
  for (Workaround& one : context.model.workarounds) {
    for (const absl::string_view platform :
         absl::StrSplit(one.platforms.text, absl::ByAnyChar(" \n\t"), absl::SkipEmpty())) {
      if (!IsWellFormed(platform)) {
        context.Report(Code::kBadData, one.platforms.where,
                       absl::StrCat("\"", platform,
                                    "\" is not a platform, its variant or its steppings: dg2, "
                                    "dg2-g10, tgl(a0..c0)"));
      } else if (IsOf(context.model, platform)) {
        one.here.emplace_back(platform);
      }
    }
    if (one.here.empty()) continue;
    for (Ask& ask : one.asks) ResolveAsk(context, reader, ask);
  }
}

}  // namespace packsmith::model
