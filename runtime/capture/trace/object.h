// Objects of a real driver, with a copy of what programs have written to them.
#ifndef PACKSMITH_RUNTIME_CAPTURE_TRACE_OBJECT_H_
#define PACKSMITH_RUNTIME_CAPTURE_TRACE_OBJECT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/drm/caller.h"
#include "runtime/capture/drm/object.h"
#include "runtime/capture/drm/shared_memory.h"

namespace packsmith::capture {

// Reads mappings of devices. A page that cannot be read is an error, not a signal: the system
// copies.
class MappingReader {
 public:
  static constexpr uint64_t kMost = uint64_t{256} << 10;

  MappingReader();
  // At most kMost bytes at `from`: what could be read, up to the first page that could not. Valid
  // until the next call.
  absl::Span<const uint8_t> Read(const uint8_t* from, uint64_t size);

 private:
  std::shared_ptr<SharedMemory> copy_;
};

// Object::memory() is the copy: what the program had written when Refresh() was called last.
class TracedObject : public Object {
 public:
  // `size` in bytes. Null: it is 0 or above 2^40, or the system has no memory left.
  static std::shared_ptr<TracedObject> Create(uint64_t id, uint64_t size);
  // Memory of a process.
  static std::shared_ptr<TracedObject> CreateUser(uint64_t id,
                                                  std::shared_ptr<const UserMemory> user,
                                                  uint64_t address, uint64_t size);

  TracedObject(uint64_t id, std::shared_ptr<SharedMemory> copy, uint64_t size)
      : Object(id, std::move(copy), size) {}
  ~TracedObject() override { Unmap(); }

  // A program may have written it. Objects that were never mapped hold what the GPU wrote, which is
  // not recorded.
  bool written = false;
  bool read_only = false;  // for the GPU

  // Maps an object of this size into this process; null: it cannot be mapped.
  using Mapper = std::function<void*(uint64_t size)>;
  // Brings the copy up to date, if programs may have written the object. Only pages that changed
  // are copied. False: not all of it could be read; what could not is as before.
  bool Refresh(MappingReader& reader, const Mapper& mapper);
  // Changes the copy: what the object has at `offset`, and ends before the object's end.
  void Update(uint64_t offset, absl::Span<const uint8_t> now);
  // Until it is needed again.
  void Unmap();

  // Parts of [offset, offset + size) of the copy that changed since NoteRecorded() was called for
  // them, in order; in whole pages, from the object's beginning.
  std::vector<SharedMemory::Extent> Changed(uint64_t offset, uint64_t size) const;
  void NoteRecorded(uint64_t offset, uint64_t size);

 private:
  bool RefreshUser();

  std::shared_ptr<const UserMemory> process_;
  uint64_t process_address_ = 0;
  void* mapped_ = nullptr;
  // Pages of the copy: those that are not holes, and those that changed; as far as there are any.
  std::vector<bool> present_, changed_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_TRACE_OBJECT_H_
