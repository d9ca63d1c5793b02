#include "runtime/encode/assembler.h"

#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/base/closest.h"
#include "runtime/encode/encoder.h"
#include "runtime/encode/expression.h"

namespace packsmith::encode {
namespace {

using tables::kNone;

constexpr int kMostPasses = 10;
constexpr int kDeepestInclude = 16;
constexpr uint64_t kMostText = uint64_t{1} << 28;  // of all files, each time that one is included

bool IsOperator(const TextCursor& cursor) {
  const char c = cursor.peek();
  if (c == '/' && cursor.peek(1) == '/') return false;
  return c != '\0' && absl::string_view("+-*/%<>&|^(").find(c) != absl::string_view::npos;
}

// "1.5", "-2e3", "inf": numbers that are not whole. The cursor stays where it is if there is none.
bool ReadReal(TextCursor& cursor, double& value) {
  const size_t begin = cursor.offset();
  const bool negative = cursor.peek() == '-';
  if (negative) cursor.Advance();
  std::string digits;
  bool is_real = false;
  if (cursor.peek() == 'i' && cursor.peek(1) == 'n' && cursor.peek(2) == 'f' &&
      !IsWordChar(cursor.peek(3))) {
    digits = "inf";
    is_real = true;
    cursor.Advance(3);
  } else if (absl::ascii_isdigit(static_cast<unsigned char>(cursor.peek()))) {
    while (true) {
      const char c = cursor.peek();
      const bool exponent = c == 'e' || c == 'E';
      if (c == '.' || exponent) is_real = true;
      if (!absl::ascii_isdigit(static_cast<unsigned char>(c)) && c != '.' && !exponent) break;
      digits += c;
      cursor.Advance();
      if (exponent && (cursor.peek() == '-' || cursor.peek() == '+')) {
        if (cursor.peek() == '-') digits += '-';
        cursor.Advance();
      }
    }
  }
  const char* const end = digits.data() + digits.size();
  if (is_real && !IsWordChar(cursor.peek()) &&
      std::from_chars(digits.data(), end, value).ptr == end) {
    if (negative) value = -value;
    return true;
  }
  cursor.Seek(begin);
  return false;
}

class Assembler {
 public:
  Assembler(const Source& source, const FindTables& find_tables, const AssemblerOptions& options)
      : source_(source), find_tables_(find_tables), options_(options) {
    find_symbol_ = [this](absl::string_view name, size_t offset, bool& defined) {
      const Symbol* const symbol = Lookup(name);
      defined = symbol != nullptr;
      if (defined) return symbol->value;
      undefined_.emplace_back(std::string(name), offset);
      return uint64_t{0};
    };
  }

  absl::StatusOr<Packed> Run() {
    for (const auto& [name, value] : options_.symbols) {
      symbols_[name] = {.value = value, .pass = 0, .fixed = true};
    }
    for (pass_ = 1;; ++pass_) {
      Pass();
      if (stopped_ || !MustRepeat()) break;
      if (pass_ == kMostPasses) {
        problems_.Add(source_, 0, "labels have no stable addresses: sizes depend on them");
        break;
      }
    }
    if (problems_.any()) return problems_.status();
    if (!has_device_ && tables_) {
      packed_.device.family = std::string(tables_->family());
      packed_.device.generation = std::string(tables_->generation());
    }
    for (const uint32_t index : unsized_) {
      Submission& submission = packed_.submissions[index];
      submission.batch_length = packed_.image.SizeFrom(submission.space, submission.batch_address);
    }
    return std::move(packed_);
  }

 private:
  struct Symbol {
    uint64_t value = 0;
    int pass = 0;  // the last one that has defined it
    bool fixed = false;
  };

  const Symbol* Lookup(absl::string_view name) const {
    const auto at = symbols_.find(name);
    return at == symbols_.end() ? nullptr : &at->second;
  }

  // Whether a label was used before its address was known.
  bool MustRepeat() const {
    if (moved_) return true;
    for (const std::string& name : awaited_) {
      if (Lookup(name) != nullptr) return true;
    }
    return false;
  }

