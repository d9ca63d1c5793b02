#include "tests/model/marked_text.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packsmith::model {
namespace {

constexpr std::string_view kProblem = "§", kNote = "¤";

Place PlaceIn(const SourceFile& file, uint32_t offset) {
  const LineColumn at = file.Find(offset);
  return {file.path(), at.line, at.column, std::string(file.Line(at.line))};
}

template <class T>
const T* Named(const std::vector<Item>& items, const std::string& name) {
  std::vector<const std::vector<Item>*> open = {&items};
  while (!open.empty()) {
    const std::vector<Item>& list = *open.back();
    open.pop_back();
    for (const Item& item : list) {
      const T* const one = std::get_if<T>(&item);
      if (one != nullptr && one->name == name) return one;
      if (const Group* const group = item.group()) open.push_back(&group->items);
    }
  }
  ADD_FAILURE() << "there is no such field or group: " << name;
  static const T& none = *new T;
  return &none;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << place.file << ":" << place.line << ":" << place.column << ": " << place.source_line;
}

Marked TakeMarks(const Files& files) {
  Marked marked;
  for (const auto& [path, text] : files) {
    std::string plain;
    std::vector<uint32_t> problems, notes;
    for (size_t i = 0; i < text.size();) {
      const std::string_view rest = std::string_view(text).substr(i);
      if (rest.starts_with(kProblem)) {
        problems.push_back(static_cast<uint32_t>(plain.size()));
        i += kProblem.size();
      } else if (rest.starts_with(kNote)) {
        notes.push_back(static_cast<uint32_t>(plain.size()));
        i += kNote.size();
      } else {
        plain.push_back(text[i++]);
      }
    }
    const SourceFile file(path, plain);
    for (const uint32_t offset : problems) marked.problems.push_back(PlaceIn(file, offset));
    for (const uint32_t offset : notes) marked.notes.push_back(PlaceIn(file, offset));
    marked.files[path] = plain;
  }
  return marked;
}

std::string Described(const std::string& body) {
  return absl::StrCat(
      "<packsmith family=\"f\" generation=\"g\" unit=\"dword\">\n<stream name=\"s\"/>\n", body,
      "\n</packsmith>\n");
}

LoadResult LoadFiles(const Files& files) {
  return Load("main.xml", [&](const std::string& path) -> absl::StatusOr<std::string> {
    const auto it = files.find(path);
    if (it == files.end()) return absl::NotFoundError("there is no such file");
    return it->second;
  });
}

LoadResult LoadBody(const std::string& body) { return LoadFiles({{"main.xml", Described(body)}}); }

Place PlaceOf(const Sources& sources, Location where) {
  if (where.file < 0) return {};
  return PlaceIn(sources.file(where.file), where.offset);
}

std::vector<std::string> Summary(const LoadResult& result) {
  std::vector<std::string> all;
  for (const Diagnostic& d : result.diagnostics.all()) {
    if (d.code == Code::kNoDocumentation) continue;
    const Place at = PlaceOf(result.sources, d.where);
    all.push_back(absl::StrCat(CodeName(d.code), " ", at.file, ":", at.line, ":", at.column));
  }
  return all;
}

const Container& ContainerNamed(const LoadResult& result, const std::string& name) {
  static const Container& none = *new Container;
  for (const Container& c : result.model.containers) {
    if (c.name == name) return c;
  }
  ADD_FAILURE() << "there is no container " << name;
  return none;
}

const Field& FieldNamed(const std::vector<Item>& items, const std::string& name) {
  return *Named<Field>(items, name);
}

const Group& GroupNamed(const std::vector<Item>& items, const std::string& name) {
  return *Named<Group>(items, name);
}

}  // namespace packsmith::model
