// Source text and locations in it. Every element of a description keeps its location, so that a
// problem found long after parsing (an ambiguous opcode, for example) is shown at its own line.
#ifndef PACKSMITH_GEN_MODEL_SOURCE_H_
#define PACKSMITH_GEN_MODEL_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith::model {

// A byte in a source file. `file` indexes Sources; -1 means no location.
struct Location {
  int32_t file = -1;
  uint32_t offset = 0;
};

// Line and column count from 1; the column counts bytes.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
};

class SourceFile {
 public:
  SourceFile(std::string path, std::string text);

  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  LineColumn Find(uint32_t offset) const;
  // The line without its end; empty past the end of the file.
  absl::string_view Line(uint32_t line) const;

 private:
  std::string path_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

// Copies share the texts.
class Sources {
 public:
  int32_t Add(std::string path, std::string text);
  const SourceFile& file(int32_t index) const { return *files_[static_cast<size_t>(index)]; }

 private:
  std::vector<std::shared_ptr<const SourceFile>> files_;
};

// The location of attribute `name` of the element at `element`; the element's own if it has none.
Location AttributeLocation(const Sources& sources, Location element, absl::string_view name);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SOURCE_H_
