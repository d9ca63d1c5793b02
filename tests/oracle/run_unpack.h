#ifndef PACKSMITH_TESTS_ORACLE_RUN_UNPACK_H_
#define PACKSMITH_TESTS_ORACLE_RUN_UNPACK_H_

// The records of a capture, through the libraries of `unpack`.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/decode/decoder.h"

namespace packsmith {

// Decodes the dumps at `files` in order, state living on from one to the next, and returns what
// `unpack --format=jsonl` would write. The description is the XML file `xml` or, if that is empty,
// the built-in one for the first dump's device. Errors say which file could not be read whole, or
// what is wrong with the description; what cannot be decoded is in the records.
absl::StatusOr<std::string> RunUnpack(const std::vector<std::string>& files,
                                      const decode::Options& options = {},
                                      const std::string& xml = "");

// The whole of a text file, unpacked if it is compressed with zstd or gzip.
absl::StatusOr<std::string> ReadText(const std::string& path);

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_ORACLE_RUN_UNPACK_H_
