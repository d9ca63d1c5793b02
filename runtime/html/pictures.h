// Pictures of the images that records describe, if the dump has their memory.
#ifndef PACKSMITH_RUNTIME_HTML_PICTURES_H_
#define PACKSMITH_RUNTIME_HTML_PICTURES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "runtime/decode/record.h"
#include "runtime/dump/dump.h"
#include "runtime/html/messages.h"
#include "runtime/tables/tables.h"

namespace packsmith::html {

class Pictures {
 public:
  // The dump that the next records belong to; it must live until the next call. Null: none.
  void OnDump(const Dump* dump);

  // The number of the picture of the image that the record describes; nothing if it describes none.
  // Adds a message for what has not come before: the image's properties, and its first level and
  // layer as rows of RGBA, a byte each, or the reason why it cannot be shown.
  std::optional<uint32_t> Of(const tables::Tables& tables, const decode::Record& record,
                             Messages& messages);

 private:
  const Dump* dump_ = nullptr;
  uint32_t count_ = 0;
  uint64_t pixels_ = 0;                               // of all pictures so far
  absl::flat_hash_map<std::string, uint32_t> known_;  // by place and properties, of the dump
};

}  // namespace packsmith::html

#endif  // PACKSMITH_RUNTIME_HTML_PICTURES_H_
