#include "runtime/source/program.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/dump/elf_core.h"
#include "runtime/source/places.h"
#include "runtime/source/record_writer.h"
#include "runtime/source/symbols.h"

namespace packsmith::source {
namespace {

constexpr size_t kZeros = 32;     // more are not written
constexpr size_t kFewDwords = 6;  // in the statement itself
constexpr size_t kDwordsOfLine = 6;
constexpr size_t kBytesOfLine = 16;

// A text for a comment of one line.
std::string Plain(absl::string_view text) {
  std::string plain;
  for (const char c : text) plain += absl::ascii_isprint(static_cast<unsigned char>(c)) ? c : '?';
  // A backslash at the end would continue the comment.
  while (!plain.empty() && plain.back() == '\\') plain.pop_back();
  return plain;
}

class Writer {
 public:
  Writer(const tables::Tables& tables, const Spelling& spelling, const packsmith::Dump& dump,
         const ProgramOptions& options)
      : spelling_(spelling),
        dump_(dump),
        options_(options),
        cpp_(options.language == Language::kCpp),
        symbols_(dump),
        places_(FindPlaces(tables, dump)),
        records_(tables, spelling, symbols_, options.language) {}

  Program Write();

 private:
  void Head();
  void Addresses();
  void Fill(const Symbols::Place& place, absl::Span<const uint8_t> bytes);
  void Raw(const Symbols::Place& place, absl::Span<const uint8_t> bytes, uint64_t begin,
           uint64_t end);
  void Chunk(const Symbols::Place& place, absl::Span<const uint8_t> bytes);
  void Seek(uint64_t offset);
  void Main();
  void Note(const CoreNote& note);
  std::string FillName(const Symbols::Place& place) const {
    return absl::StrCat("fill_", absl::string_view(place.name).substr(strlen("buffer_")));
  }

