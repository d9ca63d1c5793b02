// The short form of batches, as memory: an assembler whose instructions are packets and structures.
// docs/pack.md has its grammar.
//
//   .gen gfx9
//   .org 0x10000
//   3DSTATE_VS Enable=true Kernel_Start_Pointer=0x1000
//   MI_BATCH_BUFFER_START Batch_Buffer_Start_Address=second
//   second: MI_BATCH_BUFFER_END
#ifndef PACKSMITH_RUNTIME_ENCODE_ASSEMBLER_H_
#define PACKSMITH_RUNTIME_ENCODE_ASSEMBLER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/encode/image.h"
#include "runtime/encode/packed.h"
#include "runtime/encode/problems.h"

namespace packsmith::encode {

// A file that a text names.
struct ReadFile {
  std::string name;  // for messages, and what paths inside it are relative to
  std::string text;
};

struct AssemblerOptions {
  // Until .gen; empty: the text must name its generation.
  std::string generation = {};
  // Defined before the text begins; a definition of the same name in the text is ignored.
  std::vector<std::pair<std::string, uint64_t>> symbols = {};
  // The place of the first byte.
  uint64_t address = 0;
  // Reads the file that a text called `from` names. Without it, no files can be read.
  std::function<absl::StatusOr<ReadFile>(const std::string& path, const std::string& from)>
      read_file = nullptr;
  uint64_t most_bytes = Image::kMostBytes;
};

// InvalidArgument with all problems, each with line, column and a caret (problems.h).
absl::StatusOr<Packed> Assemble(const Source& source, const FindTables& find_tables,
                                const AssemblerOptions& options = {});

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_ASSEMBLER_H_
