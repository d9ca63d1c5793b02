// readlink(), for all functions here that need it.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_LINKS_H_
#define PACKSMITH_TOOLS_MOCK_FACE_LINKS_H_

#include <cstddef>

namespace packsmith::mock::face {

// readlinkat(): bytes, or a negative errno.
long ReadLinkAt(int directory, const char* path, char* out, size_t size);

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_LINKS_H_
