// Messages between the driver and the GPU's firmware (GuC), read from the memory of their channel
// (CTB), which dumps of hangs have. The rings keep old messages until they are overwritten: page
// faults, memory errors and resets from before the dump can be read here without a kernel log.
//
//   for (const guc::Message& message : guc::ReadMessages(bytes)) {
//     if (message.Is(guc::GUC_ACTION::CONTEXT_RESET_NOTIFICATION)) {
//       const uint32_t queue = message.As<guc::CONTEXT_RESET_NOTIFICATION>().guc_id;
//     }
//   }
//
// What a message is comes from xml/intel/guc.xml.
#ifndef PACKSMITH_RUNTIME_GUC_MESSAGES_H_
#define PACKSMITH_RUNTIME_GUC_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "packsmith/guc_codes.h"
#include "runtime/tables/tables.h"

namespace packsmith::guc {

// More messages than this are not returned: a channel of 132 KiB has at most 16,896.
inline constexpr size_t kMostMessages = 1 << 16;

struct Message {
  bool from_guc = false;
  bool pending = false;  // between head and tail: the receiver has not read it
  uint32_t type = GUC_HXG_TYPE::REQUEST;
  uint32_t action = 0;  // of requests and events
  uint32_t fence = 0;
  size_t offset = 0;              // bytes from the start of the channel's memory
  std::vector<uint32_t> payload;  // dwords after the first one of the message

  // Whether it is a request or an event of that action.
  bool Is(uint32_t what) const;
  // The message as a structure of guc.xml, such as guc::REPORT_PAGE_FAULT_REQ_DESC
  // (packsmith/guc.h); dwords that it does not have are zeros.
  template <class T>
  T As() const {
    uint32_t words[T::length] = {};
    for (size_t i = 0; i < payload.size() && i < T::length; ++i) words[i] = payload[i];
    return T::unpack(words);
  }
};

// The decode tables of guc.xml.
const tables::Tables& Tables();

// The messages in the memory of a channel: two descriptors, then the ring to the firmware, then the
// one from it. Those to the firmware come first, each ring's in order from its oldest one that can
// be told; where old messages were partly overwritten, those that do not follow one another are
// left out. Any bytes are allowed; of what is no channel, nothing is returned.
std::vector<Message> ReadMessages(absl::Span<const uint8_t> channel);

// The messages of one direction that follow one another in `dwords` (bytes, little-endian), as
// Linux 6.8 to 6.12 print those that the receiver has not read: all of them are pending. Offsets
// count from the first one.
std::vector<Message> ReadPendingMessages(absl::Span<const uint8_t> dwords, bool from_guc);

// "CONTEXT_RESET_NOTIFICATION: GuC ID 5": the action, and the fields of the message that are not
// zero.
std::string InWords(const Message& message);

// The names of the fields of a structure of guc.xml that are set in its first dword: "Enabled,
// Banned". Bits without a field are left out.
std::string FlagsInWords(absl::string_view structure, uint32_t dword);

// The name that a field of a structure has for a value; empty: none.
absl::string_view NameOfValue(absl::string_view structure, absl::string_view field, uint64_t value);

// What a unit of the GPU is called that made an access; "unit 0x12" if it has no name.
std::string UnitName(uint32_t unit);

}  // namespace packsmith::guc

#endif  // PACKSMITH_RUNTIME_GUC_MESSAGES_H_
