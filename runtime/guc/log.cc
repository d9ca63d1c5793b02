#include "runtime/guc/log.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "packsmith/guc.h"
#include "packsmith/guc_codes.h"
#include "runtime/guc/messages.h"

namespace packsmith::guc {
namespace {

// Headers fill a page; sections follow.
constexpr uint64_t kHeaders = 4096;

template <class T>
T At(absl::Span<const uint8_t> bytes, size_t at) {
  uint32_t words[T::length] = {};
  if (at < bytes.size()) {
    std::memcpy(words, bytes.data() + at, std::min(sizeof(words), bytes.size() - at));
  }
  return T::unpack(words);
}

std::string KeyName(uint32_t key) {
  const absl::string_view name = NameOfValue("LOG_CONSTANT", "Key", key);
  return name.empty() ? absl::StrFormat("key 0x%x", key) : std::string(name);
}

void ReadConstants(absl::Span<const uint8_t> bytes, size_t at, Log& log) {
  const LOG_CONSTANTS head = At<LOG_CONSTANTS>(bytes, at);
  if (NameOfValue("LOG_CONSTANTS", "Magic", head.magic).empty()) return;
  at += LOG_CONSTANTS::length * 4;
  const size_t end = std::min<uint64_t>({bytes.size(), kHeaders, at + uint64_t{head.dwords} * 4});
  while (at + 4 <= end && log.constants.size() < kMostLogConstants) {
    const LOG_CONSTANT entry = At<LOG_CONSTANT>(bytes, at);
    at += LOG_CONSTANT::length * 4;
    const size_t words = entry.words;
    if (words > (end - at) / 4) return;
    LogConstant constant{KeyName(entry.key), {}};
    for (size_t i = 0; i < words; ++i, at += 4) {
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + at, 4);
      constant.words.push_back(word);
    }
    log.constants.push_back(std::move(constant));
  }
}

bool IsDescribed(absl::Span<const uint8_t> bytes) {
  if (bytes.size() < LFD_HEADER::length * 4) return false;
  const LFD_HEADER head = At<LFD_HEADER>(bytes, 0);
  return head.magic_low == GUC_LFD_MAGIC::LOW && head.magic_high == GUC_LFD_MAGIC::HIGH;
}

// Blocks, each with its size. The last one may be cut off: the kernel rounds its size up.
Log ReadDescribed(absl::Span<const uint8_t> bytes) {
  Log log;
  constexpr size_t kHead = LFD_BLOCK::length * 4;
  for (size_t at = LFD_HEADER::length * 4; at + kHead <= bytes.size();) {
    const LFD_BLOCK block = At<LFD_BLOCK>(bytes, at);
    if (block.tag != GUC_LFD_TAG::BLOCK) break;
    at += kHead;
    const uint64_t size = std::min<uint64_t>(uint64_t{block.dwords} * 4, bytes.size() - at);
    const absl::string_view known = NameOfValue("LFD_BLOCK", "Type", block.type);
    const std::string name =
        known.empty() ? absl::StrFormat("type 0x%x", block.type) : std::string(known);
    if (block.type == GUC_LFD_TYPE::EVENTS || block.type == GUC_LFD_TYPE::CRASH_DUMP) {
      if (log.sections.size() == kMostLogSections) break;
      LogSection& section = log.sections.emplace_back();
      section.name = name;
      section.offset = at;
      section.size = size;
      section.write = static_cast<uint32_t>(size);
    } else {
      if (log.constants.size() == kMostLogConstants) break;
      LogConstant& constant = log.constants.emplace_back();
      constant.name = name;
      constexpr size_t kMostWords = 8;  // others are texts and schemas
      for (size_t i = 0; i < std::min<size_t>(size / 4, kMostWords); ++i) {
        uint32_t word = 0;
        std::memcpy(&word, bytes.data() + at + i * 4, 4);
        constant.words.push_back(word);
      }
    }
    at += size;
  }
  return log;
}

}  // namespace

Log ReadLog(absl::Span<const uint8_t> bytes) {
  if (IsDescribed(bytes)) return ReadDescribed(bytes);
  Log log;
  size_t at = 0;
  uint64_t offset = kHeaders;
  constexpr size_t kState = LOG_BUFFER_STATE::length * 4;
  for (; at + kState <= std::min<uint64_t>(bytes.size(), kHeaders); at += kState) {
    const LOG_BUFFER_STATE state = At<LOG_BUFFER_STATE>(bytes, at);
    // Sections are told by their markers: drivers have named them in different orders.
    const absl::string_view name = NameOfValue("LOG_BUFFER_STATE", "Section", state.section);
    if (name.empty() || NameOfValue("LOG_BUFFER_STATE", "Marker", state.marker).empty()) break;
    LogSection section;
    section.name = std::string(name);
    section.offset = offset;
    section.size =
        offset < bytes.size() ? std::min<uint64_t>(state.section_size, bytes.size() - offset) : 0;
    section.read = state.read_pointer;
    section.write = state.write_pointer;
    section.times_full = state.times_full;
    section.version = state.version;
    offset += state.section_size;
    log.sections.push_back(std::move(section));
  }
  if (!log.sections.empty()) ReadConstants(bytes, at, log);
  return log;
}

}  // namespace packsmith::guc
