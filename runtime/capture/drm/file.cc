#include "runtime/capture/drm/file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace packsmith::capture {

namespace drm = uapi::drm;

namespace {

// The call that this thread answers, and why it fails: a call that waits gives the lock to others.
thread_local absl::string_view call;
thread_local std::string why;

}  // namespace

File::File(MockDevice& device, uint64_t number, bool render)
    : device_(device), number_(number), render_(render) {}

File::~File() {
  MutexLock lock(kernel().mutex());
  CloseObjects();
}

void File::CloseObjects() {
  for (const auto& [handle, object] : objects_.values()) OnClosed(object);
  handle_of_.clear();
  objects_.Clear();
  kernel().shared_files().DropClosedObjects();
}

const IoctlEntry* File::FindEntry(uint32_t request) const {
  if (IoctlType(request) != kDrmIoctlType) return nullptr;
  const uint32_t number = IoctlNumber(request);
  const bool own = number >= drm::kDriverBase && number < 0xa0;
  const absl::Span<const IoctlEntry> entries = own ? DriverIoctls() : CoreIoctls();
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const IoctlEntry& e) {
    return IoctlNumber(e.request) == number;
  });
  return entry == entries.end() ? nullptr : &*entry;
}

absl::string_view File::CallName(uint32_t request) const {
  const IoctlEntry* const entry = FindEntry(request);
  return entry == nullptr ? "" : entry->name;
}

Result File::Ioctl(Caller& caller, uint32_t request, uint64_t argument) {
  if (IoctlType(request) != kDrmIoctlType) return -ENOTTY;
  const IoctlEntry* const entry = FindEntry(request);
  if (entry == nullptr) return -EINVAL;
  if (render_ && !entry->render) return -EACCES;
  // The structure may be an older or a newer one: what it lacks is zero, what it has more of is
  // left alone.
  alignas(8) std::array<uint8_t, kMostIoctlBytes> bytes = {};
  const size_t common = std::min(IoctlSize(request), IoctlSize(entry->request));
  if (IoctlIn(request) && IoctlIn(entry->request) &&
      !caller.memory()->Read(argument, {bytes.data(), common})) {
    return -EFAULT;
  }
  Result result = 0;
  {
    MutexLock lock(kernel().mutex());
    call = entry->name;
    why.clear();
    result = entry->call(*this, caller, bytes.data());
    kernel().scheduler().Advance();
    kernel().Changed();
    if (result < 0) kernel().Refused(caller, entry->name, result, why);
  }
  // Also after an error: the structure has what was done until then.
  if (IoctlOut(request) && IoctlOut(entry->request) &&
      !caller.memory()->Write(argument, {bytes.data(), common})) {
    return -EFAULT;
  }
  return result;
}

Result File::Mmap(Caller& caller, uint64_t offset, uint64_t size, Mapped& out) {
  MutexLock lock(kernel().mutex());
  call = "mmap";
  const MockKernel::MapTarget target = kernel().FindMapOffset(offset);
  if (!target.object || size == 0 || offset % 4096 != 0) return -EINVAL;
  // Pages: the system rounds the size up.
  const uint64_t whole = (target.object->size() + 4095) / 4096 * 4096;
  if (size > whole || target.offset > whole - size) return -EINVAL;
  if (!handle_of_.contains(target.object->id())) {
    kernel().Refused(caller, call, -EACCES, "this file has no handle of the object");
    return -EACCES;
  }
  out.memory = ViewOf(*target.object, target.mode);
  out.offset = target.offset;
  return out.memory ? 0 : -EINVAL;
}

std::shared_ptr<SharedMemory> File::ViewOf(Object& object, uint32_t mode) {
  (void)mode;
  return object.memory();
}

Result File::MayExport(const Object& object) const { return object.memory() ? 0 : -EINVAL; }

uint32_t File::AddObject(std::shared_ptr<Object> object) {
  const uint64_t id = object->id();
  const uint32_t handle = objects_.Insert(std::move(object));
  handle_of_[id] = handle;
  return handle;
}

std::shared_ptr<Object> File::FindObject(uint32_t handle) {
  const auto* const found = objects_.Find(handle);
  return found == nullptr ? nullptr : *found;
}

