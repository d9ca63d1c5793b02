// Descriptions in tests: texts in which marks show where a problem is expected.
#ifndef PACKSMITH_TESTS_MODEL_MARKED_TEXT_H_
#define PACKSMITH_TESTS_MODEL_MARKED_TEXT_H_

#include <map>
#include <string>
#include <vector>

#include "gen/model/diagnostic.h"
#include "gen/model/load.h"

namespace packsmith::model {

// A place as a person counts it.
struct Place {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string source_line;

  bool operator==(const Place&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Place& place);

// Paths and texts. "§" marks the place of a problem, "¤" the place of a note; both are taken out
// before the text is parsed.
using Files = std::map<std::string, std::string>;

struct Marked {
  Files files;  // without marks
  std::vector<Place> problems;
  std::vector<Place> notes;
};
Marked TakeMarks(const Files& files);

// `body` in a root element with one stream, "s".
std::string Described(const std::string& body);

// Loads "main.xml" of `files`; every other file can be extended.
LoadResult LoadFiles(const Files& files);
LoadResult LoadBody(const std::string& body);

Place PlaceOf(const Sources& sources, Location where);

// "E011 main.xml:3:5" for each problem that is no W101, in order.
std::vector<std::string> Summary(const LoadResult& result);

// The first container of that name; the test fails and gets an empty one if there is none.
const Container& ContainerNamed(const LoadResult& result, const std::string& name);
// The field or group of that name, at the top level of `items` or inside groups; the test fails
// and gets an empty one if there is none.
const Field& FieldNamed(const std::vector<Item>& items, const std::string& name);
const Group& GroupNamed(const std::vector<Item>& items, const std::string& name);

}  // namespace packsmith::model

#endif  // PACKSMITH_TESTS_MODEL_MARKED_TEXT_H_
