// What imglayout reads: the words of a description, and whole ones as JSON; and layouts as JSON.
#ifndef PACKSMITH_TOOLS_IMGLAYOUT_JSON_H_
#define PACKSMITH_TOOLS_IMGLAYOUT_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/layout/layout.h"

namespace packsmith::layout {

// InvalidArgument, with what there is instead: there is no such layout, format, dimension or usage.
absl::StatusOr<Scheme> SchemeOf(absl::string_view name);
absl::StatusOr<const Format*> FormatOf(absl::string_view name);
absl::StatusOr<Dim> DimOf(absl::string_view name);
absl::Status SetUse(absl::string_view name, ImageDescription& image);

// A line of a batch, such as {"layout":"intel-y","format":"R8_UNORM","width_px":9,"height_px":9}.
// InvalidArgument: no JSON, something unknown or of the wrong type, or something is missing.
// Whether there can be such an image is not looked at.
absl::StatusOr<ImageDescription> ImageOfJson(absl::string_view line);

std::string ToJson(const Layout& layout);
// {"error": "what is wrong"}
std::string ErrorToJson(const absl::Status& status);

}  // namespace packsmith::layout

#endif  // PACKSMITH_TOOLS_IMGLAYOUT_JSON_H_
