// Which paths the server is asked about, and what it answers.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_PATHS_H_
#define PACKSMITH_TOOLS_MOCK_FACE_PATHS_H_

#include <sys/stat.h>

#include <cstddef>

#include "tools/mock/face/channel.h"
#include "tools/mock/protocol.h"

namespace packsmith::mock::face {

// What a call with a path is to do.
enum class Way {
  kPass,     // the real call, with what the program gave
  kInstead,  // the real call, with AT_FDCWD and another path
  kAsk,      // the server
};

// `path` relative to `directory` (AT_FDCWD: the working directory). Sets `out` for kInstead and
// kAsk. `follow`: a link at the end of /proc/self/fd/N is followed. An empty path is kPass.
Way FindWay(int directory, const char* path, bool follow, char (&out)[kMostPath]);

// The path of a descriptor that stands for a file or directory of the server's tree, or is an open
// device file. False: it is something else.
bool PathOfDescriptor(int fd, char (&out)[kMostPath]);

// The number N of a path /proc/self/fd/N or one that means the same; -1: it is another path.
int DescriptorOfPath(const char* path);

// The path of a call, and the server's answer about it.
//
//   Target target(directory, path);
//   if (target.Ask(Op::kOpen, flags, true)) return answer of target.answer;
//   return real_openat(target.directory, target.path, flags);
class Target {
 public:
  Target(int a_directory, const char* a_path) : directory(a_directory), path(a_path) {}

  // True: answer.reply is final. False: the real call must be made, with `directory` and `path`,
  // which may have changed.
  bool Ask(Op op, int flags, bool follow);

  int directory;
  const char* path;
  Answer answer;

 private:
  char buffer_[kMostPath];
};

// What stat() stores.
void FillStat(const Facts& facts, struct stat& out);
// Of a descriptor that PathOfDescriptor() knows. False: it is something else.
bool DescriptorFacts(int fd, Facts& out);

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_PATHS_H_
