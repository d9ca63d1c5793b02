// stat() and its variants, for all functions here that need them.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_STAT_H_
#define PACKSMITH_TOOLS_MOCK_FACE_STAT_H_

#include <sys/stat.h>

#include "tools/mock/face/paths.h"

namespace packsmith::mock::face {

// Whether the file is the server's: `result` is then 0 or a negative errno. Else the real call is
// to be made, with what is in `target`. `flags` as those of fstatat().
bool FactsOf(Target& target, int flags, Facts& out, long& result);

// Replaces what the real fstat() said of a descriptor that stands for something else.
void CorrectStat(int fd, struct stat& facts);

void FillStatx(const Facts& facts, struct statx& out);

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_STAT_H_
