// Memory that is put together from pieces, in any order: what packets of a text become.
#ifndef PACKSMITH_RUNTIME_ENCODE_IMAGE_H_
#define PACKSMITH_RUNTIME_ENCODE_IMAGE_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/dump/memory.h"

namespace packsmith::encode {

class Image {
 public:
  // Texts may ask for any number of zeros.
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;

  Image() : Image(kMostBytes) {}
  // `most_bytes`: more are refused; a piece may count as a page.
  explicit Image(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Puts bytes to (space, address). Bytes that are there already must be the same.
  // AlreadyExists with the address of the first one that is not; OutOfRange if the bytes go past
  // 2^64; ResourceExhausted if there are too many. The image then has some of the bytes.
  absl::Status Put(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes);
  // The same with zeros.
  absl::Status PutZeros(uint32_t space, uint64_t address, uint64_t size);

  // Bytes without a gap.
  struct Run {
    uint32_t space;
    uint64_t address;
    std::vector<uint8_t> bytes;
  };
  // All of them, by space and address; neighbours are one run.
  std::vector<Run> Runs() const;
  // How many bytes there are without a gap from (space, address) on.
  uint64_t SizeFrom(uint32_t space, uint64_t address) const;
  bool empty() const { return pages_.empty(); }

 private:
  static constexpr uint64_t kPage = 4096;
  struct Page {
    std::array<uint8_t, kPage> bytes{};
    std::array<uint64_t, kPage / 64> there{};  // a bit for each byte

    bool Has(uint64_t i) const { return (there[i / 64] >> i % 64 & 1) != 0; }
  };
  using Key = std::pair<uint32_t, uint64_t>;  // space, address / kPage

  Page* PageAt(uint32_t space, uint64_t number);
  absl::Status PutPiece(uint32_t space, uint64_t address, const uint8_t* bytes, uint64_t size);

  uint64_t most_bytes_;
  std::map<Key, std::unique_ptr<Page>> pages_;
  Key last_key_ = {};
  Page* last_ = nullptr;
};

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_IMAGE_H_
