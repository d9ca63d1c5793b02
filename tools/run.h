// unpack --run: executes the batches of dumps, and shows what they do.
#ifndef PACKSMITH_TOOLS_RUN_H_
#define PACKSMITH_TOOLS_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/decode/record.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::tools {

struct RunOptions {
  bool jsonl = false;
  uint64_t draw = 0, dispatch = 0;     // only this one, in full (run_draw.h); 0: all
  uint64_t draw_vertices = 64;         // of the draw, and primitives
  decode::TextOptions text = {};       // of its state
  std::optional<uint64_t> until = {};  // stop before the command at this address
  std::optional<uint64_t> watch = {};  // only writes to the memory at this address
  bool registers = false;              // list the registers at the end
  uint64_t max_commands = 10'000'000;  // of a submission
  uint64_t max_seconds = 0;            // of all; 0: no limit
};

// The dumps of one GPU, in order. Registers, state and memory continue from dump to dump: bytes of
// the next dump count, except where they equal those of the one before and the simulation wrote
// there.
class SimulatedRun {
 public:
  // InvalidArgument: the description does not say what packets do.
  static absl::Status Check(const tables::Tables& tables);

  // `output` must outlive this.
  SimulatedRun(const tables::Tables& tables, const RunOptions& options, decode::Output& output);
  ~SimulatedRun();

  void Add(const Dump& dump, const std::string& path);
  // Writes what comes at the end. False: a submission could not be executed whole, or the draw or
  // dispatch that was asked for was not there.
  bool Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_RUN_H_
