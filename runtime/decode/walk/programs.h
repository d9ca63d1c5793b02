// Where the programs of a submission end: their own last instruction, a stated size, the beginning
// of the next program, or the end of memory.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_PROGRAMS_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_PROGRAMS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class Programs {
 public:
  struct Code {
    uint64_t size;
    absl::string_view ends;  // as Kernel
    bool is_cut = false;     // it goes on after the limit
  };

  // `walk` must outlive this.
  explicit Programs(Walk& walk) : walk_(walk) {}

  // For a new submission, whose memory may differ.
  void Clear();
  // Counts Clear().
  uint64_t epoch() const { return epoch_; }
  // Programs that have been found.
  size_t known() const { return codes_.size(); }

  // The program at an address, which is read only until it ends. `stated`: its size in bytes; 0:
  // unknown.
  Code Find(const tables::DataKind& kind, uint32_t space, uint64_t address, uint64_t stated);
  // If Find() has found it; else null.
  const Code* FindKnown(uint32_t space, uint64_t address) const;

 private:
  using Place = std::pair<uint32_t, uint64_t>;  // space and address

  Walk& walk_;
  absl::flat_hash_map<Place, Code> codes_;
  absl::btree_set<Place> begins_;
  uint64_t epoch_ = 0;
  std::vector<uint8_t> scratch_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_PROGRAMS_H_
