// What a barrier stands between: parts of the hardware that write and read.
#ifndef PACKSMITH_TESTS_INTEL_BATCH_CLIENTS_H_
#define PACKSMITH_TESTS_INTEL_BATCH_CLIENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/work.h"

namespace packsmith::intel {

// The parts of the hardware that a domain stands for.
inline std::vector<tables::ClientKind> ClientsOf(CacheDomain domain) {
  using tables::ClientKind;
  switch (domain) {
    case CacheDomain::kRender:
      return {ClientKind::kRenderTarget};
    case CacheDomain::kDepth:
      return {ClientKind::kDepth};
    case CacheDomain::kData:
      return {ClientKind::kDataPort};
    case CacheDomain::kOtherWrite:
      return {ClientKind::kStreamOutput, ClientKind::kPostSync, ClientKind::kStreamer};
    case CacheDomain::kVertex:
      return {ClientKind::kVertexFetch};
    case CacheDomain::kSampler:
      return {ClientKind::kSampler};
    case CacheDomain::kConstant:
      return {ClientKind::kConstants};
    case CacheDomain::kOtherRead:
      return {ClientKind::kStreamer};
  }
  return {};
}

// The first draw writes to kBuffer, the second reads.
class Pair : public sim::Observer {
 public:
  using ClientKind = tables::ClientKind;
  static constexpr uint64_t kBuffer = 0x40000;

  Pair(ClientKind writer, ClientKind reader) : writer_(writer), reader_(reader) {}
  void OnShaders(const sim::Work& work, sim::WorkMemory& memory) override {
    uint8_t bytes[8] = {};
    if (work.number == 0) memory.Write(writer_, 0, kBuffer, bytes);
    if (work.number == 1) memory.Read(reader_, 0, kBuffer, absl::MakeSpan(bytes));
  }
  void OnProblem(const sim::Problem& problem) override { texts.push_back(problem.text); }

  std::vector<std::string> texts;

 private:
  const ClientKind writer_, reader_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BATCH_CLIENTS_H_
