// Requests of this process to the server.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_CHANNEL_H_
#define PACKSMITH_TOOLS_MOCK_FACE_CHANNEL_H_

#include "tools/mock/protocol.h"

namespace packsmith::mock::face {

// Whose server it is: each library defines its own.
struct ServerNames {
  const char* variable;  // of the environment, which holds the run's token
  const char* prefix;    // of abstract names
};
extern const ServerNames kServer;

// The run's token: kTokenSize digits. Null: the program does not run under that server's program.
const char* Token();

struct Answer {
  Reply reply;
  char path[kMostPath];  // ends with a zero byte
  int fd = -1;           // that came with the reply, closed on exec; the caller's
};

// Sends the request with `path` (null: none) and the descriptor `fd` (-1: none), does what the
// server asks for, and returns the final result, which is also answer.reply.result. -ENODEV: the
// server is gone. Can be called in signal handlers, after fork, and on any number of threads at
// once; is no cancellation point; leaves errno alone.
int Transact(Request request, const char* path, int fd, Answer& answer);
// The same with `size` bytes, which may be anywhere. -EFAULT: they cannot be read.
int TransactBytes(Request request, const void* bytes, size_t size, int fd, Answer& answer);

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_CHANNEL_H_
