// What an error state or device core dump has beyond memory: the engines' registers, the requests
// that waited, and all other lines that the kernel wrote.

#ifndef PACKSMITH_RUNTIME_DUMP_ERROR_STATE_H_
#define PACKSMITH_RUNTIME_DUMP_ERROR_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/dump/memory.h"

namespace packsmith {

// `key: value` as the kernel wrote it; a line of another form has no key.
struct ErrorFact {
  std::string section;  // "GuC CT"; empty: the head of the file
  std::string key;
  std::string value;
  uint64_t offset = 0;  // of its line, in the input
};

// A register's value, under the kernel's name for it ("HEAD", "RING_HEAD", "ROW_INSTDONE[0][1]").
struct ErrorRegister {
  std::string name;
  uint64_t value = 0;
  bool is_64 = false;           // the kernel wrote two words
  std::vector<uint64_t> extra;  // further numbers, in brackets: those of the request at fault
};

struct ErrorRequest {
  std::string text;  // the whole line
  // `head` and `tail` are bytes from the start of the ring.
  std::optional<uint64_t> seqno, head, tail;
  int64_t pid = -1;
};

struct ErrorEngine {
  std::string name;     // "rcs0", "render"
  uint32_t space = 0;   // of the context that it ran
  bool hung = false;    // the kernel says so
  std::string process;  // "comm[pid]" of the context at fault; empty: the kernel does not say
  std::optional<uint64_t> ring_address;  // of the ring buffer's memory, in space 1
  // Bytes from the start of the ring: the driver has not reused the ring from here to the tail, and
  // a packet begins here.
  std::optional<uint64_t> ring_kept;
  std::vector<ErrorRegister> registers;
  std::vector<ErrorRequest> requests;  // that wait or run, in order
  std::vector<ErrorFact> facts;

  const ErrorRegister* Find(const std::string& register_name) const {
    for (const ErrorRegister& one : registers) {
      if (one.name == register_name) return &one;
    }
    return nullptr;
  }
};

// A queue's state on one engine.
struct ErrorLrc {
  std::optional<uint64_t> image;       // in space 1
  std::optional<uint64_t> head, tail;  // bytes from the start of its ring
  // Numbers of the last job that began and of the last one that ended: 32 bits, which wrap.
  std::optional<int64_t> started, finished;
  // How long it has run, and how long it had when its job began: ticks of the engine's clock.
  std::optional<uint64_t> timestamp, job_timestamp;
  // Bytes of the image that an execution again needs, and where in it they begin; from Linux 7.0
  // on.
  std::optional<uint64_t> replay_offset, replay_length;
};

// A queue of the GPU's firmware, which runs batches on any engine of a class. A parallel queue runs
// on several engines in lockstep: its own state is that on the first one.
struct ErrorContext : ErrorLrc {
  std::string id;      // as the kernel writes it
  std::string engine;  // "vcs5": the class, and a number of the kernel's; empty: unknown
  uint32_t width = 1;  // engines; the firmware has as many numbers for it, from `id` on
  std::vector<ErrorLrc> parallel;          // on the further engines
  std::optional<uint32_t> schedule_state;  // flags of the driver's
  // The work queue of a parallel queue: bytes up to which the firmware has read it, and up to which
  // the driver has written it; and the firmware's state of it.
  std::optional<uint64_t> work_head, work_tail, work_status;
};

// Bytes that are not memory of the GPU's: what its firmware exchanged with the driver, and its log.
struct ErrorBlob {
  // "CTB", "LOG", as xe calls them; "H2G", "G2H": of Linux 6.8 to 6.12, messages to and from it
  // that were not read yet
  std::string name;
  std::shared_ptr<DeferredBytes> bytes;
};

struct ErrorState {
  std::string kind;   // "i915 error state", "xe devcoredump"
  std::string title;  // the first line, if it is free text: what the kernel says happened
  std::vector<ErrorEngine> engines;
  std::vector<ErrorContext> contexts;    // in order; formats without firmware queues have none
  std::vector<uint64_t> batches;         // of the job at fault, in space 0
  std::optional<int64_t> job;            // number of the job at fault, as `started` counts them
  std::optional<uint32_t> job_queue;     // the `id` of its queue
  std::vector<ErrorRegister> registers;  // of the whole device
  std::vector<ErrorBlob> blobs;
  std::vector<ErrorFact> facts;  // at most kMaxFacts

  static constexpr size_t kMaxFacts = 10000;

  // The bytes of the blob of that name; empty if there is none.
  absl::Span<const uint8_t> BlobOf(const std::string& name) const {
    for (const ErrorBlob& blob : blobs) {
      if (blob.name == name) return blob.bytes->Get();
    }
    return {};
  }

  // The value of the first fact of that key, whatever its section; empty if there is none.
  std::string FactOf(const std::string& key) const {
    for (const ErrorFact& fact : facts) {
      if (fact.key == key) return fact.value;
    }
    return "";
  }
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_ERROR_STATE_H_
