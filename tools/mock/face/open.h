// open() and its variants, for all functions here that open something.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_OPEN_H_
#define PACKSMITH_TOOLS_MOCK_FACE_OPEN_H_

#include "tools/mock/face/paths.h"

namespace packsmith::mock::face {

// Whether the server's tree has the path: `result` is then a descriptor or a negative errno. Else
// the real call must be made, with what is in `target`.
bool OpenVirtual(Target& target, int flags, long& result);

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_OPEN_H_