std::shared_ptr<Syncobj> File::FindSyncobj(uint32_t handle) {
  const auto* const found = syncobjs_.Find(handle);
  return found == nullptr ? nullptr : *found;
}

void File::Warn(const Caller& caller, absl::string_view text) const {
  device_.kernel().Warn(caller, call, text);
}

Result File::Refuse(Result error, absl::string_view text) {
  why = std::string(text);
  return error;
}

absl::Span<const IoctlEntry> File::CoreIoctls() {
  static constexpr IoctlEntry kEntries[] = {
      MakeIoctl<&File::Version>(drm::kVersion, "VERSION"),
      MakeIoctl<&File::GetUnique>(drm::kGetUnique, "GET_UNIQUE", false),
      MakeIoctl<&File::GetMagic>(drm::kGetMagic, "GET_MAGIC", false),
      MakeIoctl<&File::SetVersion>(drm::kSetVersion, "SET_VERSION", false),
      MakeIoctl<&File::GemClose>(drm::kGemClose, "GEM_CLOSE"),
      MakeIoctl<&File::GemFlink>(drm::kGemFlink, "GEM_FLINK", false),
      MakeIoctl<&File::GemOpen>(drm::kGemOpen, "GEM_OPEN", false),
      MakeIoctl<&File::GetCap>(drm::kGetCap, "GET_CAP"),
      MakeIoctl<&File::SetClientCap>(drm::kSetClientCap, "SET_CLIENT_CAP", false),
      MakeIoctl<&File::AuthMagic>(drm::kAuthMagic, "AUTH_MAGIC", false),
      MakeIoctl<&File::Master>(drm::kSetMaster, "SET_MASTER", false),
      MakeIoctl<&File::Master>(drm::kDropMaster, "DROP_MASTER", false),
      MakeIoctl<&File::PrimeHandleToFd>(drm::kPrimeHandleToFd, "PRIME_HANDLE_TO_FD"),
      MakeIoctl<&File::PrimeFdToHandle>(drm::kPrimeFdToHandle, "PRIME_FD_TO_HANDLE"),
      MakeIoctl<&File::SyncobjCreate>(drm::kSyncobjCreate, "SYNCOBJ_CREATE"),
      MakeIoctl<&File::SyncobjDestroy>(drm::kSyncobjDestroy, "SYNCOBJ_DESTROY"),
      MakeIoctl<&File::SyncobjHandleToFd>(drm::kSyncobjHandleToFd, "SYNCOBJ_HANDLE_TO_FD"),
      MakeIoctl<&File::SyncobjFdToHandle>(drm::kSyncobjFdToHandle, "SYNCOBJ_FD_TO_HANDLE"),
      MakeIoctl<&File::SyncobjWait>(drm::kSyncobjWait, "SYNCOBJ_WAIT"),
      MakeIoctl<&File::SyncobjReset>(drm::kSyncobjReset, "SYNCOBJ_RESET"),
      MakeIoctl<&File::SyncobjSignal>(drm::kSyncobjSignal, "SYNCOBJ_SIGNAL"),
      MakeIoctl<&File::SyncobjTimelineWait>(drm::kSyncobjTimelineWait, "SYNCOBJ_TIMELINE_WAIT"),
      MakeIoctl<&File::SyncobjQuery>(drm::kSyncobjQuery, "SYNCOBJ_QUERY"),
      MakeIoctl<&File::SyncobjTransfer>(drm::kSyncobjTransfer, "SYNCOBJ_TRANSFER"),
      MakeIoctl<&File::SyncobjTimelineSignal>(drm::kSyncobjTimelineSignal,
                                              "SYNCOBJ_TIMELINE_SIGNAL"),
      MakeIoctl<&File::SyncobjEventfd>(drm::kSyncobjEventfd, "SYNCOBJ_EVENTFD"),
  };
  return kEntries;
}

Result File::Version(Caller& caller, drm::version& args) {
  const MockDevice::Version version = device_.version();
  args.version_major = version.major;
  args.version_minor = version.minor;
  args.version_patchlevel = version.patch;
  // As much as fits, without an end; the caller learns the whole length.
  const auto put = [&caller](absl::string_view text, uint64_t& length, uint64_t address) {
    const size_t size = std::min<uint64_t>(length, text.size());
    length = text.size();
    if (address == 0 || size == 0) return true;
    return caller.memory()->Write(address, {reinterpret_cast<const uint8_t*>(text.data()), size});
  };
  return put(version.name, args.name_len, args.name) &&
                 put(version.date, args.date_len, args.date) &&
                 put(version.description, args.desc_len, args.desc)
             ? 0
             : -EFAULT;
}

