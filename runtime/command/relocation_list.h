// The words of a job that hold addresses, for kernels that move memory: Job::relocations.
//
//   RelocationList words(buffers);
//   gfx7::MI_STORE_DATA_IMM store{.address = {data.address, data.handle}, …};
//   uint32_t dwords[4];
//   if (const error e = store.pack(dwords)) return PackStatus("MI_STORE_DATA_IMM", e);
//   std::memcpy(batch.cpu + offset, dwords, sizeof(dwords));
//   absl::Status status = words.AddPacked(store, dwords, batch.handle, batch.address + offset);
//   …
//   device.Submit({…, .residents = residency.residents(), .relocations = words.all()});
//
// Devices that do not move memory (DeviceProperties::moves_memory) need no list. On those that do,
// offsets from a base address hold inside one piece of memory only: a StatePool must take one block
// for all its states, and the address of the base must be among the words.

#ifndef PACKSMITH_RUNTIME_COMMAND_RELOCATION_LIST_H_
#define PACKSMITH_RUNTIME_COMMAND_RELOCATION_LIST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/number_map.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Not thread-safe: one for each job. Buffers must not be released while it lists them.
class RelocationList {
 public:
  // `buffers` must outlive this.
  explicit RelocationList(const Buffers& buffers) : buffers_(buffers, lifetime_) {}

  // A dword at a GPU address in the buffer `in`.
  struct Word {
    uint64_t at = 0;
    BufferHandle in = 0;
    uint32_t value = 0;  // as it was written: the lower half of an address, with what shares it
    BufferHandle target = 0;  // the buffer that the address is of
    bool written = false;     // the GPU writes to the target through it
  };
  // NotFound if one of the two is not a buffer; OutOfRange if the dword is not in `in`.
  absl::Status Add(const Word& word);

  // The addresses of a packet or of a state that was packed to `dwords`, and is at the GPU address
  // `at` in the buffer `in`. Those without a buffer are left out. Errors as Add()'s; some may have
  // been added then.
  template <class P>
  absl::Status AddPacked(const P& packed, const uint32_t* dwords, BufferHandle in, uint64_t at) {
    absl::Status status;
    packed.for_each_address([&](const address& a, unsigned dword, unsigned, unsigned, access how) {
      if (a.buffer == 0 || !status.ok()) return;
      status = Add({.at = at + dword * uint64_t{4},
                    .in = in,
                    .value = dwords[dword],
                    .target = a.buffer,
                    .written = (UseOf(how) & kWrites) != 0});
    });
    return status;
  }
  // The addresses of a state at the GPU address `at` in the buffer `in`, as intel::StateUses has
  // noted them when the state was written. Errors as Add()'s; some may have been added then.
  template <class Uses>
  absl::Status AddState(const Uses& uses, BufferHandle in, uint64_t at) {
    for (size_t i = 0; i < uses.all().size(); ++i) {
      const auto& word = uses.words()[i];
      const absl::Status status = Add({.at = at + word.dword * uint64_t{4},
                                       .in = in,
                                       .value = word.value,
                                       .target = uses.all()[i].buffer,
                                       .written = uses.all()[i].writes()});
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  // What a batch with BatchOptions::relocations has recorded. After its End(). Reads the batch.
  template <class Batch>
  absl::Status AddBatch(const Batch& batch) {
    for (const auto& relocation : batch.relocations()) {
      const auto& chunk = batch.parts()[relocation.part].chunk;
      const absl::Status status = Add({.at = chunk.gpu + relocation.dword * uint64_t{4},
                                       .in = chunk.buffer,
                                       .value = chunk.words[relocation.dword],
                                       .target = relocation.buffer,
                                       .written = (relocation.flags & kWrites) != 0});
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // For Job::relocations; valid until the list changes.
  absl::Span<const Relocation> all() const { return all_; }
  // Memory is kept for later ones.
  void Clear();

 private:
  absl::StatusOr<Resident> ResidentOf(BufferHandle handle);

  Lifetime lifetime_{"relocation list"};
  const Reference<const Buffers> buffers_;
  // Those that were looked up, and their places by handle.
  std::vector<Resident> residents_;
  NumberMap places_;
  std::vector<Relocation> all_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_COMMAND_RELOCATION_LIST_H_
