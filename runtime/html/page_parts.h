// The page's own markup, style and program, made of the files in page/ by the build.
#ifndef PACKSMITH_RUNTIME_HTML_PAGE_PARTS_H_
#define PACKSMITH_RUNTIME_HTML_PAGE_PARTS_H_

#include "absl/strings/string_view.h"

namespace packsmith::html {

// Up to the content, and from there on.
absl::string_view PageBeginning();
absl::string_view PageEnd();

}  // namespace packsmith::html

#endif  // PACKSMITH_RUNTIME_HTML_PAGE_PARTS_H_