  const Spelling& spelling_;
  const packsmith::Dump& dump_;
  const ProgramOptions& options_;
  const bool cpp_;
  const Symbols symbols_;
  Places places_;
  RecordWriter records_;
  Program program_;
  std::string text_;
  size_t next_ = 0;   // of the entries
  uint64_t at_ = 0;   // where the program's buffer is
  std::string body_;  // of the buffer at hand
};

void Writer::Head() {
  const std::string& generation = spelling_.generation();
  absl::StrAppend(&text_, "// Made by unpack --format=", cpp_ ? "cpp" : "c",
                  options_.input.empty() ? "" : absl::StrCat(" of ", Plain(options_.input)), ".\n");
  text_ +=
      "// The program writes a GPU core dump with this memory and these submissions:\n"
      "//\n";
  text_ += cpp_ ? "//   g++ -std=c++20 -I PREFIX/include SOURCE -o program && ./program OUTPUT\n"
                : "//   gcc -std=c11 -I PREFIX/include SOURCE -o program && ./program OUTPUT\n";
  if (cpp_) {
    absl::StrAppend(&text_, "#include \"packsmith/", generation, ".h\"\n#include \"packsmith/",
                    generation, "_codes.h\"\n#include \"packsmith/rebuild.h\"\n\n");
    absl::StrAppend(&text_, "using namespace packsmith::", spelling_.name_space(),
                    ";\nusing packsmith::rebuild::buffer;\nusing packsmith::rebuild::items;\n\n");
    text_ += "namespace {\n\n";
  } else {
    text_ +=
        "#if !defined(NDEBUG) && !defined(PACKSMITH_CHECKED)\n"
        "#define NDEBUG  // else values are checked: the capture may have some that are refused\n"
        "#endif\n"
        "#define PACKSMITH_PREFIXED_VALUES\n";
    absl::StrAppend(&text_, "#include \"packsmith/c/", generation,
                    "_pack.h\"\n#include \"packsmith/c/", generation,
                    "_codes.h\"\n#include \"packsmith/rebuild.h\"\n\n");
  }
}

void Writer::Addresses() {
  text_ += "// Where buffers are. Pointers to them follow.\n";
  for (const Symbols::Place& place : symbols_.places()) {
    absl::StrAppend(&text_, cpp_ ? "constexpr uint64_t " : "static const uint64_t ", place.name,
                    " = ", Hex(place.address), ";\n");
  }
}

void Writer::Seek(uint64_t offset) {
  if (offset == at_) return;
  absl::StrAppend(&body_, cpp_ ? "  b.at(" : "  ps_at(b, ", Hex(offset), ");\n");
  at_ = offset;
}

// Bytes that are not described, without long zeros.
void Writer::Chunk(const Symbols::Place& place, absl::Span<const uint8_t> bytes) {
  if (bytes.size() >= options_.file_bytes) {
    const std::string name = absl::StrCat(absl::string_view(place.name).substr(strlen("buffer_")),
                                          "_", absl::Hex(at_), ".bin");
    absl::StrAppend(&body_, cpp_ ? "  b.file(" : "  ps_file(b, ", "\"", name, "\", ", bytes.size(),
                    ");\n");
    program_.files.push_back({name, {bytes.begin(), bytes.end()}});
    at_ += bytes.size();
    return;
  }
  const bool dwords = bytes.size() % 4 == 0;
  const size_t unit = dwords ? 4 : 1;
  const size_t count = bytes.size() / unit;
  const size_t of_line = dwords ? kDwordsOfLine : kBytesOfLine;
  std::string numbers;
  for (size_t i = 0; i < count; ++i) {
    uint32_t number = bytes[i * unit];
    if (dwords) std::memcpy(&number, bytes.data() + i * unit, 4);
    if (i != 0) numbers += i % of_line == 0 ? ",\n        " : ", ";
    absl::StrAppend(
        &numbers, "0x",
        dwords ? absl::Hex(number, absl::kZeroPad8) : absl::Hex(number, absl::kZeroPad2));
  }
  if (cpp_ && count <= kFewDwords) {
    absl::StrAppend(&body_, dwords ? "  b.dwords({" : "  b.bytes({", numbers, "});\n");
  } else {
    absl::StrAppend(&body_, "  {\n    static const ", dwords ? "uint32_t" : "uint8_t",
                    " data[] = {\n        ", numbers, "};\n    ",
                    cpp_ ? "b.data(data);" : "ps_bytes(b, data, sizeof data);", "\n  }\n");
  }
  at_ += bytes.size();
}

// Bytes [begin, end) of a buffer.
void Writer::Raw(const Symbols::Place& place, absl::Span<const uint8_t> bytes, uint64_t begin,
                 uint64_t end) {
  end = std::min<uint64_t>(end, bytes.size());
  auto name = places_.data.lower_bound({place.space, place.address + begin});
  while (begin < end) {
    // Data with a name begins a piece of its own.
    uint64_t piece = end;
    for (; name != places_.data.end(); ++name) {
      if (name->first.first != place.space || name->first.second - place.address >= end) break;
      if (name->first.second - place.address > begin) {
        piece = name->first.second - place.address;
        break;
      }
    }
    const auto here = places_.data.find({place.space, place.address + begin});
    bool named = here == places_.data.end();
    while (begin < piece) {
      // A chunk ends where kZeros zeros begin.
      const auto first = std::find_if(bytes.begin() + static_cast<ptrdiff_t>(begin),
                                      bytes.begin() + static_cast<ptrdiff_t>(piece),
                                      [](uint8_t byte) { return byte != 0; });
      uint64_t from = static_cast<uint64_t>(first - bytes.begin());
      if (from == piece) break;
      from -= from % 4 > from - begin ? from - begin : from % 4;
      uint64_t to = from, zeros = 0;
      for (; to < piece && zeros < kZeros; ++to) zeros = bytes[to] == 0 ? zeros + 1 : 0;
      to -= zeros;
      to = std::min(piece, to + (4 - (to - from) % 4) % 4);
      Seek(from);
      if (!named) absl::StrAppend(&body_, "  // ", Plain(here->second), "\n");
      named = true;
      Chunk(place, bytes.subspan(from, to - from));
      begin = to;
    }
    begin = piece;
  }
}

void Writer::Fill(const Symbols::Place& place, absl::Span<const uint8_t> bytes) {
  body_.clear();
  at_ = 0;
  uint64_t done = 0;
  const uint64_t last = place.address + (place.size - 1);
  for (; next_ < places_.entries.size(); ++next_) {
    const Places::Entry& entry = places_.entries[next_];
    if (std::pair(entry.space, entry.address) > std::pair(place.space, last)) break;
    if (entry.space != place.space || entry.address < place.address + done ||
        last - entry.address < entry.size - 1) {
      continue;
    }
    const uint64_t offset = entry.address - place.address;
    std::vector<uint8_t> content(entry.size);
    if (offset < bytes.size()) {
      const absl::Span<const uint8_t> there = bytes.subspan(offset, entry.size);
      std::copy(there.begin(), there.end(), content.begin());
    }
    const std::optional<std::string> statement =
        records_.Write({entry.space, entry.container, content, entry.targets});
    if (!statement) continue;
    Raw(place, bytes, done, offset);
    Seek(offset);
    body_ += *statement;
    done = at_ = offset + entry.size;
  }
  Raw(place, bytes, done, bytes.size());
  absl::StrAppend(&text_, "\n// ", Hex(place.size), " bytes in space ", place.space, "\n");
  if (cpp_) {
    absl::StrAppend(&text_, "void ", FillName(place), "(buffer", body_.empty() ? "" : " b", ") {\n",
                    body_, "}\n");
  } else {
    absl::StrAppend(&text_, "static void ", FillName(place), "(struct ps_buffer *b) {\n",
                    body_.empty() ? "  (void)b;\n" : body_, "}\n");
  }
}

// A string literal over several lines, with printf's directives for addresses that are in buffers.
void Writer::Note(const CoreNote& note) {
  std::string literal, line, arguments;
  const auto flush = [&] {
    absl::StrAppend(&literal, "\n          \"", line, "\"");
    line.clear();
  };
  const auto add = [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      absl::StrAppend(&line, "\\", absl::string_view(&c, 1));
    } else if (c == '%') {
      line += "%%";
    } else if (!absl::ascii_isprint(byte) || c == '?') {
      line += absl::StrFormat("\\%03o", byte);
    } else {
      line += c;
    }
    if (line.size() > 76) flush();
  };
  absl::string_view rest = note.json;
  std::string key;
  while (!rest.empty()) {
    // "key":"0x1000"
    const size_t end = rest[0] == '"' ? rest.find('"', 1) : absl::string_view::npos;
    const absl::string_view word = end == absl::string_view::npos ? "" : rest.substr(1, end - 1);
    uint64_t number = 0;
    const bool address =
        absl::EndsWith(key, "address") || absl::StartsWith(key, "base_") || key == "acthd";
    if (!word.empty() && word.find('\\') == absl::string_view::npos) {
      const bool is_key = rest.substr(end + 1, 1) == ":";
      std::string symbol;
      if (!is_key && address && absl::StartsWith(word, "0x") &&
          absl::SimpleHexAtoi(word, &number) && number != 0) {
        symbol = symbols_.Find(0, number);
      }
      if (!symbol.empty()) {
        line += "\\\"0x%llx\\\"";
        absl::StrAppend(&arguments, ",\n          (unsigned long long)(", symbol, ")");
        if (line.size() > 76) flush();
      } else {
        for (const char c : rest.substr(0, end + 1)) add(c);
      }
      key = is_key ? std::string(word) : std::string();
      rest.remove_prefix(end + 1);
      continue;
    }
    // A text with escapes ends where its quotes do: what is in it has no addresses.
    size_t skip = 1;
    if (rest[0] == '"') {
      while (skip < rest.size() && rest[skip] != '"') skip += rest[skip] == '\\' ? 2 : 1;
      skip = std::min(skip + 1, rest.size());
      key.clear();
    }
    for (const char c : rest.substr(0, skip)) add(c);
    rest.remove_prefix(skip);
  }
  if (!line.empty() || literal.empty()) flush();
  absl::StrAppend(&text_, "  ps_note(&capture, ", Hex(note.type), ",", literal, arguments, ");\n");
}

void Writer::Main() {
  text_ += cpp_ ? "\n}  // namespace\n\nint main(int argc, char** argv) {\n"
                : "\nint main(int argc, char **argv) {\n";
  text_ += cpp_ ? "  ps_capture capture = {};\n" : "  struct ps_capture capture = {0};\n";
  absl::StrAppend(&text_, "  capture.machine = ", CoreMachine(dump_.device), ";\n");
  if (!program_.files.empty()) {
    text_ += "  ps_files_beside(&capture, argc, argv, __FILE__, \"";
    for (const char c : options_.folder) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\' || c == '?' || !absl::ascii_isprint(byte)) {
        text_ += absl::StrFormat("\\%03o", byte);
      } else {
        text_ += c;
      }
    }
    text_ += "\");\n";
  }
  for (const CoreNote& note : CoreNotes(dump_)) Note(note);
  for (const Symbols::Place& place : symbols_.places()) {
    const std::string add = absl::StrCat("ps_add(&capture, ", place.space, ", ", place.name, ", ",
                                         Hex(place.size), ")");
    absl::StrAppend(&text_, "  ", FillName(place), "(",
                    cpp_ ? absl::StrCat("buffer(", add, ")") : add, ");\n");
  }
  text_ += "  return ps_main(&capture, argc, argv);\n}\n";
}

Program Writer::Write() {
  Head();
  Addresses();
  auto place = symbols_.places().begin();
  for (const Memory::Segment& mapped : dump_.memory.segments()) {
    const Memory::Segment& segment = dump_.memory.Resolve(mapped);
    if (segment.memory_size == 0) continue;
    Fill(*place++, segment.bytes);
  }
  Main();
  program_.text = std::move(text_);
  return std::move(program_);
}

}  // namespace

Program WriteProgram(const tables::Tables& tables, const Spelling& spelling, const Dump& dump,
                     const ProgramOptions& options) {
  return Writer(tables, spelling, dump, options).Write();
}

}  // namespace packsmith::source
