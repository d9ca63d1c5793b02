#include "runtime/capture/drm/caller.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/capture/drm/shared_memory.h"

namespace packsmith::capture {
namespace {

// process_vm_readv or process_vm_writev, in as many steps as it takes.
template <typename Transfer>
bool TransferAll(uint64_t address, uint8_t* bytes, size_t size, const Transfer& transfer) {
  while (size > 0) {
    iovec local = {bytes, size};
    // An address of the other process, which is not used as a pointer here.
    iovec remote = {reinterpret_cast<void*>(address), size};
    const ssize_t done = transfer(&local, &remote);
    if (done <= 0) {
      if (done < 0 && errno == EINTR) continue;
      return false;
    }
    address += static_cast<uint64_t>(done);
    bytes += done;
    size -= static_cast<size_t>(done);
  }
  return true;
}

}  // namespace

bool ProcessMemory::Read(uint64_t address, absl::Span<uint8_t> out) const {
  return TransferAll(address, out.data(), out.size(), [&](iovec* local, iovec* remote) {
    return process_vm_readv(pid_, local, 1, remote, 1, 0);
  });
}

bool ProcessMemory::Write(uint64_t address, absl::Span<const uint8_t> bytes) const {
  return TransferAll(
      address, const_cast<uint8_t*>(bytes.data()), bytes.size(),
      [&](iovec* local, iovec* remote) { return process_vm_writev(pid_, local, 1, remote, 1, 0); });
}

OwnCaller::OwnCaller()
    : Caller(getpid(), program_invocation_short_name, std::make_shared<ProcessMemory>(getpid())) {}

Result OwnCaller::Install(UniqueFd fd, bool close_on_exec) {
  const int number = fcntl(fd.get(), close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  return number < 0 ? -errno : number;
}

Result OwnCaller::Map(const SharedMemory& memory, uint64_t offset, uint64_t size,
                      uint64_t& address) {
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd(),
                        static_cast<off_t>(offset));
  if (at == MAP_FAILED) return -errno;
  address = reinterpret_cast<uint64_t>(at);
  return 0;
}

UniqueFd OwnCaller::Take(int number) { return UniqueFd(fcntl(number, F_DUPFD_CLOEXEC, 0)); }

}  // namespace packsmith::capture
