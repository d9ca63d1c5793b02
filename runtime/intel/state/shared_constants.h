// One packet for all stages with the same push constants, or without any: 3DSTATE_CONSTANT_ALL,
// which is also shorter for a single stage.
//
// A draw state keeps a packet for each stage, and combines them when it emits. Sources: BSpec,
// 3DSTATE_CONSTANT_ALL; Wa_16011448509: Gfx12 misinterprets some bits of addresses, so there the
// packet is only for stages without constants.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_SHARED_CONSTANTS_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_SHARED_CONSTANTS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/state_core.h"

namespace packsmith::intel {

template <class Gen>
class SharedConstants {
  using G = typename Gen::Packets;
  using All = typename G::_3DSTATE_CONSTANT_ALL;
  using Item = typename All::ps_item;

  static constexpr unsigned kStages = 5, kBuffers = 4;
  static constexpr bool kAddressesAreRead = !Gen::kFacts.wa_16011448509;

 public:
  // Calls f.template operator()<Packet>(which) for the packet of each stage; `which` is for Add().
  template <class F>
  static constexpr void EachStage(F f) {
    f.template operator()<typename G::_3DSTATE_CONSTANT_VS>(&All::vertex_shader_update_enable);
    f.template operator()<typename G::_3DSTATE_CONSTANT_HS>(&All::hull_shader_update_enable);
    f.template operator()<typename G::_3DSTATE_CONSTANT_DS>(&All::domain_shader_update_enable);
    f.template operator()<typename G::_3DSTATE_CONSTANT_GS>(&All::geometry_shader_update_enable);
    f.template operator()<typename G::_3DSTATE_CONSTANT_PS>(&All::pixel_shader_update_enable);
  }

  // Adds a stage's packet, with the addresses of its four buffers. False if it must be emitted
  // itself.
  template <class P>
  PACKSMITH_INLINE bool Add(bool All::*stage, const uint32_t* dwords,
                            const StateAddress* addresses) {
    const P packet = P::unpack(dwords);
    Constants& own = all_[count_];
    own.mocs = packet.mocs;
    own.buffers = 0;
    for (unsigned i = 0; i < kBuffers; ++i) {
      const uint32_t length = packet.constant_body.read_length[i];
      if (length == 0) continue;
      // 3DSTATE_CONSTANT_ALL has fewer bits for lengths than the packets of stages.
      if (!kAddressesAreRead || length > kLongest || UseOf(addresses[i]) != gpu::kReads)
        return false;
      own.buffer[own.buffers++] = {packet.constant_body.buffer[i].gpu, BufferOf(addresses[i]),
                                   length};
    }
    for (unsigned i = 0; i < count_; ++i) {
      if (!all_[i].SameAs(own)) continue;
      all_[i].stage[all_[i].stages++] = stage;
      return true;
    }
    own.stage[0] = stage;
    own.stages = 1;
    ++count_;
    dwords_ += All::dwords_needed(own.buffers);
    return true;
  }

  size_t dwords() const { return dwords_; }
  void EmitTo(typename Batch<Gen>::Group& group) const {
    for (unsigned i = 0; i < count_; ++i) {
      const Constants& constants = all_[i];
      Item items[kBuffers];
      for (unsigned b = 0; b < constants.buffers; ++b) {
        const Buffer& from = constants.buffer[b];
        items[b] = {.constant_buffer_read_length = from.length,
                    .pointer_to_constant_buffer = {from.gpu, from.buffer}};
      }
      All packet{.mocs = constants.mocs, .pointer_buffer_mask = (1u << constants.buffers) - 1};
      for (unsigned s = 0; s < constants.stages; ++s) packet.*constants.stage[s] = true;
      group.EmitItems(packet, span<const Item>(items, constants.buffers));
    }
  }

 private:
  struct Buffer {
    uint64_t gpu;
    uint32_t buffer;
    uint32_t length;

    friend bool operator==(const Buffer&, const Buffer&) = default;
  };
  // Not initialized: only written elements are read.
  struct Constants {
    uint32_t mocs;
    unsigned buffers, stages;
    Buffer buffer[kBuffers];
    bool All::*stage[kStages];

    // The caching policy does not matter if no memory is read.
    bool SameAs(const Constants& other) const {
      if (buffers != other.buffers) return false;
      for (unsigned i = 0; i < buffers; ++i) {
        if (!(buffer[i] == other.buffer[i])) return false;
      }
      return buffers == 0 || mocs == other.mocs;
    }
  };
  // The largest length that the field holds.
  static constexpr uint32_t kLongest = [] {
    uint32_t longest = 0;
    while (!Item{.constant_buffer_read_length = longest + 1}.check()) ++longest;
    return longest;
  }();

  Constants all_[kStages];
  unsigned count_ = 0;
  size_t dwords_ = 0;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_SHARED_CONSTANTS_H_
