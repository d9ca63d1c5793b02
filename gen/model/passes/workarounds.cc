#include "gen/model/passes/workarounds.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

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

// "dg2-g10(a0..b0)" is a variant of "dg2", "nvl-p" is the platform "nvlp". A family without a variant
// is all platforms whose names begin with it: "adl" is "adls" and "adlp".
bool IsOf(const Model& model, absl::string_view text) {
  const absl::string_view name = text.substr(0, text.find('('));
  const size_t dash = name.find('-');
  const absl::string_view family = name.substr(0, dash);
  if (family == model.generation) return true;
  const std::string joined = absl::StrReplaceAll(name, {{"-", ""}});
  return std::any_of(
      model.platforms.begin(), model.platforms.end(), [&](const Platform& one) {
        if (dash == absl::string_view::npos) return absl::StartsWith(one.name, family);
        return one.name == family || one.name == joined;
      });
}

bool HasField(const Model& model, const std::vector<Item>& items, absl::string_view name) {
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    if (const Group* const group = item.group()) return HasField(model, group->items, name);
    const Field* const field = item.field();
    if (field == nullptr) return false;
    if (field->type == FieldType::kStruct && field->type_index >= 0) {
      const auto index = static_cast<size_t>(field->type_index);
      if (HasField(model, model.containers[index].items, name)) return true;
    }
    return field->name == name;
  });
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

void ResolveAsk(Context& context, Ask& ask) {
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
  if (ask.field.empty()) return;
  const int owner = ask.with.empty() ? ask.of.index : ask.with.index;
  if (owner >= 0 &&
      !HasField(context.model, context.model.containers[static_cast<size_t>(owner)].items,
                ask.field.text)) {
    context.Report(Code::kUnknownReference, ask.field.where,
                   absl::StrCat(context.model.containers[static_cast<size_t>(owner)].name,
                                " has no field \"", ask.field.text, "\""));
  }
}

}  // namespace

void ResolveWorkarounds(Context& context) {
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
    for (Ask& ask : one.asks) ResolveAsk(context, ask);
  }
}

}  // namespace packsmith::model
