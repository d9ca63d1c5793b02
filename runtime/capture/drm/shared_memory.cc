#include "runtime/capture/drm/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace packsmith::capture {

std::shared_ptr<SharedMemory> SharedMemory::Create(uint64_t size, const std::string& name) {
  constexpr uint64_t kPage = 4096;
  if (size == 0 || size > (uint64_t{1} << 62)) {
    errno = EINVAL;
    return nullptr;
  }
  size = (size + kPage - 1) / kPage * kPage;
  UniqueFd fd(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return nullptr;
  // A client that shortened the file would make accesses to it fault.
  fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void* const at =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  return std::shared_ptr<SharedMemory>(
      new SharedMemory(std::move(fd), absl::MakeSpan(static_cast<uint8_t*>(at), size)));
}

SharedMemory::~SharedMemory() { munmap(bytes_.data(), bytes_.size()); }

std::vector<SharedMemory::Extent> SharedMemory::Extents() const {
  std::vector<Extent> extents;
  off_t at = 0;
  while (true) {
    const off_t data = lseek(fd_.get(), at, SEEK_DATA);
    if (data < 0) return extents;
    const off_t hole = lseek(fd_.get(), data, SEEK_HOLE);
    if (hole < 0) return extents;
    extents.push_back({static_cast<uint64_t>(data), static_cast<uint64_t>(hole - data)});
    at = hole;
  }
}

}  // namespace packsmith::capture
