#include "tests/fuzz/touch_dump.h"

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "runtime/dump/memory.h"

namespace packsmith {

// Not in the unnamed namespace: the compiler must assume a use, so that the reads remain.
uint64_t touched_bytes_sum = 0;

namespace {

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

bool IsValidUtf8(const std::string& text) { return ValidUtf8(text) == text; }

}  // namespace

void TouchDump(const Dump& dump) {
  uint64_t budget = 1 << 22;
  const Memory::Segment* previous = nullptr;
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    Demand(segment.memory_size <= mapped.memory_size);
    Demand(segment.space == mapped.space && segment.address == mapped.address);
    if (mapped.deferred != nullptr && segment.memory_size == 0) continue;
    Demand(segment.memory_size >= 1 && segment.bytes.size() <= segment.memory_size);
    Demand(segment.last() >= segment.address);
    if (previous != nullptr && previous->space == segment.space) {
      Demand(previous->last() < segment.address);
    }
    previous = &segment;
    for (const uint8_t byte : segment.bytes.subspan(0, budget)) touched_bytes_sum += byte;
    budget -= std::min<uint64_t>(budget, segment.bytes.size());
    Demand(dump.memory.Find(segment.space, segment.address) == &segment);
    Demand(dump.memory.Find(segment.space, segment.last()) == &segment);
    Demand(!dump.memory.Read(segment.space, segment.last(), 8).empty());
    uint8_t around[16];
    Demand(dump.memory.Copy(segment.space, segment.last(), absl::MakeSpan(around)) >= 1);
    if (budget == 0) break;
  }
  size_t checked = 0;
  for (const Buffer& buffer : dump.buffers) {
    Demand(IsValidUtf8(buffer.name));
    if (buffer.size != 0 && !buffer.size_is_memory)
      Demand(dump.FindBuffer(buffer.space, buffer.address) != nullptr);
    static_cast<void>(dump.FindBuffer(buffer.space, buffer.address + buffer.size));
    if (++checked == 4096) break;
  }
  for (const Submission& submission : dump.submissions) {
    Demand(IsValidUtf8(submission.engine) && IsValidUtf8(submission.stream));
    for (const uint8_t byte : dump.memory.Read(submission.space, submission.batch_address,
                                               std::min<uint64_t>(submission.batch_length, 4096))) {
      touched_bytes_sum += byte;
    }
  }
  Demand(IsValidUtf8(dump.device.platform) && IsValidUtf8(dump.device.driver));
  if (dump.late_problems != nullptr) {
    for (const Problem& problem : dump.late_problems->All()) Demand(IsValidUtf8(problem.text));
  }
  if (dump.error_state != nullptr) {
    Demand(IsValidUtf8(dump.error_state->title));
    Demand(dump.error_state->facts.size() <= ErrorState::kMaxFacts);
    for (const ErrorFact& fact : dump.error_state->facts) {
      Demand(IsValidUtf8(fact.key) && IsValidUtf8(fact.value));
    }
    for (const ErrorEngine& engine : dump.error_state->engines) {
      Demand(IsValidUtf8(engine.name) && IsValidUtf8(engine.process));
      for (const ErrorRegister& one : engine.registers) Demand(IsValidUtf8(one.name));
      for (const ErrorRequest& one : engine.requests) Demand(IsValidUtf8(one.text));
    }
  }
  Demand(dump.problems.size() <= Dump::kMaxProblems + 1);
}

}  // namespace packsmith
