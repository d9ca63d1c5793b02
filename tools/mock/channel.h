// The server's end of a channel: a client that waits for the result of one call at a time.
#ifndef PACKSMITH_TOOLS_MOCK_CHANNEL_H_
#define PACKSMITH_TOOLS_MOCK_CHANNEL_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/drm/caller.h"
#include "runtime/capture/drm/shared_memory.h"
#include "tools/mock/protocol.h"

namespace packsmith::mock {

// Used by one thread, except for pid(). Clients are not trusted: what they send wrong ends the
// channel.
class Channel {
 public:
  // A channel that has just been accepted.
  explicit Channel(UniqueFd socket);

  // The next request, the path that follows it, and the descriptor that comes with it. False: the
  // channel has ended.
  bool Receive(Request& request, std::string& path, UniqueFd& fd);
  // The final result, for which the client waits.
  bool SendDone(Reply reply, absl::string_view path, int fd);

  // While the client waits. 0 or more, or a negative errno.
  capture::Result Install(int fd, bool close_on_exec);
  UniqueFd Take(int number);
  // Sets the address.
  capture::Result Map(int fd, uint64_t offset, uint64_t size, uint64_t& address);
  // False: the client cannot access its memory there, or does not wait.
  bool Read(uint64_t address, absl::Span<uint8_t> out);
  bool Write(uint64_t address, absl::Span<const uint8_t> bytes);
  // Whether a signal has arrived at the client, or the client has ended.
  bool interrupted();

  int socket() const { return socket_.get(); }
  // Of the process that opened the channel.
  pid_t pid() const { return pid_; }
  uid_t user() const { return user_; }

 private:
  bool Send(const Reply& reply, absl::string_view more, int fd);
  // The client's answer, with a descriptor (if `fd` is not null) and bytes, which fill `more`.
  bool Await(Request& answer, absl::Span<uint8_t> more = {}, UniqueFd* fd = nullptr);

  const UniqueFd socket_;
  pid_t pid_ = 0;
  uid_t user_ = 0;
  bool waiting_ = false;    // the client waits for a result
  bool cancelled_ = false;  // a signal has arrived
  bool broken_ = false;
};

// The memory of a channel's process: read directly where the system permits it, else, during a
// call, by asking the process.
class ClientMemory : public capture::UserMemory {
 public:
  explicit ClientMemory(Channel& channel)
      : direct_(channel.pid()), channel_(&channel), thread_(std::this_thread::get_id()) {}

  bool Read(uint64_t address, absl::Span<uint8_t> out) const override;
  bool Write(uint64_t address, absl::Span<const uint8_t> bytes) const override;
  // Objects made of the memory outlive the channel.
  void ForgetChannel() { channel_ = nullptr; }

 private:
  // After a direct access has failed: whether another way may be tried.
  bool MayAsk(int error) const;

  const capture::ProcessMemory direct_;
  Channel* channel_;
  const std::thread::id thread_;
};

// Who calls through a channel. It must live as long as the channel.
class ChannelCaller : public capture::Caller {
 public:
  explicit ChannelCaller(Channel& channel);
  ~ChannelCaller() override;

  capture::Result Install(UniqueFd fd, bool close_on_exec) override;
  UniqueFd Take(int number) override;
  capture::Result Map(const capture::SharedMemory& memory, uint64_t offset, uint64_t size,
                      uint64_t& address) override;
  bool gone() const override;

 private:
  ChannelCaller(Channel& channel, std::shared_ptr<ClientMemory> memory);

  Channel& channel_;
  const std::shared_ptr<ClientMemory> client_memory_;
};

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_CHANNEL_H_