  void Pass() {
    packed_ = {};
    packed_.image = Image(options_.most_bytes);
    problems_.Clear();
    unsized_.clear();
    awaited_.clear();
    moved_ = false;
    space_ = 0;
    at_ = options_.address;
    read_ = 0;
    if (tables_) packed_.tables = tables_;
    if (!options_.generation.empty() && !UseGeneration(options_.generation)) {
      problems_.Add(source_, 0, message_);
      stopped_ = true;
      return;
    }
    Text(source_, 0);
  }

  bool UseGeneration(absl::string_view name) {
    if (tables_ && tables_->generation() == name) return true;
    absl::StatusOr<tables::Tables> found = find_tables_(name);
    if (!found.ok()) {
      message_ = std::string(found.status().message());
      return false;
    }
    if (tables_ && tables_->generation() != found->generation()) {
      message_ = absl::StrCat("the generation is ", tables_->generation(),
                              " already; one dump has one GPU");
      return false;
    }
    if (!tables_) {
      tables_ = *found;
      encoder_ = std::make_unique<Encoder>(*tables_);
    }
    packed_.tables = tables_;
    return true;
  }

  void Text(const Source& source, int depth) {
    read_ += source.text.size();
    TextCursor cursor(source.text);
    const Source* const outer = current_;
    current_ = &source;
    while (!stopped_) {
      cursor.SkipLines();
      if (cursor.at_end()) break;
      in_braces_ = false;
      bool good = Statement(cursor, depth);
      if (good) {
        cursor.SkipBlanks();
        if (!cursor.AtEndOfLine()) {
          good = cursor.Fail("the line should end here; fields are written NAME=VALUE");
        }
      }
      if (!good) {
        if (cursor.failed()) problems_.Add(source, cursor.error_offset(), cursor.error());
        cursor.ForgetError();
        if (in_braces_) {
          const size_t brace = source.text.find('}', cursor.offset());
          cursor.Seek(brace == absl::string_view::npos ? source.text.size() : brace);
        }
        cursor.SkipToEndOfLine();
      }
    }
    current_ = outer;
  }

  bool Statement(TextCursor& cursor, int depth) {
    const size_t begin = cursor.offset();
    if (cursor.peek() == '.') return Directive(cursor, depth);
    absl::string_view name;
    if (cursor.peek() == '"') {
      if (!cursor.Quoted(name)) return false;
      return Record(cursor, name, begin);
    }
    name = cursor.Word();
    if (name.empty()) {
      return cursor.Fail("a packet, a structure, a label or a directive is expected here");
    }
    if (cursor.peek() == ':') {
      if (!Define(cursor, name, begin, at_)) return false;
      cursor.Advance();
      cursor.SkipBlanks();
      return cursor.AtEndOfLine() || Statement(cursor, depth);
    }
    const size_t after = cursor.offset();
    cursor.SkipBlanks();
    if (cursor.peek() == '=') {
      cursor.Advance();
      uint64_t value = 0;
      return Number(cursor, value) && Define(cursor, name, begin, value);
    }
    cursor.Seek(after);
    return Record(cursor, name, begin);
  }

  bool Define(TextCursor& cursor, absl::string_view name, size_t offset, uint64_t value) {
    if (absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) {
      return cursor.Fail(offset, "a label must not begin with a digit");
    }
    if (name == "true" || name == "false" || name == "raw" || name == "lo" || name == "hi" ||
        name == "inf") {
      return cursor.Fail(offset, absl::StrCat("\"", name, "\" has a meaning of its own"));
    }
    const auto [at, inserted] = symbols_.try_emplace(std::string(name));
    Symbol& symbol = at->second;
    if (symbol.fixed) return true;
    if (symbol.pass == pass_) {
      return cursor.Fail(offset, absl::StrCat("\"", name, "\" is defined already"));
    }
    if (!inserted && symbol.value != value) moved_ = true;
    symbol.value = value;
    symbol.pass = pass_;
    return true;
  }

