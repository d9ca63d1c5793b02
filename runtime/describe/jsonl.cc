#include "runtime/describe/jsonl.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "runtime/describe/sentences.h"

namespace packsmith::describe {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void String(Writer& writer, absl::string_view text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

// A list for each sentence: texts, and objects for what they name.
void Sentences(Writer& writer, const std::vector<Sentence>& sentences) {
  if (sentences.empty()) return;
  writer.Key("sentences");
  writer.StartArray();
  for (const Sentence& sentence : sentences) {
    writer.StartArray();
    for (const Piece& piece : sentence) {
      if (piece.kind.empty()) {
        String(writer, piece.text);
        continue;
      }
      writer.StartObject();
      writer.Key("kind");
      String(writer, piece.kind);
      writer.Key("name");
      String(writer, piece.text);
      writer.EndObject();
    }
    writer.EndArray();
  }
  writer.EndArray();
}

void Key(Writer& writer, const Json& key) { writer.Key(key.GetString(), key.GetStringLength()); }

// Fields, reserved runs and groups, with the sentences about fields.
void Items(Writer& writer, const Json& items) {
  writer.StartArray();
  for (const Json& item : items.GetArray()) {
    writer.StartObject();
    for (const auto& [key, value] : item.GetObject()) {
      Key(writer, key);
      if (key == "items") {
        Items(writer, value);
      } else {
        value.Accept(writer);
      }
    }
    if (item.HasMember("type")) {
      if (const std::string facts = FieldFacts(item); !facts.empty()) {
        writer.Key("facts");
        String(writer, facts);
      }
      Sentences(writer, FieldSentences(item));
    }
    writer.EndObject();
  }
  writer.EndArray();
}

// Writes the members of a record, after those that precede it.
void Members(Writer& writer, const Json& record) {
  for (const auto& [key, value] : record.GetObject()) {
    Key(writer, key);
    if (key == "fields") {
      Items(writer, value);
    } else {
      value.Accept(writer);
    }
  }
  Sentences(writer, ContainerSentences(record));
}

}  // namespace

std::string DescriptionJsonl(const History& history, absl::string_view generation) {
  std::string lines;
  for (const Version& version : history.versions) {
    const auto& names = version.generations;
    if (!generation.empty() && std::find(names.begin(), names.end(), generation) == names.end()) {
      continue;
    }
    rapidjson::StringBuffer buffer;
    Writer writer(buffer);
    writer.StartObject();
    writer.Key("type");
    writer.String("description");
    writer.Key("generations");
    writer.StartArray();
    for (const absl::string_view name : names) String(writer, name);
    writer.EndArray();
    if (!version.changes.empty()) {
      writer.Key("changes");
      writer.StartArray();
      for (const Change& change : version.changes) {
        writer.StartObject();
        writer.Key("what");
        String(writer, change.what);
        const auto text = [&writer](const char* key, const std::string& value) {
          if (value.empty()) return;
          writer.Key(key);
          String(writer, value);
        };
        text("field", change.field);
        text("from", change.from);
        text("to", change.to);
        writer.EndObject();
      }
      writer.EndArray();
    }
    Members(writer, version.record);
    writer.EndObject();
    lines.append(buffer.GetString(), buffer.GetSize());
    lines += '\n';
  }
  return lines;
}

std::string ListJsonl(absl::Span<const Reference> references) {
  std::string lines;
  for (const Reference& reference : references) {
    rapidjson::StringBuffer buffer;
    Writer writer(buffer);
    writer.StartObject();
    writer.Key("type");
    writer.String("generation");
    Members(writer, Parse(reference.entries()[0].line));
    std::map<absl::string_view, unsigned> counts;
    for (const Entry& entry : reference.entries()) ++counts[entry.kind];
    writer.Key("counts");
    writer.StartObject();
    for (const auto& [kind, count] : counts) {
      if (kind == "generation") continue;
      writer.Key(kind.data(), static_cast<rapidjson::SizeType>(kind.size()));
      writer.Uint(count);
    }
    writer.EndObject();
    writer.EndObject();
    lines.append(buffer.GetString(), buffer.GetSize());
    lines += '\n';
  }
  return lines;
}

}  // namespace packsmith::describe
