#include "gen/model/source.h"

#include <algorithm>
#include <utility>

namespace packsmith::model {

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

LineColumn SourceFile::Find(uint32_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<uint32_t>(after - line_starts_.begin());
  return {line, offset - line_starts_[line - 1] + 1};
}

absl::string_view SourceFile::Line(uint32_t line) const {
  if (line == 0 || line > line_starts_.size()) return {};
  const size_t begin = line_starts_[line - 1];
  size_t end = line < line_starts_.size() ? line_starts_[line] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return absl::string_view(text_).substr(begin, end - begin);
}

int32_t Sources::Add(std::string path, std::string text) {
  files_.push_back(std::make_shared<SourceFile>(std::move(path), std::move(text)));
  return static_cast<int32_t>(files_.size()) - 1;
}

}  // namespace packsmith::model
