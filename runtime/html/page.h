// A page for a browser that shows all records of dumps: docs/html.md.
#ifndef PACKSMITH_RUNTIME_HTML_PAGE_H_
#define PACKSMITH_RUNTIME_HTML_PAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"

namespace packsmith::html {

struct PageOptions {
  std::vector<std::string> files = {};  // names of the inputs, for the summary
};

// Takes the records of any number of decoders, one after the other; their options must have
// `leads`. What Sink::OnInsert gets is the text of a report for people, such as that of a hang.
// Text is handed over as it is made; only what is the same in many records is kept in memory.
class Page : public decode::Sink {
 public:
  // Writes the rest of the page. The last call.
  virtual void Finish() = 0;
};

// `output` must outlive the page.
std::unique_ptr<Page> MakePage(decode::Output& output, PageOptions options = {});

}  // namespace packsmith::html

#endif  // PACKSMITH_RUNTIME_HTML_PAGE_H_
