// The file that a browser opens: the page's own parts, and between them its content, compressed.
#ifndef PACKSMITH_RUNTIME_HTML_PAGE_WRITER_H_
#define PACKSMITH_RUNTIME_HTML_PAGE_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"

struct z_stream_s;

namespace packsmith::html {

// Content is a zlib stream in base64, in several elements of the page: nothing in it can end an
// element or become markup.
class PageWriter {
 public:
  // Writes the page's beginning. `output` must outlive the writer.
  explicit PageWriter(decode::Output& output);
  ~PageWriter();
  PageWriter(const PageWriter&) = delete;
  PageWriter& operator=(const PageWriter&) = delete;

  void Append(absl::string_view bytes);
  // Writes the rest of the page. The last call.
  void Finish();

 private:
  // Compresses `bytes`; all that is left, if they are the last ones.
  void Deflate(absl::string_view bytes, bool last);
  // An element with as much of `compressed_` as is a whole number of base64's groups, or all.
  void PutElement(bool last);

  decode::Output& output_;
  std::unique_ptr<z_stream_s> stream_;
  std::string compressed_;  // not yet written
};

}  // namespace packsmith::html

#endif  // PACKSMITH_RUNTIME_HTML_PAGE_WRITER_H_
