#include "runtime/html/messages.h"

#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::html {

void Messages::Add(MessageKind kind, const Message& message) {
  bytes_ += static_cast<char>(kind);
  Message length;
  length.Number(message.bytes().size());
  bytes_ += length.bytes();
  bytes_ += message.bytes();
}

uint32_t Messages::Text(absl::string_view text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) return known->second;
  const auto number = static_cast<uint32_t>(texts_.size());
  texts_.emplace(std::string(text), number);
  Message message;
  message.Bytes(decode::Harmless(text));
  Add(MessageKind::kText, message);
  return number;
}

}  // namespace packsmith::html
