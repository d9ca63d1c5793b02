// Text that is written once and kept: literal runs, and holes between them that are written anew
// for each record.
//
//   TemplateBuilder builder(out, kept);
//   builder.Literal([&] { out.Put("size "); });
//   builder.Hole(LineTemplate::Kind::kField, 0, kMostDigits, [&] { out.Decimal(size); });
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_LINE_TEMPLATE_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_LINE_TEMPLATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/plan.h"

namespace packsmith::decode {

// A field of a record, from ForEachShown().
struct ShownField {
  const PlannedField* field;
  uint64_t bit;
  uint64_t raw;
  int64_t index;
  uint32_t width;
  bool is_length;
};

struct LineTemplate {
  enum class Kind : uint8_t {
    kAddress,  // of the record
    kIndex,    // of the record in its table, if it has one
    kNumber,   // of the draw or dispatch
    kBuffer,   // that has the address
    kHidden,   // the number of omitted fields
    kField,    // that may vary
    kPointer,  // a field whose value is all that varies; its name is in the text before it
    kDwords,   // data that may vary
  };
  struct Hole {
    Kind kind;
    uint32_t record;  // of several, which one
    size_t text_end;  // of the text before it
    size_t indent;    // of the record
    // kField, kPointer: index in `fields`. kHidden: the record's first one, and their number.
    uint32_t field = 0, fields = 0;
    uint64_t zeros = 0;  // kHidden: the number of its other omitted fields
    size_t name = 0;     // kPointer: characters of the name, with padding
  };

  std::string text;
  size_t text_size = 0;  // the part of it that is used; more can be read
  std::vector<Hole> holes;
  std::vector<ShownField> fields;  // without their bits
  size_t room = 0;                 // for writing all of it

  void Clear() { *this = LineTemplate{}; }
  // Of the text before a hole, after the one before it.
  absl::string_view Before(size_t hole) const {
    const size_t begin = hole == 0 ? 0 : holes[hole - 1].text_end;
    const size_t end = hole < holes.size() ? holes[hole].text_end : text_size;
    return absl::string_view(text.data() + begin, end - begin);
  }
};

// Writes text, and keeps it in a template.
class TemplateBuilder {
 public:
  // Both must outlive this.
  TemplateBuilder(ChunkWriter& out, LineTemplate& kept) : out_(out), kept_(kept) {}

  LineTemplate& kept() { return kept_; }
  // Writes what is always the same.
  template <class Write>
  void Literal(const Write& write) {
    if (!whole_) return write();
    whole_ = out_.Written(write, kept_.text);
  }
  // Keeps a literal that the next hole writes itself this time.
  void Keep(absl::string_view text) {
    if (whole_) kept_.text.append(text.data(), text.size());
  }
  // Writes what is not. `room`: bytes that it may need. Returns the hole, valid until the next one.
  template <class Write>
  LineTemplate::Hole& Hole(LineTemplate::Kind kind, size_t indent, size_t room,
                           const Write& write) {
    write();
    kept_.holes.push_back({kind, record_, kept_.text.size(), indent});
    kept_.room += room + Texts::kReadable;
    return kept_.holes.back();
  }
  // The next of several records begins.
  void NextRecord() { ++record_; }

  // If the template is too long already, it is not continued.
  void Limit(size_t most_text, size_t most_room) {
    if (kept_.text.size() <= most_text && kept_.room <= most_room) return;
    whole_ = false;
    kept_.Clear();
  }
  // Ends the template. False: there is none, since the text was too long.
  bool Finish(size_t most_text, size_t most_room) {
    kept_.room += kept_.text.size() + 2 * Texts::kReadable;
    if (!whole_ || kept_.text.size() > most_text || kept_.room > most_room) return false;
    kept_.text_size = kept_.text.size();
    kept_.text.append(Texts::kReadable, ' ');
    return true;
  }

 private:
  ChunkWriter& out_;
  LineTemplate& kept_;
  uint32_t record_ = 0;
  bool whole_ = true;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_LINE_TEMPLATE_H_
