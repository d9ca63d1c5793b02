// AUB packets made by hand, word by word, so that tests do not depend on the writer.

#ifndef PACKSMITH_TESTS_DUMP_AUB_BUILDER_H_
#define PACKSMITH_TESTS_DUMP_AUB_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace packsmith {

inline std::string Word(uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

inline std::string WordsOf(const std::vector<uint32_t>& words) {
  std::string out;
  for (const uint32_t word : words) out += Word(word);
  return out;
}

inline std::string Long(uint64_t value) {
  return Word(static_cast<uint32_t>(value)) + Word(static_cast<uint32_t>(value >> 32));
}

inline std::string PaddedToWords(std::string data) {
  data.resize((data.size() + 3) / 4 * 4);
  return data;
}

// A packet of the memory trace family: `rest` follows the first word.
inline std::string TracePacket(uint32_t operation, const std::string& rest) {
  return Word(0xf7000000 | operation << 16 | static_cast<uint32_t>(rest.size() / 4)) + rest;
}

// `device`: bits 15:8 of the second word.
inline std::string TraceVersion(const std::string& text, uint32_t device = 0) {
  return TracePacket(0x0e, WordsOf({1, device << 8, 0, 0}) + PaddedToWords(text));
}
inline std::string TraceWrite(uint32_t space, uint64_t address, const std::string& data,
                              uint32_t flags = 0) {
  return TracePacket(0x06, Long(address) + Word(space << 28 | flags) +
                               Word(static_cast<uint32_t>(data.size())) + PaddedToWords(data));
}
inline std::string TraceRegister(uint32_t offset, uint32_t value) {
  return TracePacket(0x03, WordsOf({offset, 2u << 16, 0xffffffff, 0, value}));
}
// Writes whose addresses are in one packet.
inline std::string TraceWrites(uint32_t space,
                               const std::vector<std::pair<uint64_t, std::string>>& writes) {
  std::string rest = Word(space << 28 | static_cast<uint32_t>(writes.size()) << 4), data;
  for (size_t i = 0; i < 63; ++i) {
    const bool is = i < writes.size();
    rest += Long(is ? writes[i].first : 0) +
            Word(is ? static_cast<uint32_t>(writes[i].second.size()) : 0);
    if (is) data += writes[i].second;
  }
  return TracePacket(0x0b, rest + PaddedToWords(data));
}

inline std::string ClassicHeader(const std::string& comment) {
  const std::string text = PaddedToWords(comment);
  const auto words = static_cast<uint32_t>(13 + text.size() / 4);
  return Word(0xe0850000 | (words - 2)) + Word(4u << 24) + std::string(40, '\0') +
         Word(static_cast<uint32_t>(text.size())) + text;
}
// `what`: 1 data, 2 command.
inline std::string ClassicBlock(uint32_t what, uint32_t type, uint32_t space, uint32_t address,
                                const std::string& data) {
  return WordsOf({0xe0c10003, space << 16 | type << 8 | what, 0, address,
                  static_cast<uint32_t>(data.size())}) +
         PaddedToWords(data);
}

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_DUMP_AUB_BUILDER_H_
