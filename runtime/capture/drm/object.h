// GEM objects: the pieces of memory that a driver asks the kernel for.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_OBJECT_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_OBJECT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/drm/caller.h"
#include "runtime/capture/drm/fence.h"
#include "runtime/capture/drm/shared_memory.h"

namespace packsmith::capture {

class MockDevice;

// Shared by all handles, mappings and descriptors that name it. Drivers derive from it what else
// they know of an object. Members are guarded by the kernel's lock, the content is not.
class Object {
 public:
  // `size` is what was asked for, in whole pages. `id` is a number that no other object of the
  // kernel ever has.
  Object(const MockDevice& device, uint64_t id, std::shared_ptr<SharedMemory> memory, uint64_t size)
      : device_(&device), id_(id), size_(size), memory_(std::move(memory)) {}
  // Memory that no mock device made.
  Object(uint64_t id, std::shared_ptr<SharedMemory> memory, uint64_t size)
      : device_(nullptr), id_(id), size_(size), memory_(std::move(memory)) {}
  // Memory that belongs to a process.
  Object(const MockDevice& device, uint64_t id, std::shared_ptr<const UserMemory> user,
         uint64_t user_address, uint64_t size)
      : device_(&device),
        id_(id),
        size_(size),
        user_(std::move(user)),
        user_address_(user_address) {}
  virtual ~Object() = default;

  // Null: no mock device made it.
  const MockDevice* device() const { return device_; }
  uint64_t id() const { return id_; }
  uint64_t size() const { return size_; }
  // Null for memory of a process.
  const std::shared_ptr<SharedMemory>& memory() const { return memory_; }
  // Null for other memory.
  const std::shared_ptr<const UserMemory>& user() const { return user_; }
  uint64_t user_address() const { return user_address_; }

  // False: beyond the end, or the process has unmapped the memory.
  bool Read(uint64_t offset, absl::Span<uint8_t> out) const;
  bool Write(uint64_t offset, absl::Span<const uint8_t> bytes) const;

  // Work that uses the object and was submitted before (its implicit fences): all of it, and what
  // writes. Finished work is removed by AddUse().
  void AddUse(const std::shared_ptr<Fence>& fence, bool writes);
  const std::vector<std::shared_ptr<Fence>>& uses() const { return uses_; }
  const std::vector<std::shared_ptr<Fence>>& writes() const { return writes_; }

  // For messages and dumps: what the object is, as far as the driver's calls tell.
  std::string name;

 private:
  const MockDevice* const device_;
  const uint64_t id_;
  const uint64_t size_;
  const std::shared_ptr<SharedMemory> memory_;
  const std::shared_ptr<const UserMemory> user_;
  const uint64_t user_address_ = 0;
  std::vector<std::shared_ptr<Fence>> uses_, writes_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_OBJECT_H_
