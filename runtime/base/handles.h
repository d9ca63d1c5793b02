// Handles of buffers: what every library that stores or makes them agrees on.
#ifndef PACKSMITH_RUNTIME_BASE_HANDLES_H_
#define PACKSMITH_RUNTIME_BASE_HANDLES_H_

#include <cstdint>

namespace packsmith {

// Handles from this one to 0xffffffff are not buffers: allocators of buffers do not return them,
// and batches use them for labels, as many as there are.
inline constexpr uint32_t kFirstReservedHandle = 0xffff0000;

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_HANDLES_H_
