// What unpack is asked about draws, dispatches and addresses.
#ifndef PACKSMITH_TOOLS_DRAWS_H_
#define PACKSMITH_TOOLS_DRAWS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/overview_sink.h"
#include "runtime/decode/record.h"

namespace packsmith::tools {

struct DrawQuestions {
  uint64_t draw = 0;      // --draw; 0: not asked
  uint64_t dispatch = 0;  // --dispatch
  bool draws = false;     // --draws
  std::string uses;       // --uses

  // A list instead of records.
  bool IsList() const { return draws || !uses.empty(); }
  // One of several.
  bool IsOne() const { return draw != 0 || dispatch != 0; }

  // InvalidArgument, if the address is none.
  absl::Status Check() const;
  // What the overview of a group of dumps is to look for, behind so many draws and dispatches of
  // other groups.
  void Ask(uint64_t draws_before, uint64_t dispatches_before, decode::OverviewSink& overview) const;
  // InvalidArgument that there are only so many.
  absl::Status Missing(uint64_t draws_seen, uint64_t dispatches_seen) const;
  // What the decoder is to say.
  void Set(decode::Options& options) const;
  // For IsList(). `output` must outlive the sink.
  std::unique_ptr<decode::Sink> MakeSink(decode::Output& output, bool jsonl) const;

 private:
  // That of --uses.
  bool ParseAddress(uint64_t& address) const;
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_DRAWS_H_
