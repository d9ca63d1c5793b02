#include "runtime/decode/text/field_json.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::decode {
namespace {

// A chunk writer that hands its text to a string, for pieces that are written once.
class Escaped : public Output {
 public:
  explicit Escaped(std::string& to) : to_(to) {}
  void Append(absl::string_view text) override { to_.append(text.data(), text.size()); }

 private:
  std::string& to_;
};

// The text for between the quotes of a JSON string.
std::string InQuotes(absl::string_view text) {
  std::string quoted;
  {
    Escaped escaped(quoted);
    ChunkWriter out(escaped);
    JsonWriter(out).String(text);
  }
  return quoted.substr(1, quoted.size() - 2);
}

class JsonStyle : public FieldStyle {
 public:
  void Name(const PlannedField& field, absl::string_view name, std::string& to) const override {
    MovingName(name, to);
    absl::StrAppend(&to, field.bit + field.width - 1, ",", field.bit, "],\"value\":");
  }
  void MovingName(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "{\"name\":\"", InQuotes(name), "\",\"bits\":[");
  }
  void BeforeIndex(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "{\"name\":\"", InQuotes(name), "[");
  }
  void AfterIndex(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "]", InQuotes(name), "\",\"bits\":[");
  }
  void ValueName(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, ",\"enum\":\"", InQuotes(name), "\"");
  }
  void Unit(absl::string_view, std::string&) const override {}
};

}  // namespace

void PutJsonBits(uint64_t bit, uint64_t width, ChunkWriter& out) {
  out.Put("\"bits\":[");
  out.Decimal(bit + width - 1);
  out.Put(',');
  out.Decimal(bit);
  out.Put(']');
}

void FieldJson::Begin(const tables::Tables& tables) {
  tables_ = &tables;
  plans_ = std::make_unique<Plans>(tables, std::make_unique<JsonStyle>());
}

void FieldJson::Put(const Record& record) {
  if (record.shape == 0) return PutAll(record);
  if (const ShapeTemplate* const known = shapes_.Find(record, 0)) return Fill(known->lines, record);
  Learn(record);
}

void FieldJson::PutAll(const Record& record) {
  bool first = true;
  ForEachShown(*tables_, *plans_, record.view(),
               [&](const PlannedFields& fields, size_t i, uint64_t bit, uint32_t width,
                   uint64_t raw, int64_t index) {
                 const PlannedField& field = fields.fields[i];
                 if (!first) out_.Put(',');
                 first = false;
                 PutName(field, bit, width, index);
                 PutValue(field, width, raw);
                 out_.Put('}');
               });
}

void FieldJson::Fill(const LineTemplate& lines, const Record& record) {
  for (size_t i = 0; i < lines.holes.size(); ++i) {
    out_.Put(lines.Before(i));
    const ShownField& field = lines.fields[i];
    PutValue(*field.field, field.width, ReadBits(record.bytes, field.bit, field.width));
  }
  out_.Put(lines.Before(lines.holes.size()));
}

void FieldJson::Learn(const Record& record) {
  shown_.clear();
  ForEachShown(*tables_, *plans_, record.view(),
               [&](const PlannedFields& fields, size_t i, uint64_t bit, uint32_t width,
                   uint64_t raw, int64_t index) {
                 shown_.push_back({&fields.fields[i], bit, raw, index, width, false});
               });
  ShapeTemplate& made = shapes_.Learn(record, 0, shown_);
  TemplateBuilder builder(out_, made.lines);
  for (size_t i = 0; i < shown_.size(); ++i) {
    const ShownField& shown = shown_[i];
    builder.Literal([&] {
      if (i != 0) out_.Put(',');
      PutName(*shown.field, shown.bit, shown.width, shown.index);
    });
    const auto write_value = [&] { PutValue(*shown.field, shown.width, shown.raw); };
    if (made.varies[i]) {
      builder.Hole(LineTemplate::Kind::kField, 0, 0, write_value);
      made.lines.fields.push_back(shown);
    } else {
      builder.Literal(write_value);
    }
    builder.Literal([&] { out_.Put('}'); });
  }
  const bool whole = builder.Finish(ShapeTemplates::kMostText, ShapeTemplates::kMostRoom);
  if (!whole) shapes_.Drop(made);
}

void FieldJson::PutName(const PlannedField& field, uint64_t bit, uint32_t width, int64_t index) {
  if (!field.moves && width != field.width) {
    // A packet's short form has only some of its bits.
    out_.Put(absl::StrCat("{\"name\":\"", InQuotes(tables_->string(field.leaf->name)),
                          InQuotes(tables_->string(field.leaf->name_suffix)), "\","));
    PutJsonBits(bit, width, out_);
    out_.Put(",\"value\":");
    return;
  }
  out_.Put(field.name);
  if (!field.moves) return;
  if (index >= 0) {
    out_.Decimal(static_cast<uint64_t>(index));
    out_.Put(field.after_index);
  }
  out_.Decimal(bit + width - 1);
  out_.Put(',');
  out_.Decimal(bit);
  out_.Put("],\"value\":");
}

void FieldJson::PutValue(const PlannedField& field, uint32_t width, uint64_t raw) {
  uint64_t number = raw;
  switch (field.form) {
    case ValueForm::kBool:
      out_.Put(absl::string_view(raw != 0 ? "true" : "false"));
      break;
    case ValueForm::kUnsigned:
      number = raw << field.shift;
      out_.Decimal(number);
      break;
    case ValueForm::kAddress:
      number = raw << field.shift;
      json_.Hex(number);
      break;
    case ValueForm::kOther:
      return PutOther(field, width, raw);
  }
  if (field.names != nullptr) out_.Put(field.names->Find(number));
}

void FieldJson::PutOther(const PlannedField& field, uint32_t width, uint64_t raw) {
  const Value value = DecodeValue(*tables_, *field.leaf, width, raw);
  switch (value.kind) {
    case ValueKind::kBool:
      out_.Put(absl::string_view(value.unsigned_value != 0 ? "true" : "false"));
      break;
    case ValueKind::kUnsigned:
      out_.Decimal(value.unsigned_value);
      break;
    case ValueKind::kSigned:
      if (width > 32) {
        json_.Hex(raw);
      } else {
        out_.SignedDecimal(value.signed_value);
      }
      break;
    case ValueKind::kWide:
    case ValueKind::kAddress:
      json_.Hex(value.unsigned_value);
      break;
    case ValueKind::kReal:
      if (std::isfinite(value.real)) {
        json_.Real(value.real);
      } else {
        out_.Put("null");
      }
      break;
  }
  if (field.names != nullptr) out_.Put(field.names->Find(NumberOf(value, raw)));
  if (value.needs_raw) json_.MemberHex("raw", raw);
}

}  // namespace packsmith::decode