  // An expression whose symbols must be known by the last pass.
  bool Number(TextCursor& cursor, uint64_t& value, bool* negative = nullptr) {
    cursor.SkipBlanks();
    undefined_.clear();
    Evaluated result;
    const size_t begin = cursor.offset();
    if (!ReadExpression(cursor, find_symbol_, at_, result)) return false;
    for (const auto& [name, offset] : undefined_) {
      awaited_.insert(name);
      problems_.Add(*current_, offset,
                    absl::StrCat("\"", name, "\" is not defined", Similar(name)));
    }
    value = result.value;
    if (negative != nullptr) {
      *negative = result.negative;
    } else if (result.negative) {
      return cursor.Fail(begin, "the number is less than zero");
    }
    return true;
  }

  std::string Similar(absl::string_view name) const {
    if (problems_.count() >= Problems::kMost) return "";
    Closest closest(name);
    for (const auto& [known, symbol] : symbols_) {
      (void)symbol;
      closest.Offer(known);
    }
    return DidYouMean(closest);
  }

  // The value of a field.
  bool Value(TextCursor& cursor, Given& given) {
    cursor.SkipBlanks();
    if (cursor.peek() == '"') {
      absl::string_view name;
      if (!cursor.Quoted(name)) return false;
      given = Given::Name(name);
      return true;
    }
    double real = 0;
    if (ReadReal(cursor, real)) {
      given = Given::Real(real);
      return true;
    }
    const size_t begin = cursor.offset();
    const absl::string_view word = cursor.Word();
    const size_t after = cursor.offset();
    if (word == "raw" && cursor.peek() == '(') {
      cursor.Advance();
      uint64_t bits = 0;
      if (!Number(cursor, bits)) return false;
      cursor.SkipBlanks();
      if (cursor.peek() != ')') return cursor.Fail(") is expected here");
      cursor.Advance();
      given = Given::Raw(bits);
      return true;
    }
    cursor.SkipBlanks();
    const bool alone = !word.empty() && !IsOperator(cursor) && cursor.peek() != '.';
    std::optional<uint64_t> number;
    if (alone && (word == "true" || word == "false")) {
      given = Given::Bool(word == "true");
    } else if (alone && !ParseInteger(word, number)) {
      given = Given::Name(word);
      if (const Symbol* const symbol = Lookup(word)) {
        given.otherwise = symbol->value;
      } else {
        awaited_.insert(std::string(word));
      }
    } else {
      cursor.Seek(begin);
      bool negative = false;
      uint64_t value = 0;
      if (!Number(cursor, value, &negative)) return false;
      given = {.kind = Given::Kind::kInteger, .negative = negative, .integer = value};
      return true;
    }
    cursor.Seek(after);
    return true;
  }

  // "DW3[31:0]", "DW3[4]", "DW3"
  static bool IsBits(absl::string_view name, BitRange& range) {
    if (name.size() < 3 || (name.substr(0, 2) != "DW" && name.substr(0, 2) != "dw")) return false;
    name.remove_prefix(2);
    const size_t open = name.find('[');
    uint32_t dword = 0, high = 31, low = 0;
    if (!absl::ascii_isdigit(static_cast<unsigned char>(name[0])) ||
        !absl::SimpleAtoi(name.substr(0, open), &dword) || dword >= kMostRecordBytes / 4) {
      return false;
    }
    if (open != absl::string_view::npos) {
      if (name.back() != ']') return false;
      const absl::string_view bits = name.substr(open + 1, name.size() - open - 2);
      const size_t colon = bits.find(':');
      if (!absl::SimpleAtoi(bits.substr(0, colon), &high)) return false;
      low = high;
      if (colon != absl::string_view::npos && !absl::SimpleAtoi(bits.substr(colon + 1), &low)) {
        return false;
      }
    }
    if (high < low || high - low >= 64 || high > 95) return false;
    range = {uint64_t{dword} * 32 + low, high - low + 1};
    return true;
  }

  static bool OpensBrace(TextCursor& cursor) {
    cursor.SkipBlanks();
    return cursor.peek() == '{';
  }

