// What the tracer's preload library and its recorder say to each other: the mock's messages
// (tools/mock/protocol.h) with other requests.
#ifndef PACKSMITH_TOOLS_TRACE_PROTOCOL_H_
#define PACKSMITH_TOOLS_TRACE_PROTOCOL_H_

#include <cstddef>
#include <cstdint>

#include "tools/mock/protocol.h"

namespace packsmith::trace {

inline constexpr char kTokenVariable[] = "PACKSMITH_TRACE";
inline constexpr char kNamePrefix[] = "packsmith-trace/";

// `file` is a number that no other open file of the run has; `flags` a descriptor of it.

// A file that the library has not seen; `request`: the minor number of its node. What follows the
// reply are kInterestBytes.
inline constexpr mock::Op kOpen = static_cast<mock::Op>(0x100);
// A call that is about to be made: `request`, and its argument's bytes. The reply's argument is a
// ticket; 0: the recorder need not be told of its end.
inline constexpr mock::Op kBefore = static_cast<mock::Op>(0x101);
// A call that has been made: `request`, `result`, `size` the ticket or 0, and then its argument's
// bytes.
inline constexpr mock::Op kAfter = static_cast<mock::Op>(0x102);
// A descriptor of the file was closed.
inline constexpr mock::Op kClose = static_cast<mock::Op>(0x103);

// Two bits for each call of a file: capture::TraceInterest.
inline constexpr size_t kInterestBytes = 256 * 2 / 8;
// The most bytes of an argument that are sent.
inline constexpr size_t kMostArgument = 1024;

}  // namespace packsmith::trace

#endif  // PACKSMITH_TOOLS_TRACE_PROTOCOL_H_
