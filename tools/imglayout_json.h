// imglayout's input: the words of a description, and descriptions as JSON; its output: layouts as
// JSON.
#ifndef PACKSMITH_TOOLS_IMGLAYOUT_JSON_H_
#define PACKSMITH_TOOLS_IMGLAYOUT_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/layout/layout.h"

namespace packsmith::layout {

// InvalidArgument, with the known names, if there is no such layout, format, dimension or usage.
absl::StatusOr<Scheme> SchemeOf(absl::string_view name);
absl::StatusOr<const Format*> FormatOf(absl::string_view name);
absl::StatusOr<Dim> DimOf(absl::string_view name);
absl::Status SetUse(absl::string_view name, ImageDescription& image);

// A line of a batch, such as {"layout":"intel-y","format":"R8_UNORM","width_px":9,"height_px":9}.
// InvalidArgument: the line is not JSON, or a member is unknown, of the wrong type or missing.
// Whether such an image is possible is not checked.
absl::StatusOr<ImageDescription> ImageOfJson(absl::string_view line);

std::string ToJson(const Layout& layout);
// {"error": "what is wrong"}
std::string ErrorToJson(const absl::Status& status);

}  // namespace packsmith::layout

#endif  // PACKSMITH_TOOLS_IMGLAYOUT_JSON_H_