  bool Record(TextCursor& cursor, absl::string_view name, size_t begin) {
    if (encoder_ == nullptr) {
      stopped_ = true;
      return cursor.Fail(begin, "the generation is not known: .gen NAME comes first, or --gen");
    }
    EncodeRequest request;
    request.container = encoder_->Find(name);
    if (request.container == kNone) {
      // As far as its fields go.
      in_braces_ = OpensBrace(cursor);
      return cursor.Fail(begin, encoder_->UnknownContainer(name));
    }
    fields_.clear();
    offsets_.clear();
    while (true) {
      if (in_braces_) {
        cursor.SkipLines();
      } else {
        cursor.SkipBlanks();
      }
      const char c = cursor.peek();
      if (c == '{' && !in_braces_ && fields_.empty()) {
        in_braces_ = true;
        cursor.Advance();
        continue;
      }
      if (c == '}' && in_braces_) {
        cursor.Advance();
        break;
      }
      if (c == ',' && !fields_.empty()) {
        cursor.Advance();
        continue;
      }
      if (cursor.at_end() && in_braces_) return cursor.Fail("} is missing");
      if (cursor.AtEndOfLine()) break;
      if (!FieldOf(cursor)) return false;
    }
    request.fields = fields_;
    found_.clear();
    const bool done = encoder_->Encode(request, bytes_, found_);
    for (FieldProblem& problem : found_) {
      problems_.Add(*current_, problem.field == kNone ? begin : offsets_[problem.field],
                    std::move(problem.text));
    }
    // Labels that follow keep their places if only a value is wrong, or not known yet.
    if (!done) {
      at_ += bytes_.size();
      return true;
    }
    return Put(cursor, begin, bytes_);
  }

  bool FieldOf(TextCursor& cursor) {
    const size_t begin = cursor.offset();
    Field field;
    const bool quoted = cursor.peek() == '"';
    if (quoted) {
      if (!cursor.Quoted(field.name)) return false;
    } else {
      field.name = cursor.Word(".[]:-");
      if (field.name.empty()) return cursor.Fail("the name of a field is expected here");
    }
    cursor.SkipBlanks();
    if (cursor.peek() != '=') {
      return cursor.Fail(absl::StrCat("= is expected after \"", field.name,
                                      "\"; names with spaces are written in quotes, or with _"));
    }
    cursor.Advance();
    BitRange range;
    if (!quoted && IsBits(field.name, range)) {
      uint64_t bits = 0;
      if (!Number(cursor, bits)) return false;
      field.name = {};
      field.at = range;
      field.value = Given::Raw(bits);
    } else if (!Value(cursor, field.value)) {
      return false;
    }
    fields_.push_back(field);
    offsets_.push_back(begin);
    return true;
  }

  bool Put(TextCursor& cursor, size_t begin, absl::Span<const uint8_t> bytes) {
    return Done(cursor, begin, packed_.image.Put(space_, at_, bytes), bytes.size());
  }

  bool Done(TextCursor& cursor, size_t begin, const absl::Status& status, uint64_t size) {
    at_ += size;
    if (status.ok()) return true;
    stopped_ = absl::IsResourceExhausted(status);
    return cursor.Fail(begin, std::string(status.message()));
  }

  bool Zeros(TextCursor& cursor, size_t begin, uint64_t size) {
    return Done(cursor, begin, packed_.image.PutZeros(space_, at_, size), size);
  }

  // A word or quoted text.
  bool Name(TextCursor& cursor, absl::string_view& text) {
    cursor.SkipBlanks();
    if (cursor.peek() == '"') return cursor.Quoted(text);
    text = cursor.Word(".-+");
    return !text.empty() || cursor.Fail("a name is expected here");
  }

  bool Directive(TextCursor& cursor, int depth) {
    const size_t begin = cursor.offset();
    cursor.Advance();
    const absl::string_view name = cursor.Word();
    if (name == "dword") return Integers(cursor, begin, 4);
    if (name == "byte") return Integers(cursor, begin, 1);
    if (name == "word") return Integers(cursor, begin, 2);
    if (name == "qword") return Integers(cursor, begin, 8);
    if (name == "float") return Floats(cursor, begin);
    if (name == "string") return StringBytes(cursor, begin);
    if (name == "org") return Number(cursor, at_);
    if (name == "zero" || name == "skip" || name == "align") return Gap(cursor, name, begin);
    if (name == "space") return Space(cursor);
    if (name == "include" || name == "file") return File(cursor, name == "include", depth);
    if (name == "gen") {
      absl::string_view generation;
      cursor.SkipBlanks();
      const size_t at = cursor.offset();
      if (!Name(cursor, generation)) return false;
      if (UseGeneration(generation)) return true;
      stopped_ = true;
      return cursor.Fail(at, message_);
    }
    if (name == "device") return DeviceLine(cursor);
    if (name == "submission") return SubmissionLine(cursor);
    if (name == "buffer") return BufferLine(cursor);
    if (name == "memory") return MemoryLine(cursor);
    static constexpr absl::string_view kNames[] = {
        "align",  "buffer", "byte",  "device", "dword", "file",       "float",  "gen",  "include",
        "memory", "org",    "qword", "skip",   "space", "submission", "string", "word", "zero"};
    return cursor.Fail(begin,
                       absl::StrCat("there is no directive .", name, DidYouMean(name, kNames)));
  }

