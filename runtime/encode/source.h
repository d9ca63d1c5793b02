// A dump as a text from which Assemble() makes the same dump: the short form of batches. Packets
// and structures that decoding reaches are written as such, all other memory as numbers.
#ifndef PACKSMITH_RUNTIME_ENCODE_SOURCE_H_
#define PACKSMITH_RUNTIME_ENCODE_SOURCE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::encode {

// What a core can hold is in the text: device, submissions, buffers, memory. Its size is about
// three times that of the memory that is not zero. A packet that the short form cannot express is
// written as numbers.
std::string WriteSource(const tables::Tables& tables, const Dump& dump);

// One packet or structure, in one line or, if that is long, in several with braces; with the end of
// the last line. Its bytes need not be what the description says of it.
std::string RecordSource(const tables::Tables& tables, const tables::Container& container,
                         absl::Span<const uint8_t> bytes);

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_SOURCE_H_
