// Open files of GPU drivers, and what the recorder wants to know of their calls.
#ifndef PACKSMITH_TOOLS_TRACE_FACE_FILES_H_
#define PACKSMITH_TOOLS_TRACE_FACE_FILES_H_

#include <cstdint>

#include "tools/trace/protocol.h"

namespace packsmith::trace::face {

enum class Interest : uint8_t { kNone, kAfter, kBeforeAndAfter };

struct File {
  uint64_t number = 0;
  uint8_t interests[kInterestBytes] = {};

  // Of a request's number.
  Interest InterestIn(unsigned long request) const {
    const unsigned call = request & 0xff;
    return static_cast<Interest>(interests[call / 4] >> call % 4 * 2 & 3);
  }
};

// What is known of a descriptor, which is asked when it is seen first. Null: nothing of it must be
// told. `scratch` holds what has no other place.
const File* FindFile(int fd, File& scratch);

// The descriptors from `first` to `last` are about to be closed, or to become others: what is known
// of them is forgotten, and the recorder is told.
void ForgetFiles(unsigned first, unsigned last);

}  // namespace packsmith::trace::face

#endif  // PACKSMITH_TOOLS_TRACE_FACE_FILES_H_
