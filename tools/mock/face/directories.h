// Directories of the server's tree.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_DIRECTORIES_H_
#define PACKSMITH_TOOLS_MOCK_FACE_DIRECTORIES_H_

#include <cstddef>

namespace packsmith::mock::face {

// Whether the descriptor stands for a directory of the tree.
bool IsVirtualDirectory(int fd);

// getdents64() on such a descriptor: bytes, 0 at the end, or a negative errno.
long ReadEntries(int fd, void* out, size_t size);

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_DIRECTORIES_H_
