#include "gen/model/source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"

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

Location AttributeLocation(const Sources& sources, Location element, absl::string_view name) {
  if (element.file < 0) return element;
  const std::string& text = sources.file(element.file).text();
  size_t i = element.offset;
  // The tag's name, then pairs of a name and a quoted value, as the XML parser has accepted them.
  while (i < text.size() && text[i] != '>' &&
         !absl::ascii_isspace(static_cast<unsigned char>(text[i])))
    ++i;
  while (i < text.size() && text[i] != '>') {
    if (absl::ascii_isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < text.size() && text[i] != '=' && text[i] != '>' &&
           !absl::ascii_isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
    }
    const absl::string_view found = absl::string_view(text).substr(begin, i - begin);
    while (i < text.size() && text[i] != '"' && text[i] != '\'' && text[i] != '>') ++i;
    if (found == name) return {element.file, static_cast<uint32_t>(begin)};
    if (i >= text.size() || text[i] == '>') break;
    const char quote = text[i++];
    while (i < text.size() && text[i] != quote) ++i;
    if (i < text.size()) ++i;
  }
  return element;
}

}  // namespace packsmith::model
