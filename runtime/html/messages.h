// The page's content as bytes: a sequence of messages, which page/read.js reads.
//
// A message is its kind (a byte), its length, and its parts. Numbers are written seven bits at a
// time, the lowest first; numbers of more than 32 bits as two such numbers, the low half first.
// Texts, enumerations, kinds of records, fields and shapes are each numbered from 0 in the order of
// their messages, and come before what refers to them.
#ifndef PACKSMITH_RUNTIME_HTML_MESSAGES_H_
#define PACKSMITH_RUNTIME_HTML_MESSAGES_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace packsmith::html {

enum class MessageKind : uint8_t {
  kText = 1,
  kEnum,
  kKind,
  kField,
  kShape,
  kRecord,
  kPicture,
  kFact,  // JSON: what is not a record
};

// The parts of a message.
class Message {
 public:
  void Number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void Wide(uint64_t value) {
    Number(value & 0xffffffffu);
    Number(value >> 32);
  }
  void Bytes(absl::string_view bytes) { bytes_.append(bytes.data(), bytes.size()); }
  // A text that is not numbered.
  void Inline(absl::string_view text) {
    Number(text.size());
    Bytes(text);
  }
  void Clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Messages, one after the other, and the numbers of texts.
class Messages {
 public:
  void Add(MessageKind kind, const Message& message);
  // The number of a text. Characters that a reader would not see are written as escapes: the page
  // shows what a dump or description named so, and does not obey it.
  uint32_t Text(absl::string_view text);
  // What was added since the last call.
  std::string Take() { return std::exchange(bytes_, {}); }
  size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
  absl::flat_hash_map<std::string, uint32_t> texts_;
};

}  // namespace packsmith::html

#endif  // PACKSMITH_RUNTIME_HTML_MESSAGES_H_