  bool Integers(TextCursor& cursor, size_t begin, size_t size) {
    bytes_.clear();
    cursor.SkipBlanks();
    while (!cursor.AtEndOfLine()) {
      uint64_t value = 0;
      bool negative = false;
      const size_t at = cursor.offset();
      if (!Number(cursor, value, &negative)) return false;
      const uint64_t above = size == 8 ? 0 : value >> 8 * size;
      const uint64_t most = size == 8 ? 0 : ~uint64_t{0} >> 8 * size;
      if (above != 0 && !(negative && above == most)) {
        return cursor.Fail(at, absl::StrCat("the number does not fit into ", 8 * size, " bits"));
      }
      for (size_t i = 0; i < size; ++i) bytes_.push_back(static_cast<uint8_t>(value >> 8 * i));
      NextOfList(cursor);
    }
    return Put(cursor, begin, bytes_);
  }

  static void NextOfList(TextCursor& cursor) {
    cursor.SkipBlanks();
    if (cursor.peek() != ',') return;
    cursor.Advance();
    cursor.SkipBlanks();
  }

  bool Floats(TextCursor& cursor, size_t begin) {
    bytes_.clear();
    cursor.SkipBlanks();
    while (!cursor.AtEndOfLine()) {
      double real = 0;
      if (!ReadReal(cursor, real)) {
        uint64_t value = 0;
        bool negative = false;
        if (!Number(cursor, value, &negative)) return false;
        real = negative ? static_cast<double>(static_cast<int64_t>(value))
                        : static_cast<double>(value);
      }
      const auto single = static_cast<float>(real);
      uint32_t bits = 0;
      std::memcpy(&bits, &single, sizeof(bits));
      for (int shift = 0; shift < 32; shift += 8) {
        bytes_.push_back(static_cast<uint8_t>(bits >> shift));
      }
      NextOfList(cursor);
    }
    return Put(cursor, begin, bytes_);
  }

