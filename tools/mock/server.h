// Serves a mock kernel to programs that have the preload library.
//
//   absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(kernel, files, log);
//   environment: kTokenVariable=server->token(), LD_PRELOAD=libpacksmith-mock.so
#ifndef PACKSMITH_TOOLS_MOCK_SERVER_H_
#define PACKSMITH_TOOLS_MOCK_SERVER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/devices/virtual_files.h"
#include "runtime/capture/drm/kernel.h"
#include "tools/mock/call_log.h"
#include "tools/mock/channel.h"
#include "tools/mock/served_files.h"
#include "tools/mock/served_paths.h"

namespace packsmith::mock {

// Answers processes of the same user, and all processes if it runs as root.
class Server {
 public:
  // All must outlive the server. Fails if the system has no sockets left.
  static absl::StatusOr<std::unique_ptr<Server>> Start(capture::MockKernel& kernel,
                                                       capture::VirtualFiles& files, CallLog& log);
  // Ends all channels and files.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // What names this run: see protocol.h.
  const std::string& token() const { return token_; }
  // Device files that clients have open, and have opened until now.
  size_t files_open() const { return devices_.open(); }
  uint64_t files_opened() const { return devices_.opened(); }
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  Server(capture::MockKernel& kernel, capture::VirtualFiles& files, CallLog& log, std::string token,
         UniqueFd listener, UniqueFd stop);
  void Accept();
  void ServeChannel(UniqueFd socket);
  // Sends the result. False: the channel has ended.
  bool ServeRequest(Channel& channel, ChannelCaller& caller, const Request& request,
                    const std::string& path, UniqueFd fd);
  bool ServeFile(Channel& channel, ChannelCaller& caller, const Request& request);

  capture::MockKernel& kernel_;
  CallLog& log_;
  const std::string token_;
  const UniqueFd listener_, stop_;
  ServedFiles devices_;
  ServedPaths paths_;
  std::atomic<uint64_t> calls_ = 0;

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::set<int> channels_;  // sockets of those that are served
  size_t serving_ = 0;      // threads
  bool ending_ = false;
  std::thread acceptor_;
};

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_SERVER_H_
