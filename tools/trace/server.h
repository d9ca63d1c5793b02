// Serves a tracer to programs that have the preload library.
//
//   absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(tracer);
//   environment: kTokenVariable=server->token(), LD_PRELOAD=libpacksmith-trace.so
#ifndef PACKSMITH_TOOLS_TRACE_SERVER_H_
#define PACKSMITH_TOOLS_TRACE_SERVER_H_

#include <condition_variable>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/trace/tracer.h"
#include "tools/mock/channel.h"

namespace packsmith::trace {

// Answers processes of the same user, and all processes if it runs as root.
class Server {
 public:
  // `tracer` outlives the server. Fails if the system has no sockets left.
  static absl::StatusOr<std::unique_ptr<Server>> Start(capture::Tracer& tracer);
  // Ends all channels: programs go on without it.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // What names this run: see protocol.h.
  const std::string& token() const { return token_; }
  // Whether no program has a channel.
  bool idle() const;

 private:
  // A channel, from its first request to its end.
  struct Served;

  Server(capture::Tracer& tracer, std::string token, UniqueFd listener, UniqueFd stop);
  void Accept();
  void Serve(UniqueFd socket);
  // False: the channel has ended.
  bool Answer(Served& served, const mock::Request& request, const std::string& bytes);

  capture::Tracer& tracer_;
  const std::string token_;
  const UniqueFd listener_, stop_;

  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::set<int> channels_ ABSL_GUARDED_BY(mutex_);  // sockets of those that are served
  size_t serving_ ABSL_GUARDED_BY(mutex_) = 0;      // threads
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread acceptor_;
};

}  // namespace packsmith::trace

#endif  // PACKSMITH_TOOLS_TRACE_SERVER_H_