  bool StringBytes(TextCursor& cursor, size_t begin) {
    absl::string_view text;
    cursor.SkipBlanks();
    if (cursor.peek() != '"') return cursor.Fail("a text in quotes is expected here");
    if (!cursor.Quoted(text)) return false;
    return Put(cursor, begin,
               absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  }

  bool Gap(TextCursor& cursor, absl::string_view name, size_t begin) {
    uint64_t size = 0;
    if (!Number(cursor, size)) return false;
    if (name == "skip") {
      at_ += size;
      return true;
    }
    if (name == "align") {
      if (size == 0) return cursor.Fail(begin, "an alignment of 0 is impossible");
      size = (size - at_ % size) % size;
    }
    return Zeros(cursor, begin, size);
  }

  bool Space(TextCursor& cursor) {
    cursor.SkipBlanks();
    const size_t begin = cursor.offset();
    if (cursor.peek() == '"' && tables_) {
      absl::string_view name;
      if (!cursor.Quoted(name)) return false;
      for (const tables::Space& space : tables_->spaces()) {
        if (tables_->string(space.name) != name) continue;
        space_ = space.number;
        return true;
      }
      return cursor.Fail(begin,
                         absl::StrCat(tables_->generation(), " has no space \"", name, "\""));
    }
    return Number32(cursor, space_);
  }

  bool Number32(TextCursor& cursor, uint32_t& value) {
    cursor.SkipBlanks();
    const size_t begin = cursor.offset();
    uint64_t wide = 0;
    if (!Number(cursor, wide)) return false;
    value = static_cast<uint32_t>(wide);
    return wide == value || cursor.Fail(begin, "the number has more than 32 bits");
  }

  bool File(TextCursor& cursor, bool include, int depth) {
    cursor.SkipBlanks();
    const size_t begin = cursor.offset();
    absl::string_view path;
    if (cursor.peek() != '"') return cursor.Fail("a path in quotes is expected here");
    if (!cursor.Quoted(path)) return false;
    if (depth >= kDeepestInclude) return cursor.Fail(begin, "files include each other too deeply");
    if (!options_.read_file) return cursor.Fail(begin, "files cannot be read here");
    const auto key = std::make_pair(current_->name, std::string(path));
    std::unique_ptr<ReadFile>& file = files_[key];
    if (file == nullptr) {
      absl::StatusOr<ReadFile> read = options_.read_file(key.second, key.first);
      if (!read.ok()) {
        stopped_ = true;
        return cursor.Fail(begin, std::string(read.status().message()));
      }
      file = std::make_unique<ReadFile>(*std::move(read));
    }
    if (read_ + file->text.size() > kMostText) {
      stopped_ = true;
      return cursor.Fail(
          begin, absl::StrCat("the text with all files has more than ", kMostText, " bytes"));
    }
    if (!include) {
      read_ += file->text.size();
      return Put(cursor, begin,
                 absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(file->text.data()),
                                     file->text.size()));
    }
    std::unique_ptr<Source>& source = sources_[key];
    if (source == nullptr) source = std::make_unique<Source>(Source{file->name, file->text});
    Text(*source, depth + 1);
    in_braces_ = false;
    return true;
  }

  // NAME=VALUE up to the end of the line; `set` reads the value.
  template <class Set>
  bool Attributes(TextCursor& cursor, absl::string_view directive, const Set& set) {
    cursor.SkipBlanks();
    while (!cursor.AtEndOfLine()) {
      const size_t begin = cursor.offset();
      const bool quoted = cursor.peek() == '"';
      absl::string_view key;
      if (!Name(cursor, key)) return false;
      cursor.SkipBlanks();
      if (cursor.peek() != '=') return cursor.Fail("= is expected here");
      cursor.Advance();
      cursor.SkipBlanks();
      bool known = true;
      if (!set(key, quoted, known)) return false;
      if (!known) {
        return cursor.Fail(begin, absl::StrCat(".", directive, " has no \"", key, "\""));
      }
      NextOfList(cursor);
    }
    return true;
  }

  bool TextOf(TextCursor& cursor, std::string& text) {
    absl::string_view view;
    if (!Name(cursor, view)) return false;
    text = std::string(view);
    return true;
  }
  bool Truth(TextCursor& cursor, bool& truth) {
    absl::string_view word;
    if (!Name(cursor, word)) return false;
    truth = word == "true";
    return truth || word == "false" || cursor.Fail("true or false is expected here");
  }

  bool DeviceLine(TextCursor& cursor) {
    Device& d = packed_.device;
    has_device_ = true;
    return Attributes(cursor, "device", [&](absl::string_view key, bool, bool& known) {
      if (key == "family") return TextOf(cursor, d.family);
      if (key == "generation") return TextOf(cursor, d.generation);
      if (key == "platform") return TextOf(cursor, d.platform);
      if (key == "driver") return TextOf(cursor, d.driver);
      if (key == "uapi") return TextOf(cursor, d.uapi);
      if (key == "pci_id") return Number32(cursor, d.pci_id.emplace());
      if (key == "chip_id") return Number32(cursor, d.chip_id.emplace());
      if (key == "verx10") {
        uint32_t number = 0;
        if (!Number32(cursor, number)) return false;
        d.verx10 = static_cast<int>(number & 0x7fffffff);
        return true;
      }
      return known = false, true;
    });
  }

