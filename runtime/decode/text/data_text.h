// Data as text: rows of typed data, and dwords of what has no type.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_DATA_TEXT_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_DATA_TEXT_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// "3 dwords", "5 bytes".
void PutSize(size_t bytes, ChunkWriter& out);

class DataText {
 public:
  // `out` must outlive this.
  explicit DataText(ChunkWriter& out) : out_(out) {}

  void Begin(const tables::Tables& tables) { tables_ = &tables; }

  // Its kind and size, without the end of the line.
  void PutHead(const Record& record);
  // A line for each row of typed data: its number, then each element's components.
  void PutRows(const Record& record, size_t indent);
  void PutDwords(const Record& record, size_t indent);
  // Text from elsewhere, indented by that much.
  void PutLines(absl::string_view text, size_t indent);

 private:
  // What is known of data except its size.
  void PutAbout(const Record& record);

  ChunkWriter& out_;
  const tables::Tables* tables_ = nullptr;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_DATA_TEXT_H_
