// The reference text of one generation: what gen/model/write/reference.h wrote into its tables.
#ifndef PACKSMITH_RUNTIME_DESCRIBE_REFERENCE_H_
#define PACKSMITH_RUNTIME_DESCRIBE_REFERENCE_H_

#include <rapidjson/document.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::describe {

using Json = rapidjson::Value;

// A line: one packet, structure, register, enumeration, stream, … or the generation itself.
struct Entry {
  std::string name;
  std::vector<std::string> aliases;
  absl::string_view kind;
  absl::string_view line;  // JSON
};

class Reference {
 public:
  // Decompresses the text. Errors: DataLoss if the tables have none that can be read.
  static absl::StatusOr<Reference> Open(const tables::Tables& tables);

  const tables::Tables& tables() const { return tables_; }
  absl::string_view generation() const { return tables_.generation(); }
  absl::string_view family() const { return tables_.family(); }
  // In the order of the description; the first is the generation.
  absl::Span<const Entry> entries() const { return entries_; }
  // By exact name; null if there is none.
  const Entry* Find(absl::string_view kind, absl::string_view name) const;

 private:
  explicit Reference(const tables::Tables& tables) : tables_(tables) {}

  tables::Tables tables_;
  std::vector<char> text_;  // moves with its contents in place: entries refer to them
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_name_;
};

// The object of a line. Open() has checked that it is one.
rapidjson::Document Parse(absl::string_view line);

// Members of objects; "", 0 or false if missing.
absl::string_view Text(const Json& object, const char* key);
uint64_t Number(const Json& object, const char* key);
bool Flag(const Json& object, const char* key);
// Empty if there is no such array.
absl::Span<const Json> Array(const Json& object, const char* key);

// First bit and width of a field, reserved run or group (for a group: of one item), from `bits`.
struct Place {
  uint32_t bit;
  uint32_t width;
};
Place PlaceOf(const Json& item);

}  // namespace packsmith::describe

#endif  // PACKSMITH_RUNTIME_DESCRIBE_REFERENCE_H_