  bool SubmissionLine(TextCursor& cursor) {
    Submission s;
    s.space = space_;
    s.batch_address = at_;
    s.index = static_cast<uint32_t>(packed_.submissions.size());
    bool has_length = false, has_engine = false;
    const bool good =
        Attributes(cursor, "submission", [&](absl::string_view key, bool quoted, bool& known) {
          if (quoted) {
            return Number(cursor, s.bases.emplace_back(Submission::Base{std::string(key)}).address);
          }
          if (key == "index") return Number32(cursor, s.index);
          if (key == "engine") {
            has_engine = true;
            return TextOf(cursor, s.engine);
          }
          if (key == "stream") return TextOf(cursor, s.stream);
          if (key == "kind") return TextOf(cursor, s.kind);
          if (key == "context") return Number32(cursor, s.context);
          if (key == "slot") return Number32(cursor, s.slot);
          if (key == "space") return Number32(cursor, s.space);
          if (key == "own_space") return Number32(cursor, s.own_space.emplace());
          if (key == "address") return Number(cursor, s.batch_address);
          if (key == "length") {
            has_length = true;
            return Number(cursor, s.batch_length);
          }
          if (key == "head") return Number(cursor, s.head.emplace());
          if (key == "tail") return Number(cursor, s.tail.emplace());
          if (key == "acthd") return Number(cursor, s.acthd.emplace());
          if (key == "ipehr") return Number32(cursor, s.ipehr.emplace());
          if (key == "ring_address" || key == "ring_size") {
            if (!s.ring) s.ring = Submission::Ring{};
            return Number(cursor, key == "ring_size" ? s.ring->size : s.ring->address);
          }
          if (key == "unless_reached") return Truth(cursor, s.unless_reached);
          return known = false, true;
        });
    if (!good) return false;
    if (!has_length) unsized_.push_back(static_cast<uint32_t>(packed_.submissions.size()));
    if (!has_engine && tables_ && !tables_->engines().empty()) {
      s.engine = std::string(tables_->string(tables_->engines()[0].name));
    }
    packed_.submissions.push_back(std::move(s));
    return true;
  }

  bool BufferLine(TextCursor& cursor) {
    Buffer b;
    b.space = space_;
    b.address = at_;
    const bool good = Attributes(cursor, "buffer", [&](absl::string_view key, bool, bool& known) {
      if (key == "space") return Number32(cursor, b.space);
      if (key == "address") return Number(cursor, b.address);
      if (key == "size") return Number(cursor, b.size);
      if (key == "name") return TextOf(cursor, b.name);
      return known = false, true;
    });
    if (good) packed_.buffers.push_back(std::move(b));
    return good;
  }

  bool MemoryLine(TextCursor& cursor) {
    return Attributes(cursor, "memory", [&](absl::string_view key, bool, bool& known) {
      if (key == "complete") return Truth(cursor, packed_.memory_is_complete);
      if (key == "physical_space") return Number32(cursor, packed_.physical_space.emplace());
      return known = false, true;
    });
  }

  const Source& source_;
  const FindTables& find_tables_;
  const AssemblerOptions& options_;
  std::optional<tables::Tables> tables_;
  std::unique_ptr<Encoder> encoder_;
  std::string message_;
  FindSymbol find_symbol_;
  absl::flat_hash_map<std::string, Symbol> symbols_;
  // By the name of the text that names it, and its path.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ReadFile>> files_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Source>> sources_;

  // Of the pass at hand.
  int pass_ = 0;
  bool stopped_ = false;
  bool has_device_ = false;
  bool moved_ = false;  // a label has another value than in the pass before
  Packed packed_;
  Problems problems_;
  absl::flat_hash_set<std::string> awaited_;  // used without having a value
  std::vector<uint32_t> unsized_;             // submissions
  uint32_t space_ = 0;
  uint64_t at_ = 0;
  uint64_t read_ = 0;
  const Source* current_ = nullptr;
  // Of the statement at hand.
  bool in_braces_ = false;
  std::vector<std::pair<std::string, size_t>> undefined_;
  std::vector<Field> fields_;
  std::vector<size_t> offsets_;
  std::vector<uint8_t> bytes_;
  std::vector<FieldProblem> found_;
};

}  // namespace

absl::StatusOr<Packed> Assemble(const Source& source, const FindTables& find_tables,
                                const AssemblerOptions& options) {
  return Assembler(source, find_tables, options).Run();
}

}  // namespace packsmith::encode
