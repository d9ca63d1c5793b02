// What the preload library and the launcher's server say to each other: one message at a time over
// an AF_UNIX socket of the kind SOCK_SEQPACKET, a *channel*.
//
// The library sends a Request and waits for a Reply whose kind is kDone. Until then the server may
// ask for things that only the process itself can do; each is answered with a request kAnswer.
//
// An open device file is one end of a socket pair. The server's end has a name that says which file
// it is, and any process that has the other end can ask for the name (getpeername), however it
// came by the descriptor: nothing has to be kept in the process.
#ifndef PACKSMITH_TOOLS_MOCK_PROTOCOL_H_
#define PACKSMITH_TOOLS_MOCK_PROTOCOL_H_

#include <cstddef>
#include <cstdint>

namespace packsmith::mock {

// The environment variable that holds the run's token.
inline constexpr char kTokenVariable[] = "PACKSMITH_MOCK";
inline constexpr size_t kTokenSize = 16;  // hexadecimal digits

// Abstract names: "packsmith-mock/TOKEN" is where channels are opened, "packsmith-mock/TOKEN/128/7"
// the seventh file, one of the node with the minor number 128.
inline constexpr char kNamePrefix[] = "packsmith-mock/";

// Files with text, and directories, are memfds of this name, followed by the path; the content of
// a directory is its entries as getdents64() returns them.
inline constexpr char kMemfdPrefix[] = "packsmith:";

// A path with its terminator.
inline constexpr size_t kMostPath = 4096;

enum class Op : uint32_t {
  kIoctl,     // file, request, argument
  kMmap,      // file, argument: offset, size; the reply has the memory's descriptor
  kFdIoctl,   // on the descriptor that comes with the message; -ENOTTY: not ours
  kOpen,      // flags, path
  kStat,      // follow, path
  kReadLink,  // path
  kCancel,    // a signal has arrived: a call that waits is to end
  kAnswer,    // result; argument: of kMap the address
};

struct Request {
  Op op = Op::kIoctl;
  uint32_t request = 0;
  uint64_t file = 0;
  uint64_t argument = 0;
  uint64_t size = 0;
  int32_t flags = 0;
  int32_t follow = 0;
  int32_t result = 0;  // kAnswer
  int32_t thread = 0;
};

enum class ReplyKind : uint32_t {
  kDone,
  kInstall,  // keep the descriptor that comes with this; argument: close it on exec
  kTake,     // send the descriptor `argument`
  kMap,      // map `size` bytes of the descriptor that comes with this, from `argument` on
  kRead,     // send `size` bytes at `argument` with the answer
  kWrite,    // the next message is written to `argument`
};

// What stat() tells of a file that exists for clients only.
struct Facts {
  uint32_t mode = 0;  // with the bits of the type
  uint32_t major = 0, minor = 0;
  uint32_t unused = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t time = 0;  // seconds
};

// Of calls with paths: what `result` means if it is not a negative errno.
inline constexpr int32_t kVirtual = 0;
inline constexpr int32_t kReal = 1;  // ask the system, with the path that follows

// A path follows: of kOpen and kStat where the file is, of kReadLink where the link points to. It
// does not end with a zero byte.
struct Reply {
  ReplyKind kind = ReplyKind::kDone;
  int32_t result = 0;  // 0 or more, or a negative errno
  uint64_t argument = 0;
  uint64_t size = 0;
  Facts facts;
};

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_PROTOCOL_H_
