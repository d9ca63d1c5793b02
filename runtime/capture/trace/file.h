// An open file of a real GPU driver: what is known of it from its calls. Drivers derive a class.
#ifndef PACKSMITH_RUNTIME_CAPTURE_TRACE_FILE_H_
#define PACKSMITH_RUNTIME_CAPTURE_TRACE_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/work.h"
#include "runtime/capture/trace/call.h"
#include "runtime/capture/trace/object.h"

namespace packsmith::capture {

// Who receives the submissions. Called on the threads of the calls, one at a time.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Whether OnSubmit() has a use for a submission, whose memory is not read otherwise. `work` has
  // no memory and no streams yet; its number is another one if others are accepted before.
  virtual bool Wants(const Work& work) {
    (void)work;
    return true;
  }
  // A submission that the kernel has accepted. Its memory is valid during the call only: later
  // submissions change it.
  virtual void OnSubmit(const Work& work) = 0;
};

// What all files of a run share.
struct TraceShared {
  explicit TraceShared(TraceSink& a_sink) : sink(a_sink) {}

  TraceSink& sink;
  MappingReader reader;
  uint64_t objects_made = 0, contexts_made = 0, works_made = 0, files_made = 0;
  // Objects that were given away: by the inode of the descriptor, and by (device's minor, name).
  std::unordered_map<uint64_t, std::weak_ptr<TracedObject>> exported;
  std::map<std::pair<int, uint32_t>, std::weak_ptr<TracedObject>> named;
};

class TracedFile {
 public:
  // `minor`: of the render node. `device` outlives the file; null: it is not known.
  TracedFile(TraceShared& shared, int minor, const DeviceInfo* device)
      : shared_(shared), minor_(minor), device_(device), number_(++shared.files_made) {}
  virtual ~TracedFile() = default;
  TracedFile(const TracedFile&) = delete;
  TracedFile& operator=(const TracedFile&) = delete;

  // By the call's number in its table, 0 to 255.
  TraceInterest InterestIn(uint32_t number) const;

  // What remains to be done when the call has returned, whatever its result. Null: nothing.
  using Finish = std::function<void(const TracedCall&)>;
  Finish Before(const TracedCall& call);
  // Of a call that succeeded, and that Before() had nothing to do with.
  void After(const TracedCall& call);

  // A copy of the file was closed: unmaps all objects, since mappings may keep a file open.
  void Unmap();

 protected:
  // The driver's own calls, by their numbers from uapi::drm::kDriverBase on.
  virtual TraceInterest DriverInterestIn(uint32_t number) const = 0;
  virtual Finish DriverBefore(uint32_t number, const TracedCall& call) = 0;
  virtual void DriverAfter(uint32_t number, const TracedCall& call) = 0;
  // After the handle of an object was closed.
  virtual void OnClosed(const TracedObject& object) { (void)object; }
  // Maps an object of that handle; null: it cannot be mapped.
  virtual void* MapObject(TraceAccess& access, uint32_t handle, uint64_t size) = 0;

  // Null: there is no such object.
  std::shared_ptr<TracedObject> FindObject(uint32_t handle) const;
  void AddObject(uint32_t handle, std::shared_ptr<TracedObject> object);
  // A new object; null: the system has no memory left.
  std::shared_ptr<TracedObject> CreateObject(uint32_t handle, uint64_t size);
  std::shared_ptr<TracedObject> CreateUserObject(const Caller& caller, uint64_t address,
                                                 uint64_t size);
  // A program may write the object from now on.
  void NoteWritten(uint32_t handle);
  // Brings the copy up to date. False: it could not be read.
  bool Refresh(TraceAccess& access, TracedObject& object);

  // A submission without memory and streams, that is likely to be the `ahead`th from now on.
  Work MakeWork(const Caller& caller, absl::string_view interface, uint64_t ahead = 1) const;
  // Numbers the submission and hands it on.
  void Submit(Work& work);

  // Takes an entry of a table out before the call that removes it, since the kernel may give its
  // number to another thread's object before the call returns; puts it back if the call fails.
  template <typename Table>
  static Finish TakeOut(Table& table, uint32_t id) {
    const auto found = table.find(id);
    if (found == table.end()) return nullptr;
    auto taken = table.extract(found);
    // A function that can be copied needs what can be copied.
    return [&table, id, value = std::move(taken.mapped())](const TracedCall& call) {
      if (call.result < 0) table.try_emplace(id, value);
    };
  }

  TraceShared& shared_;
  const int minor_;
  const DeviceInfo* const device_;
  const uint64_t number_;

 private:
  Finish BeforeClose(const TracedCall& call);
  void AfterExport(const TracedCall& call);
  void AfterImport(const TracedCall& call);
  void AfterFlink(const TracedCall& call);
  void AfterOpen(const TracedCall& call);

  std::map<uint32_t, std::shared_ptr<TracedObject>> objects_;
  std::unordered_map<const TracedObject*, uint32_t> handle_of_;
};

// What is mapped in an address space that lives longer than a submission.
class TracedSpace {
 public:
  // Ranges without size, and those that pass the end of all addresses, are ignored.
  void Map(Mapping mapping) {
    if (IsRange(mapping.address, mapping.size)) Change().Map(std::move(mapping));
  }
  void Unmap(uint64_t address, uint64_t size) {
    if (IsRange(address, size)) Change().Unmap(address, size);
  }
  void UnmapObject(const Object& object) { Change().UnmapObject(object); }
  // Later changes do not concern it.
  std::shared_ptr<const AddressMap> Bound() {
    handed_out_ = true;
    return map_;
  }
  bool scratch_page = false;

 private:
  static bool IsRange(uint64_t address, uint64_t size) {
    return size != 0 && size - 1 <= ~uint64_t{0} - address;
  }
  AddressMap& Change() {
    if (handed_out_) map_ = std::make_shared<AddressMap>(*map_);
    handed_out_ = false;
    return *map_;
  }

  std::shared_ptr<AddressMap> map_ = std::make_shared<AddressMap>();
  bool handed_out_ = false;
};

// Null: not a file of that driver, or the device does not answer. Devices are found in the table of
// mocked ones, with their ids.
std::unique_ptr<TracedFile> MakeTracedI915(TraceShared& shared, int minor,
                                           const DeviceInfo* device);
std::unique_ptr<TracedFile> MakeTracedXe(TraceShared& shared, int minor, const DeviceInfo* device);
std::unique_ptr<TracedFile> MakeTracedAsahi(TraceShared& shared, int minor,
                                            const DeviceInfo* device);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_TRACE_FILE_H_
