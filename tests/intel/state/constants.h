// Push constants as stages see them, whichever packet has set them.
#ifndef PACKSMITH_TESTS_INTEL_STATE_CONSTANTS_H_
#define PACKSMITH_TESTS_INTEL_STATE_CONSTANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "packsmith/pack.h"
#include "tests/intel/batch/built.h"

namespace packsmith::intel {

// A stage's packet. (Gfx8's has no caching policy.)
template <class P>
P ConstantsPacket([[maybe_unused]] uint32_t mocs, const decltype(P::constant_body)& body) {
  P packet;
  packet.constant_body = body;
  if constexpr (requires { packet.mocs; }) packet.mocs = mocs;
  return packet;
}
template <class P>
uint32_t MocsOf([[maybe_unused]] const P& packet) {
  if constexpr (requires { packet.mocs; }) {
    return packet.mocs;
  } else {
    return 0;
  }
}

// The packets, but of those that set constants one for each stage, in words that are the same for
// 3DSTATE_CONSTANT_ALL and for a stage's own packet: how memory is cached, and for each buffer that
// is read, length and address.
template <class Gen>
std::vector<Met> ConstantsByStage(const std::vector<Met>& packets) {
  using G = typename Gen::Packets;
  const auto add = [](Met& to, uint32_t mocs, uint32_t length, const address& from) {
    if (length == 0) return;
    if (to.dwords.empty()) to.dwords.push_back(mocs);
    to.dwords.insert(to.dwords.end(), {length, static_cast<uint32_t>(from.gpu),
                                       static_cast<uint32_t>(from.gpu >> 32)});
  };
  std::vector<Met> seen;
  for (const Met& met : packets) {
    Met stage = met;
    stage.dwords.clear();
    if constexpr (requires { typename G::_3DSTATE_CONSTANT_ALL; }) {
      using All = typename G::_3DSTATE_CONSTANT_ALL;
      if (met.name == "3DSTATE_CONSTANT_ALL") {
        const All all = All::unpack(met.dwords.data());
        for (const auto& item :
             All::items(met.dwords.data(), static_cast<unsigned>(met.dwords.size()))) {
          add(stage, all.mocs, item.constant_buffer_read_length, item.pointer_to_constant_buffer);
        }
        const char* const names[] = {"VS", "HS", "DS", "GS", "PS"};
        for (unsigned i = 0; i < 5; ++i) {
          if ((all.shader_update_enable >> i & 1) == 0) continue;
          stage.name = std::string("3DSTATE_CONSTANT_") + names[i];
          seen.push_back(stage);
        }
        continue;
      }
    }
    if (met.name.rfind("3DSTATE_CONSTANT_", 0) == 0) {
      // Those of all stages are the same but for the opcode.
      using Constants = typename G::_3DSTATE_CONSTANT_VS;
      const Constants own = Constants::unpack(met.dwords.data());
      for (unsigned i = 0; i < 4; ++i) {
        add(stage, MocsOf(own), own.constant_body.read_length[i], own.constant_body.buffer[i]);
      }
      seen.push_back(stage);
    } else {
      seen.push_back(met);
    }
  }
  return seen;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_STATE_CONSTANTS_H_
