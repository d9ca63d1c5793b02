#include "tools/mock/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace packsmith::mock {
namespace {

using capture::Result;

// Memory is moved in pieces that fit a socket's buffer.
constexpr size_t kPiece = size_t{32} << 10;
// A client that is stopped while the kernel waits for it must not stop all others for ever.
constexpr int kPatienceMs = 5000;

union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

// Bytes received, 0 at the end, -1 for an error.
ssize_t ReceiveParts(int socket, absl::Span<iovec> parts, UniqueFd* fd) {
  Control control;
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  ssize_t size;
  do {
    message.msg_control = &control;
    message.msg_controllen = sizeof(control.bytes);
    size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return size;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    // The padding has room for more than one.
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len; at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, control.bytes + at, sizeof(number));
      UniqueFd received(number);
      if (fd != nullptr && at == CMSG_LEN(0)) *fd = std::move(received);
    }
  }
  return size;
}

std::string NameOfProcess(pid_t pid) {
  std::string name;
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::getline(file, name);
  return name;
}

}  // namespace

Channel::Channel(UniqueFd socket) : socket_(std::move(socket)) {
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    pid_ = credentials.pid;
    user_ = credentials.uid;
  } else {
    broken_ = true;
  }
}

bool Channel::Receive(Request& request, std::string& path, UniqueFd& fd) {
  while (!broken_) {
    std::array<char, kMostPath> text;
    iovec parts[2] = {{&request, sizeof(request)}, {text.data(), text.size()}};
    fd.Reset();
    const ssize_t size = ReceiveParts(socket_.get(), absl::MakeSpan(parts), &fd);
    if (size < static_cast<ssize_t>(sizeof(request))) break;
    // A signal that came too late.
    if (request.op == Op::kCancel) continue;
    path.assign(text.data(), static_cast<size_t>(size) - sizeof(request));
    waiting_ = true;
    cancelled_ = false;
    return true;
  }
  broken_ = true;
  return false;
}

bool Channel::Send(const Reply& reply, absl::string_view more, int fd) {
  iovec parts[2] = {{const_cast<Reply*>(&reply), sizeof(reply)},
                    {const_cast<char*>(more.data()), more.size()}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = more.empty() ? 1 : 2;
  Control control = {};
  if (fd >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof(control.bytes);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) broken_ = true;
  return sent >= 0;
}

bool Channel::SendDone(Reply reply, absl::string_view path, int fd) {
  reply.kind = ReplyKind::kDone;
  waiting_ = false;
  return !broken_ && Send(reply, path, fd);
}

bool Channel::Await(Request& answer, absl::Span<uint8_t> more, UniqueFd* fd) {
  while (!broken_) {
    pollfd waiting = {socket_.get(), POLLIN, 0};
    const int ready = poll(&waiting, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    iovec parts[2] = {{&answer, sizeof(answer)}, {more.data(), more.size()}};
    const ssize_t size = ReceiveParts(socket_.get(), absl::MakeSpan(parts), fd);
    if (size < static_cast<ssize_t>(sizeof(answer))) break;
    if (answer.op == Op::kCancel) {
      cancelled_ = true;
      continue;
    }
    if (answer.op != Op::kAnswer) break;
    return answer.result < 0 || static_cast<size_t>(size) == sizeof(answer) + more.size();
  }
  // What comes later would be taken for something else.
  broken_ = true;
  shutdown(socket_.get(), SHUT_RDWR);
  return false;
}

Result Channel::Install(int fd, bool close_on_exec) {
  Reply reply;
  reply.kind = ReplyKind::kInstall;
  reply.argument = close_on_exec ? 1 : 0;
  Request answer;
  if (!waiting_ || broken_ || !Send(reply, "", fd) || !Await(answer)) return -EIO;
  return answer.result;
}

Result Channel::Map(int fd, uint64_t offset, uint64_t size, uint64_t& address) {
  Reply reply;
  reply.kind = ReplyKind::kMap;
  reply.argument = offset;
  reply.size = size;
  Request answer;
  if (!waiting_ || broken_ || !Send(reply, "", fd) || !Await(answer)) return -EIO;
  address = answer.argument;
  return answer.result;
}

UniqueFd Channel::Take(int number) {
  Reply reply;
  reply.kind = ReplyKind::kTake;
  reply.argument = static_cast<uint32_t>(number);
  UniqueFd fd;
  Request answer;
  if (!waiting_ || broken_ || number < 0 || !Send(reply, "", -1)) return UniqueFd();
  if (!Await(answer, {}, &fd) || answer.result < 0) return UniqueFd();
  return fd;
}

bool Channel::Read(uint64_t address, absl::Span<uint8_t> out) {
  while (!out.empty()) {
    const auto piece = out.first(std::min(out.size(), kPiece));
    Reply reply;
    reply.kind = ReplyKind::kRead;
    reply.argument = address;
    reply.size = piece.size();
    Request answer;
    if (!waiting_ || broken_ || !Send(reply, "", -1)) return false;
    if (!Await(answer, piece) || answer.result < 0) return false;
    address += piece.size();
    out.remove_prefix(piece.size());
  }
  return true;
}

bool Channel::Write(uint64_t address, absl::Span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPiece));
    Reply reply;
    reply.kind = ReplyKind::kWrite;
    reply.argument = address;
    reply.size = piece.size();
    Request answer;
    if (!waiting_ || broken_ || !Send(reply, "", -1)) return false;
    if (send(socket_.get(), piece.data(), piece.size(), MSG_NOSIGNAL) < 0) {
      broken_ = true;
      return false;
    }
    if (!Await(answer) || answer.result < 0) return false;
    address += piece.size();
    bytes.remove_prefix(piece.size());
  }
  return true;
}