Result File::GetUnique(Caller&, drm::unique& args) {
  args.unique_len = 0;
  return 0;
}

Result File::SetVersion(Caller&, drm::set_version& args) {
  const MockDevice::Version version = device_.version();
  const bool bad_interface =
      args.di_major != -1 && (args.di_major != 1 || args.di_minor < 0 || args.di_minor > 4);
  const bool bad_driver =
      args.dd_major != -1 &&
      (args.dd_major != version.major || args.dd_minor < 0 || args.dd_minor > version.minor);
  args = {1, 4, version.major, version.minor};
  return bad_interface || bad_driver ? -EINVAL : 0;
}

Result File::GetMagic(Caller&, drm::auth& args) {
  args.magic = static_cast<uint32_t>(number_);
  return 0;
}

Result File::AuthMagic(Caller&, drm::auth& args) {
  return args.magic == 0 || args.magic > number_ + 1'000'000 ? -EINVAL : 0;
}

Result File::Master(Caller&, drm::nothing&) { return 0; }

Result File::GetCap(Caller&, drm::get_cap& args) {
  args.value = 0;
  switch (args.capability) {
    case drm::kCapPrime:
      args.value = drm::kPrimeCapImport | drm::kPrimeCapExport;
      return 0;
    case drm::kCapTimestampMonotonic:
    case drm::kCapSyncobj:
    case drm::kCapSyncobjTimeline:
      args.value = 1;
      return 0;
    default:
      // What displays have, and all that the kernel does not know: there is no display.
      return -EOPNOTSUPP;
  }
}

Result File::SetClientCap(Caller&, drm::set_client_cap&) { return -EOPNOTSUPP; }

Result File::GemClose(Caller&, drm::gem_close& args) {
  std::shared_ptr<Object> object = FindObject(args.handle);
  if (!object) return -EINVAL;
  objects_.Remove(args.handle);
  handle_of_.erase(object->id());
  OnClosed(object);
  object.reset();
  kernel().shared_files().DropClosedObjects();
  return 0;
}

Result File::GemFlink(Caller&, drm::gem_flink& args) {
  const std::shared_ptr<Object> object = FindObject(args.handle);
  if (!object) return -ENOENT;
  args.name = kernel().NameOf(device_, object);
  return 0;
}

Result File::GemOpen(Caller&, drm::gem_open& args) {
  const std::shared_ptr<Object> object = kernel().FindNamed(device_, args.name);
  if (!object) return -ENOENT;
  const auto known = handle_of_.find(object->id());
  args.handle = known != handle_of_.end() ? known->second : AddObject(object);
  args.size = object->size();
  return 0;
}

Result File::PrimeHandleToFd(Caller& caller, drm::prime_handle& args) {
  constexpr uint32_t kReadWrite = 2, kCloseOnExec = 0x80000;
  args.fd = -1;
  if ((args.flags & ~(kReadWrite | kCloseOnExec)) != 0) return -EINVAL;
  const std::shared_ptr<Object> object = FindObject(args.handle);
  if (!object) return -ENOENT;
  if (const Result bad = MayExport(*object)) return bad;
  UniqueFd fd = kernel().shared_files().Export(object);
  if (!fd) return -ENOMEM;
  const Result number = caller.Install(std::move(fd), (args.flags & kCloseOnExec) != 0);
  if (number < 0) return number;
  args.fd = number;
  return 0;
}

Result File::PrimeFdToHandle(Caller& caller, drm::prime_handle& args) {
  const UniqueFd fd = caller.Take(args.fd);
  if (!fd) return -EBADF;
  std::shared_ptr<Object> object = kernel().shared_files().FindObject(fd.get());
  if (!object) return Refuse(-EINVAL, "the descriptor is not a dma-buf");
  object = kernel().ObjectOn(device_, object);
  const auto known = handle_of_.find(object->id());
  args.handle = known != handle_of_.end() ? known->second : AddObject(object);
  return 0;
}

}  // namespace packsmith::capture
