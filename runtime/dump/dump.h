// The result of every reader of a dump format: memory in numbered spaces, submissions, and problems
// of the input.
//
// All strings in this header and in device.h come from the input. They are valid UTF-8, but may
// hold control characters: escape them before they reach a terminal.

#ifndef PACKSMITH_RUNTIME_DUMP_DUMP_H_
#define PACKSMITH_RUNTIME_DUMP_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/dump/device.h"
#include "runtime/dump/error_state.h"
#include "runtime/dump/memory.h"

namespace packsmith {

// One batch handed to an engine. Addresses are in `space`. Every member has an initialiser, so that
// designated initialisers may omit any of them without a compiler warning.
struct Submission {
  uint32_t index = 0;
  std::string engine = {};  // "render", "compute", "copy", ...
  uint32_t context = 0;     // state bases live on per (context, slot)
  uint32_t slot = 0;        // the engine's slot within the context
  uint32_t space = 0;
  uint64_t batch_address = 0;
  // Bytes, an upper bound: packets of the stream may end it before. 0: the dump does not say.
  uint64_t batch_length = 0;
  std::optional<uint64_t> head = {}, tail = {}, acthd = {};
  std::optional<uint32_t> ipehr = {};
  // Name of the XML stream to walk, or of the structure that is there; empty: the generation's
  // first stream that the engine reads.
  std::string stream = {};
  // The kind, if the dump has several: "batch", "ring", "context image".
  std::string kind = {};
  // The context's space, if the batch itself is in another one: rings and context images are in the
  // global space, and point to memory in their context's.
  std::optional<uint32_t> own_space = {};
  // A ring buffer that the submission is part of, from `batch_address` on: a stream that reaches
  // the ring's end continues at its beginning. Batches that it starts return to it.
  struct Ring {
    uint64_t address = 0;
    uint64_t size = 0;
    friend bool operator==(const Ring&, const Ring&) = default;
  };
  std::optional<Ring> ring = {};
  // Base addresses that were given to the kernel driver, by their names in the description. Others
  // are set by packets.
  struct Base {
    std::string name = {};
    uint64_t address = 0;
    friend bool operator==(const Base&, const Base&) = default;
  };
  std::vector<Base> bases = {};
  // A batch that another submission of the dump may reach: it is not decoded twice.
  bool unless_reached = false;
  // Raw words given by the user: where the batch ends, and what else is in memory, is unknown. It
  // may end without a packet that ends it, and a pointer to its start is taken as null.
  bool bare = false;

  friend bool operator==(const Submission&, const Submission&) = default;
};

// A named extent of a space. Extents may overlap and need not be mapped.
struct Buffer {
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t size = 0;  // bytes
  std::string name = {};
  // `size` is only an upper bound: the buffer is as large as the memory that is mapped there.
  bool size_is_memory = false;
  // From the kernel's list of buffers, if the dump has one.
  std::string tiling = {};  // "X", "Y"; empty: linear, or the dump does not say
  std::string access = {};  // "read by sampler and GTT, written by render"
  std::string flags = {};   // the list's other words: "dirty purgeable render uncached"

  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// Something wrong with the input that did not stop the reader.
struct Problem {
  uint64_t offset = 0;    // byte offset in the input (in what it unpacks to, if it is compressed)
  std::string text = {};  // what was wrong and what was done about it

  friend bool operator==(const Problem&, const Problem&) = default;
};

// Problems that are found when deferred memory is read. Thread-safe.
class LateProblems {
 public:
  void Add(uint64_t offset, std::string text);
  // Those that were found so far.
  std::vector<Problem> All() const;

 private:
  mutable absl::Mutex mutex_;
  std::vector<Problem> problems_ ABSL_GUARDED_BY(mutex_);
};

struct AubRecording;

// Move-only. `memory` points into `backing`.
struct Dump {
  Device device;
  std::vector<Submission> submissions;
  std::vector<Buffer> buffers;
  Memory memory;
  // All memory that the submissions may use in their own space is in `memory`: a GPU's access to
  // any other address faults, even if `buffers` lists it. Only set by cores whose writer knew what
  // memory each job had named; kernels' dumps may omit any memory.
  bool memory_is_complete = false;
  // The space of `memory` whose addresses are physical: page tables are in it, and what they map.
  // Only in cores whose writer saved it.
  std::optional<uint32_t> physical_space = {};
  // How the xe driver made the address space of the submissions: 1 with a scratch page, so that
  // reads of unbound addresses yield zero and do not fault, 2 for long-running work, 4 with
  // recoverable faults. Empty: the format does not say. Source: Linux, xe_drm.h.
  std::optional<uint32_t> vm_flags = {};
  std::shared_ptr<const ErrorState> error_state;  // null: the format has none
  // A recording (aub.h), of which runtime/aub makes memory and submissions once the GPU's
  // description is known; until then there are none. Null: the format is not a recording.
  std::shared_ptr<const AubRecording> recording;
  std::vector<Problem> problems;  // at most kMaxProblems + 1, the last one then counts the rest
  std::shared_ptr<LateProblems> late_problems;  // null: no memory is deferred
  std::shared_ptr<const void> backing;

  static constexpr size_t kMaxProblems = 1000;

  // The buffer that holds (space, address), or null. Of several the one that starts last, and of
  // these the smallest. O(log n) after SortBuffers(), which every reader calls; O(n) if the number
  // of buffers changed since. Valid until `buffers` changes.
  const Buffer* FindBuffer(uint32_t space, uint64_t address) const;

  // Sorts `buffers` by (space, address, larger first) and builds FindBuffer's index. Call it again
  // after changing `buffers`.
  void SortBuffers();

  // Appends a problem unless there are kMaxProblems already: hostile input may have millions.
  void AddProblem(uint64_t offset, std::string text);

 private:
  uint64_t problems_left_out_ = 0;
  size_t indexed_buffers_ = 0;  // number of buffers that the tree was built for
  // A heap-shaped tree: the greatest (space + 1, last byte) of the buffers below each node.
  std::vector<std::pair<uint64_t, uint64_t>> greatest_end_;
};

// "gfx9" for 90, "gfx125" for 125; empty for 0 and below.
std::string IntelGenerationName(int verx10);

// What a generation's name says about the device: "gfx75" gives family "intel" and verx10 75,
// "agx..." family "agx"; other names only fill `generation`.
Device DeviceOfGeneration(absl::string_view generation);

// `text` with each byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string ValidUtf8(absl::string_view text);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_DUMP_H_
