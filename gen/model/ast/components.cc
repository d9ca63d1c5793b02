#include "gen/model/ast/components.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace packsmith::model {
namespace {

constexpr absl::string_view kTypes[] = {"uint",    "sint",    "unorm", "snorm",
                                        "uscaled", "sscaled", "float", "fixed"};
static_assert(std::size(kTypes) == static_cast<size_t>(ComponentType::kUnused));
constexpr uint32_t kMostBits = 1024;

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

bool Fits(ComponentType type, uint32_t width) {
  switch (type) {
    case ComponentType::kFloat:
      return width == 10 || width == 11 || width == 16 || width == 32 || width == 64;
    case ComponentType::kFixed:
      return width == 32;
    default:
      return true;
  }
}

}  // namespace

absl::StatusOr<DataFormat> ParseComponents(absl::string_view text) {
  DataFormat format;
  size_t typed = 0;  // components before this one have their type
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    size_t letters = 0;
    while (letters < word.size() &&
           absl::ascii_isalpha(static_cast<unsigned char>(word[letters]))) {
      ++letters;
    }
    if (letters == word.size()) {
      size_t type = 0;
      while (type < std::size(kTypes) && kTypes[type] != word) ++type;
      if (type == std::size(kTypes)) {
        return Wrong(absl::StrCat("\"", word, "\" is not a type; the types are ",
                                  absl::StrJoin(kTypes, ", ")));
      }
      if (typed == format.components.size()) {
        return Wrong(absl::StrCat("\"", word, "\" has no component before it"));
      }
      for (; typed < format.components.size(); ++typed) {
        DataComponent& component = format.components[typed];
        if (component.name == "X") continue;
        component.type = static_cast<ComponentType>(type);
        if (!Fits(component.type, component.width)) {
          return Wrong(absl::StrCat("there is no ", word, " of ", component.width, " bits"));
        }
      }
      continue;
    }
    DataComponent component;
    component.name = std::string(word.substr(0, letters));
    component.bit = format.bits;
    if (letters == 0 || !absl::ascii_isdigit(static_cast<unsigned char>(word[letters])) ||
        !absl::SimpleAtoi(word.substr(letters), &component.width) || component.width == 0 ||
        component.width > 64) {
      return Wrong(absl::StrCat("\"", word, "\" is not a component: a name and 1 to 64 bits"));
    }
    format.bits += component.width;
    if (format.bits > kMostBits) {
      return Wrong(absl::StrCat("an element has at most ", kMostBits, " bits"));
    }
    format.components.push_back(std::move(component));
  }
  for (; typed < format.components.size(); ++typed) {
    if (format.components[typed].name != "X") {
      return Wrong(absl::StrCat("\"", format.components[typed].name, format.components[typed].width,
                                "\" has no type after it"));
    }
  }
  if (format.bits == 0 || format.bits % 8 != 0) {
    return Wrong(absl::StrCat("the components have ", format.bits,
                              " bits, which is not a whole number of bytes"));
  }
  return format;
}

}  // namespace packsmith::model
