// Builds PPP records: the state of the primitive processing pipeline, in memory that a block of the
// VDM's control stream points to.
//
//   PPP_Header header{.w_clamp = true, .w_clamp_state = {.w_clamp = 1e-10f}, …};
//   GpuMemory memory = …;                                   // of header.bytes_needed() bytes
//   absl::StatusOr<PPP_State> block = WritePpp<G13>(memory, uses, header);
//   vdm.Emit(*block, draw);
//
// The header gives a record's length; its parts are in the order of the description, however the
// caller orders them. State that changes at different times is packed once, as PppRecord, and
// merged for each draw.

#ifndef PACKSMITH_RUNTIME_AGX_PPP_H_
#define PACKSMITH_RUNTIME_AGX_PPP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/agx/gpu_memory.h"
#include "runtime/agx/merge_records.h"
#include "runtime/command/buffer_uses.h"

namespace packsmith::agx {

// The longest record that a PPP State can point to, in bytes.
template <class Gen>
constexpr uint32_t MostPppBytes() {
  using Block = typename Gen::PPP_State;
  uint32_t words = 0;
  while (!Block{.size_words = words * 2 + 1}.check()) words = words * 2 + 1;
  return words * 4;
}

// The number of addresses in a record that has all parts.
template <class Record>
constexpr size_t AddressesIn() {
  uint8_t ones[Record::size];
  for (uint8_t& byte : ones) byte = 0xff;
  size_t addresses = 0;
  Record::unpack(ones).for_each_address(
      [&](const address&, unsigned, unsigned, unsigned, access) { ++addresses; });
  return addresses;
}

// A record that is packed before its place is known.
template <class Gen>
class PppRecord {
 public:
  using Header = typename Gen::PPP_Header;

  // InvalidArgument, with the member's name, if a value does not fit.
  static absl::StatusOr<PppRecord> Of(const Header& header,
                                      span<const typename Gen::Region_clip> clips = {},
                                      span<const typename Gen::Viewport> viewports = {}) {
    PppRecord record;
    const error e =
        header.pack({record.bytes_.data(), static_cast<unsigned>(kMost)}, clips, viewports);
    if (e) return PackStatus(e, "PPP record");
    record.size_ = header.bytes_needed();
    header.for_each_address([&](const address& a, unsigned, unsigned, unsigned, access how) {
      if (a.buffer != 0 && record.use_count_ < record.uses_.size()) {
        record.uses_[record.use_count_++] = {a.buffer, gpu::UseOf(how)};
      }
    });
    return record;
  }

  absl::Span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }
  // The buffers that its addresses point to.
  absl::Span<const gpu::BufferUse> uses() const { return {uses_.data(), use_count_}; }

 private:
  static constexpr uint32_t kMost = MostPppBytes<Gen>();

  PppRecord() = default;

  std::array<uint8_t, kMost> bytes_;
  uint32_t size_ = 0;
  std::array<gpu::BufferUse, AddressesIn<Header>()> uses_;
  size_t use_count_ = 0;
};

// The block that passes a record of `bytes` at `record` to the PPP.
template <class Gen>
absl::StatusOr<typename Gen::PPP_State> PppBlock(const address& record, size_t bytes) {
  const typename Gen::PPP_State block{.pointer_hi = High(record),
                                      .size_words = static_cast<uint32_t>((bytes + 3) / 4),
                                      .pointer_lo = Low(record)};
  if (const error e = block.check()) {
    return PackStatus(e, absl::StrFormat("PPP record of %d bytes at %#x", bytes, record.gpu));
  }
  return block;
}

// Packs a record to the beginning of `to`. Nothing is written if there is an error:
// ResourceExhausted if `to` is too small, InvalidArgument if a value does not fit.
template <class Gen>
absl::StatusOr<typename Gen::PPP_State> WritePpp(
    const GpuMemory& to, gpu::BufferUses& uses, const typename Gen::PPP_Header& header,
    span<const typename Gen::Region_clip> clips = {},
    span<const typename Gen::Viewport> viewports = {}) {
  const uint32_t bytes = header.bytes_needed();
  if (to.bytes.size() < bytes) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "the PPP record takes %d bytes, but there is room for %d", bytes, to.bytes.size()));
  }
  absl::StatusOr<typename Gen::PPP_State> block = PppBlock<Gen>(to.gpu, bytes);
  if (!block.ok()) return block;
  if (const error e = header.pack(to.bytes.data(), clips, viewports)) {
    return PackStatus(e, "PPP record");
  }
  NoteUses(uses, header);
  return block;
}

// The same for several records, merged: see merge_records.h.
template <class Gen>
absl::StatusOr<typename Gen::PPP_State> MergePpp(const GpuMemory& to, gpu::BufferUses& uses,
                                                 absl::Span<const PppRecord<Gen>* const> records) {
  constexpr size_t kMostRecords = 8;
  if (records.size() > kMostRecords) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "at most %d PPP records can be merged at once, not %d", kMostRecords, records.size()));
  }
  absl::Span<const uint8_t> packed[kMostRecords];
  for (size_t i = 0; i < records.size(); ++i) packed[i] = records[i]->bytes();
  // GPU memory may be slow to read, and must not change if there is an error.
  uint8_t merged[MostPppBytes<Gen>()];
  const absl::StatusOr<uint32_t> bytes =
      RecordMerger<typename Gen::PPP_Header>(absl::MakeSpan(merged))
          .Merge(absl::MakeConstSpan(packed, records.size()));
  if (!bytes.ok()) return bytes.status();
  if (to.bytes.size() < *bytes) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "the PPP record takes %d bytes, but there is room for %d", *bytes, to.bytes.size()));
  }
  absl::StatusOr<typename Gen::PPP_State> block = PppBlock<Gen>(to.gpu, *bytes);
  if (!block.ok()) return block;
  std::memcpy(to.bytes.data(), merged, *bytes);
  for (const PppRecord<Gen>* record : records) {
    for (const gpu::BufferUse& use : record->uses()) uses.Add(use.buffer, use.flags);
  }
  return block;
}

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_PPP_H_
