#include "tools/query_rows.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/unicode.h"
#include "runtime/decode/sinks/text_sink.h"
#include "tools/json_line.h"

namespace packsmith::tools {
namespace {

const char* KindOf(const query::Row& row) { return row.is_draw ? "draw" : "dispatch"; }

class TextRows : public query::Rows {
 public:
  explicit TextRows(decode::Output& output) : output_(output) {}

  void OnRow(const query::Row& row) override {
    output_.Append(absl::StrCat(
        KindOf(row), " ", row.number, "  ", decode::Harmless(row.record), "  ",
        decode::Harmless(row.field), "  ", decode::Harmless(row.value),
        row.name.empty() ? "" : absl::StrCat(" (", decode::Harmless(row.name), ")"), "\n"));
  }
  void OnProblem(absl::string_view text) override {
    output_.Append(absl::StrCat("problem: ", decode::Harmless(text), "\n"));
  }

 private:
  decode::Output& output_;
};

// A cell, as RFC 4180 has it.
std::string Cell(absl::string_view text) {
  const std::string harmless = decode::Harmless(text);
  if (harmless.find_first_of(",\"\r\n") == std::string::npos) return harmless;
  return absl::StrCat("\"", absl::StrReplaceAll(harmless, {{"\"", "\"\""}}), "\"");
}

class CsvRows : public query::Rows {
 public:
  explicit CsvRows(decode::Output& output) : output_(output) {
    output_.Append("kind,number,submission,address,record,field,value,name\n");
  }

  void OnRow(const query::Row& row) override {
    output_.Append(absl::StrCat(KindOf(row), ",", row.number, ",", row.submission, ",0x",
                                absl::Hex(row.address), ",", Cell(row.record), ",", Cell(row.field),
                                ",", Cell(row.value), ",", Cell(row.name), "\n"));
  }
  void OnProblem(absl::string_view) override {}

 private:
  decode::Output& output_;
};

class JsonRows : public query::Rows {
 public:
  explicit JsonRows(decode::Output& output) : output_(output) {}

  void OnRow(const query::Row& row) override {
    JsonLine line;
    line.Text("type", "value").Number(KindOf(row), row.number);
    line.Number("submission", row.submission);
    line.Text("address", absl::StrFormat("0x%x", row.address));
    line.Text("record", row.record).Text("field", row.field).Text("value", row.value);
    if (!row.name.empty()) line.Text("enum", row.name);
    Put(line);
  }
  void OnProblem(absl::string_view text) override {
    Put(JsonLine().Text("type", "problem").Text("text", text));
  }

 private:
  void Put(JsonLine& line) { output_.Append(JsonWithHiddenEscaped(line.Take())); }

  decode::Output& output_;
};

}  // namespace

std::unique_ptr<query::Rows> MakeQueryRows(decode::Output& output, absl::string_view format) {
  if (format == "csv") return std::make_unique<CsvRows>(output);
  if (format == "jsonl") return std::make_unique<JsonRows>(output);
  return std::make_unique<TextRows>(output);
}

}  // namespace packsmith::tools