bool Channel::interrupted() {
  if (broken_ || cancelled_) return true;
  Request request;
  const ssize_t size = recv(socket_.get(), &request, sizeof(request), MSG_DONTWAIT);
  if (size == sizeof(request) && request.op == Op::kCancel) {
    cancelled_ = true;
  } else if (size >= 0 || (errno != EAGAIN && errno != EINTR)) {
    // It has ended, or does not keep to the rules.
    broken_ = true;
  } else if (kill(pid_, 0) != 0 && errno == ESRCH) {
    // A child that has not run any of the library's code may hold the other end.
    broken_ = true;
  }
  return broken_ || cancelled_;
}

bool ClientMemory::MayAsk(int error) const {
  // Other threads must not touch the channel's pointer.
  return (error == EPERM || error == ENOSYS) && std::this_thread::get_id() == thread_ &&
         channel_ != nullptr;
}

bool ClientMemory::Read(uint64_t address, absl::Span<uint8_t> out) const {
  errno = 0;
  if (direct_.Read(address, out)) return true;
  return MayAsk(errno) && channel_->Read(address, out);
}

bool ClientMemory::Write(uint64_t address, absl::Span<const uint8_t> bytes) const {
  errno = 0;
  if (direct_.Write(address, bytes)) return true;
  return MayAsk(errno) && channel_->Write(address, bytes);
}

ChannelCaller::ChannelCaller(Channel& channel)
    : ChannelCaller(channel, std::make_shared<ClientMemory>(channel)) {}

ChannelCaller::ChannelCaller(Channel& channel, std::shared_ptr<ClientMemory> memory)
    : Caller(channel.pid(), NameOfProcess(channel.pid()), memory),
      channel_(channel),
      client_memory_(std::move(memory)) {}

ChannelCaller::~ChannelCaller() { client_memory_->ForgetChannel(); }

Result ChannelCaller::Install(UniqueFd fd, bool close_on_exec) {
  return channel_.Install(fd.get(), close_on_exec);
}

Result ChannelCaller::Map(const capture::SharedMemory& memory, uint64_t offset, uint64_t size,
                          uint64_t& address) {
  return channel_.Map(memory.fd(), offset, size, address);
}

UniqueFd ChannelCaller::Take(int number) { return channel_.Take(number); }

bool ChannelCaller::gone() const { return channel_.interrupted(); }

}  // namespace packsmith::mock
