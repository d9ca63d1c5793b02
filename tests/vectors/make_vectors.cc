// make_vectors GENERATION.xml OUT.jsonl[.zst]: writes a description's vectors.
#include <zstd.h>

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "runtime/base/file.h"
#include "tests/vectors/description.h"
#include "tests/vectors/vectors.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_vectors GENERATION.xml OUT.jsonl[.zst]\n");
    return 2;
  }
  const auto description = packsmith::vectors::Description::Load(argv[1]);
  if (!description.ok()) {
    std::fprintf(stderr, "make_vectors: %s\n", std::string(description.status().message()).c_str());
    return 1;
  }
  std::string content = packsmith::vectors::Jsonl(**description);
  if (absl::EndsWith(argv[2], ".zst")) {
    std::string packed(ZSTD_compressBound(content.size()), '\0');
    const size_t size =
        ZSTD_compress(&packed[0], packed.size(), content.data(), content.size(), 19);
    if (ZSTD_isError(size)) {
      std::fprintf(stderr, "make_vectors: zstd: %s\n", ZSTD_getErrorName(size));
      return 1;
    }
    packed.resize(size);
    content = packed;
  }
  const absl::Status status = packsmith::WriteFileWhole(argv[2], content);
  if (!status.ok()) {
    std::fprintf(stderr, "make_vectors: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}
