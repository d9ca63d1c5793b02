#include "runtime/capture/trace/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "runtime/capture/drm/ioctl.h"
#include "runtime/kernel/uapi/drm.h"

namespace packsmith::capture {

namespace drm = uapi::drm;

namespace {

// The descriptor's inode, which is its own for memory that is shared; 0: there is no descriptor.
uint64_t InodeOf(const UniqueFd& fd, uint64_t& size) {
  struct stat facts;
  if (!fd || fstat(fd.get(), &facts) != 0) return 0;
  const off_t end = lseek(fd.get(), 0, SEEK_END);
  size = end > 0 ? static_cast<uint64_t>(end) : 0;
  return facts.st_ino;
}

}  // namespace

TraceInterest TracedFile::InterestIn(uint32_t number) const {
  switch (number) {
    case IoctlNumber(drm::kGemClose):
      return TraceInterest::kBeforeAndAfter;
    case IoctlNumber(drm::kPrimeHandleToFd):
    case IoctlNumber(drm::kPrimeFdToHandle):
    case IoctlNumber(drm::kGemFlink):
    case IoctlNumber(drm::kGemOpen):
      return TraceInterest::kAfter;
    default:
      return number >= drm::kDriverBase ? DriverInterestIn(number - drm::kDriverBase)
                                        : TraceInterest::kNone;
  }
}

TracedFile::Finish TracedFile::Before(const TracedCall& call) {
  const uint32_t number = IoctlNumber(call.request);
  if (number == IoctlNumber(drm::kGemClose)) return BeforeClose(call);
  return number >= drm::kDriverBase ? DriverBefore(number - drm::kDriverBase, call) : nullptr;
}

void TracedFile::After(const TracedCall& call) {
  const uint32_t number = IoctlNumber(call.request);
  switch (number) {
    case IoctlNumber(drm::kPrimeHandleToFd):
      return AfterExport(call);
    case IoctlNumber(drm::kPrimeFdToHandle):
      return AfterImport(call);
    case IoctlNumber(drm::kGemFlink):
      return AfterFlink(call);
    case IoctlNumber(drm::kGemOpen):
      return AfterOpen(call);
    default:
      if (number >= drm::kDriverBase) DriverAfter(number - drm::kDriverBase, call);
  }
}

void TracedFile::Unmap() {
  for (const auto& [handle, object] : objects_) object->Unmap();
}

TracedFile::Finish TracedFile::BeforeClose(const TracedCall& call) {
  const auto args = call.Argument<drm::gem_close>();
  const std::shared_ptr<TracedObject> object = FindObject(args.handle);
  if (object == nullptr) return nullptr;
  // What is still mapped in an address space can be read now for the last time.
  if (object.use_count() > 2) Refresh(call.access, *object);
  handle_of_.erase(object.get());
  Finish put_back = TakeOut(objects_, args.handle);
  return [this, put_back, object, handle = args.handle](const TracedCall& done) {
    put_back(done);
    if (done.result >= 0) return OnClosed(*object);
    handle_of_.try_emplace(object.get(), handle);
  };
}

void TracedFile::AfterExport(const TracedCall& call) {
  const auto args = call.Argument<drm::prime_handle>();
  const std::shared_ptr<TracedObject> object = FindObject(args.handle);
  if (object == nullptr) return;
  object->written = true;
  uint64_t size = 0;
  const uint64_t inode = InodeOf(call.caller.Take(args.fd), size);
  if (inode != 0) shared_.exported[inode] = object;
}

void TracedFile::AfterImport(const TracedCall& call) {
  const auto args = call.Argument<drm::prime_handle>();
  // The file has the object already.
  if (FindObject(args.handle) != nullptr) return;
  uint64_t size = 0;
  const uint64_t inode = InodeOf(call.caller.Take(args.fd), size);
  if (inode == 0 || size == 0) return;
  std::shared_ptr<TracedObject> object = shared_.exported[inode].lock();
  if (object == nullptr) {
    object = TracedObject::Create(++shared_.objects_made, size);
    if (object == nullptr) return;
    shared_.exported[inode] = object;
  }
  object->written = true;
  AddObject(args.handle, std::move(object));
}

void TracedFile::AfterFlink(const TracedCall& call) {
  const auto args = call.Argument<drm::gem_flink>();
  const std::shared_ptr<TracedObject> object = FindObject(args.handle);
  if (object == nullptr) return;
  object->written = true;
  shared_.named[{minor_, args.name}] = object;
}

void TracedFile::AfterOpen(const TracedCall& call) {
  const auto args = call.Argument<drm::gem_open>();
  if (FindObject(args.handle) != nullptr) return;
  std::shared_ptr<TracedObject> object = shared_.named[{minor_, args.name}].lock();
  if (object == nullptr) {
    object = TracedObject::Create(++shared_.objects_made, args.size);
    if (object == nullptr) return;
    shared_.named[{minor_, args.name}] = object;
  }
  object->written = true;
  AddObject(args.handle, std::move(object));
}

std::shared_ptr<TracedObject> TracedFile::FindObject(uint32_t handle) const {
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : found->second;
}

void TracedFile::AddObject(uint32_t handle, std::shared_ptr<TracedObject> object) {
  handle_of_[object.get()] = handle;
  std::shared_ptr<TracedObject>& place = objects_[handle];
  if (place != nullptr) handle_of_.erase(place.get());
  place = std::move(object);
}

std::shared_ptr<TracedObject> TracedFile::CreateObject(uint32_t handle, uint64_t size) {
  std::shared_ptr<TracedObject> object = TracedObject::Create(++shared_.objects_made, size);
  if (object != nullptr) AddObject(handle, object);
  return object;
}

std::shared_ptr<TracedObject> TracedFile::CreateUserObject(const Caller& caller, uint64_t address,
                                                           uint64_t size) {
  return TracedObject::CreateUser(++shared_.objects_made, caller.memory(), address, size);
}

void TracedFile::NoteWritten(uint32_t handle) {
  if (const std::shared_ptr<TracedObject> object = FindObject(handle)) object->written = true;
}

bool TracedFile::Refresh(TraceAccess& access, TracedObject& object) {
  return object.Refresh(shared_.reader, [&](uint64_t size) -> void* {
    const auto found = handle_of_.find(&object);
    return found == handle_of_.end() ? nullptr : MapObject(access, found->second, size);
  });
}

Work TracedFile::MakeWork(const Caller& caller, absl::string_view interface, uint64_t ahead) const {
  Work work;
  work.number = shared_.works_made + ahead;
  work.device = device_;
  work.interface = interface;
  work.minor = minor_;
  work.pid = caller.pid();
  work.process = caller.name();
  work.file = number_;
  return work;
}

void TracedFile::Submit(Work& work) {
  work.number = ++shared_.works_made;
  shared_.sink.OnSubmit(work);
}

}  // namespace packsmith::capture
