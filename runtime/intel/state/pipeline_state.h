// State that is known when a pipeline is created: packed once, bound often.
//
//   PipelineState<Gfx9> pipeline;
//   pipeline.Add(gfx9::_3DSTATE_VS{…});
//   pipeline.AddPartial<&gfx9::_3DSTATE_RASTER::cull_mode,
//                       &gfx9::_3DSTATE_RASTER::front_winding>(gfx9::_3DSTATE_RASTER{…});
//   if (!pipeline.status().ok()) …
//   state.Bind(pipeline);
//
// The named members of a partial packet are dynamic: their values are those of
// DrawState::SetFields(), the others the pipeline's. Each pipeline chooses its dynamic members; the
// draw state also keeps values that the current pipeline does not use.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_PIPELINE_STATE_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_PIPELINE_STATE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packsmith/names.h"
#include "packsmith/pack.h"
#include "runtime/base/type_name.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/state/fields.h"
#include "runtime/intel/state/state_core.h"
#include "runtime/intel/state/state_layout.h"

namespace packsmith::intel {

template <class Gen>
class DrawState;

// Not thread-safe while packets are added; afterwards any number of draw states may bind it.
template <class Gen>
class PipelineState {
 public:
  PipelineState() { core_.number = PipelineCore::NewNumber(); }
  PipelineState(const PipelineState&) = delete;
  PipelineState& operator=(const PipelineState&) = delete;

  // The error of the first packet that could not be added.
  const absl::Status& status() const { return status_; }

  // Adds a packet without dynamic members. False if a value does not fit its field, or the pipeline
  // already has such a packet.
  template <class P>
  bool Add(const P& packet) {
    return AddPacket<P>(packet, {}, {});
  }
  // Adds a packet whose members `Dynamic` are dynamic.
  template <auto... Dynamic>
  bool AddPartial(const typename FieldBits<Dynamic...>::Packet& packet) {
    return AddPacket<typename FieldBits<Dynamic...>::Packet>(packet, {},
                                                             FieldBits<Dynamic...>::kMask);
  }
  // Adds a packet and its items.
  template <class P>
  bool AddItems(const P& packet, span<const typename P::ps_item> items) {
    const size_t dwords = P::dwords_needed(items.size());
    return AddSized<P>(
        dwords, [&](uint32_t* to) { return packet.pack(to, items); },
        [&](auto& note) {
          bits::addresses(packet, note);
          for (unsigned i = 0; i < items.size(); ++i) {
            bits::addresses(items[i], note, P::dwords_needed(i));
          }
        },
        {});
  }
  template <class P, unsigned N>
  bool AddItems(const P& packet, const typename P::ps_item (&items)[N]) {
    return AddItems<P>(packet, span<const typename P::ps_item>(items));
  }
  // Adds all packets of a kind of which there may be several.
  template <class P>
  bool AddEach(span<const P> packets) {
    return AddSized<P>(
        packets.size() * size_t{P::length},
        [&](uint32_t* to) {
          for (unsigned i = 0; i < packets.size(); ++i) {
            error e = packets[i].pack(to + i * size_t{P::length});
            if (e) return e.item = i, e;
          }
          return error();
        },
        [&](auto& note) {
          for (unsigned i = 0; i < packets.size(); ++i) {
            bits::addresses(packets[i], note, i * P::length);
          }
        },
        {});
  }
  template <class P, unsigned N>
  bool AddEach(const P (&packets)[N]) {
    return AddEach<P>(span<const P>(packets));
  }

 private:
  friend class DrawState<Gen>;
  using Layout = StateLayoutOf<Gen>;

  template <class P>
  bool AddPacket(const P& packet, int, MaskedDwords dynamic) {
    return AddSized<P>(
        P::length, [&](uint32_t* to) { return packet.pack(to); },
        [&](auto& note) { bits::addresses(packet, note); }, dynamic);
  }

  template <class P, class Pack, class Addresses>
  bool AddSized(size_t dwords, Pack pack, Addresses addresses, MaskedDwords dynamic) {
    constexpr unsigned kPacket = Layout::template IndexOf<P>();
    static_assert(kPacket != kNoPacket, "not a packet of the draw state: see groups.h");
    constexpr StatePacket kPlace = Layout::kMade.packets[kPacket];
    constexpr unsigned kBehind = Layout::kMade.places[kPlace.group].behind;
    const absl::string_view name = TypeNameIn(kPlace.function);
    for (const PipelinePacket& other : core_.packets) {
      if (other.packet == kPacket) {
        return Refuse(
            absl::AlreadyExistsError(absl::StrCat(name, ": the pipeline already has one")));
      }
    }
    if (dwords > kPlace.dwords) {
      return Refuse(absl::OutOfRangeError(
          absl::StrCat(name, " of ", dwords, " dwords; it must be at most ", kPlace.dwords)));
    }
    const size_t first = core_.dwords.size();
    core_.dwords.resize(first + dwords + kBehind);
    uint32_t* const to = core_.dwords.data() + first;
    if (const error e = pack(to)) {
      core_.dwords.resize(first);
      return Refuse(absl::InvalidArgumentError(absl::StrCat(name, ": ", to_text(e))));
    }
    WriteBehind<P>(to + dwords);
    for (const MaskedDword& bits : dynamic) to[bits.dword] &= ~bits.mask;
    const size_t first_address = core_.addresses.size();
    const auto note = [&](const address& a, unsigned dword, unsigned bit, unsigned width,
                          access how) {
      core_.addresses.push_back({a.gpu, a.buffer, gpu::UseOf(how), dword,
                                 static_cast<uint16_t>(bit), static_cast<uint16_t>(width)});
    };
    addresses(note);
    core_.packets.push_back(
        {kPacket, static_cast<uint32_t>(first), static_cast<uint32_t>(dwords + kBehind),
         static_cast<uint32_t>(first_address),
         static_cast<uint32_t>(core_.addresses.size() - first_address), dynamic});
    return true;
  }

  template <class P>
  static void WriteBehind(uint32_t* to) {
    Layout::template WriteBehind<P>(to);
  }

  bool Refuse(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  PipelineCore core_;
  absl::Status status_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_PIPELINE_STATE_H_
