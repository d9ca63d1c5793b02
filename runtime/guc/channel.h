// The memory of a channel between the driver and the GPU's firmware (CTB), to which messages are
// written one by one: for what imitates a kernel, or its dumps.
//
//   guc::Channel channel;
//   if (!channel.FromGuc(GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {guc_id})) return;
//   channel.bytes();
//
// A message with a value that does not fit its field is not written: methods return false.
#ifndef PACKSMITH_RUNTIME_GUC_CHANNEL_H_
#define PACKSMITH_RUNTIME_GUC_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "packsmith/guc.h"
#include "packsmith/guc_codes.h"

namespace packsmith::guc {

// Dwords from the start of the memory to each ring, and the size of all of it, as xe makes it.
inline constexpr size_t kToGuc = 0x1000 / 4, kFromGuc = 0x2000 / 4, kChannel = 0x22000 / 4;

class Channel {
 public:
  Channel() : words_(kChannel) {}

  // `at`: dwords from the start of the ring; becomes where the next message goes.
  [[nodiscard]] bool Put(bool from_guc, size_t& at, uint32_t type, uint32_t action,
                         const std::vector<uint32_t>& payload) {
    const size_t start = from_guc ? kFromGuc : kToGuc;
    const size_t size = from_guc ? kChannel - kFromGuc : kFromGuc - kToGuc;
    std::vector<uint32_t> message(2);
    if (!Pack(
            CTB_MESSAGE{.dwords = static_cast<uint32_t>(payload.size()) + 1, .fence = next_fence_},
            &message[0]) ||
        !Pack(HXG_MESSAGE{.action = action, .type = type, .from_guc = from_guc}, &message[1])) {
      return false;
    }
    ++next_fence_;
    message.insert(message.end(), payload.begin(), payload.end());
    for (const uint32_t word : message) words_[start + at++ % size] = word;
    at %= size;
    return true;
  }
  [[nodiscard]] bool Descriptor(bool from_guc, size_t head, size_t tail) {
    return Pack(
        CTB_DESCRIPTOR{.head = static_cast<uint32_t>(head), .tail = static_cast<uint32_t>(tail)},
        &words_[from_guc ? 0x800 / 4 : 0]);
  }

  // After those that were sent before, and read by the receiver: events of the firmware, requests
  // of the driver.
  [[nodiscard]] bool FromGuc(uint32_t action, const std::vector<uint32_t>& payload) {
    return Put(true, from_guc_, GUC_HXG_TYPE::EVENT, action, payload) &&
           Descriptor(true, from_guc_, from_guc_);
  }
  [[nodiscard]] bool ToGuc(uint32_t action, const std::vector<uint32_t>& payload) {
    return Put(false, to_guc_, GUC_HXG_TYPE::FAST_REQUEST, action, payload) &&
           Descriptor(false, to_guc_, to_guc_);
  }
  // A message as a structure of the description, such as guc::REPORT_PAGE_FAULT_REQ_DESC. Empty: a
  // value does not fit.
  template <class T>
  static std::optional<std::vector<uint32_t>> Payload(const T& message) {
    std::vector<uint32_t> words(T::length);
    if (!Pack(message, words.data())) return std::nullopt;
    return words;
  }

  std::vector<uint32_t>& words() { return words_; }
  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> bytes(words_.size() * 4);
    std::memcpy(bytes.data(), words_.data(), bytes.size());
    return bytes;
  }

 private:
  template <class T>
  static bool Pack(const T& message, uint32_t* to) {
    const packsmith::error wrong = message.pack(to);
    return !wrong;
  }

  std::vector<uint32_t> words_;
  uint16_t next_fence_ = 0;  // begins anew, as the kernel's does
  size_t to_guc_ = 0, from_guc_ = 0;
};

}  // namespace packsmith::guc

#endif  // PACKSMITH_RUNTIME_GUC_CHANNEL_H_
