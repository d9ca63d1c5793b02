// I915Device: jobs as EXECBUFFER2 takes them.
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"
#include "runtime/kernel/i915/i915_device.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::gpu {

namespace api = uapi::i915;

using i915::PlaceOf;

namespace {

// Where no object is: relocations that presume it are always written.
constexpr uint64_t kNowhere = ~uint64_t{0};

}  // namespace

std::unique_ptr<i915::ExecLists> I915Device::TakeLists() {
  MutexLock lock(mutex_);
  if (lists_.empty()) return std::make_unique<i915::ExecLists>();
  std::unique_ptr<i915::ExecLists> taken = std::move(lists_.back());
  lists_.pop_back();
  return taken;
}

void I915Device::ReturnLists(std::unique_ptr<i915::ExecLists> lists) {
  MutexLock lock(mutex_);
  lists_.push_back(std::move(lists));
}

void I915Device::FindMoved(const Submission& submission, i915::ExecLists& lists) {
  lists.moved.assign(submission.objects.size(), {});
  MutexLock lock(mutex_);
  if (moved_.empty()) return;
  for (size_t i = 0; i < submission.objects.size(); ++i) {
    const auto found = moved_.find(submission.objects[i].handle);
    if (found == moved_.end()) continue;
    lists.moved[i] = {.moved = true, .address = found->second};
    lists.any_moved = true;
  }
}

void I915Device::FillObjects(const Submission& submission, bool captures,
                             i915::ExecLists& lists) const {
  const bool pinned = submission.relocations.empty();
  lists.batch_place = capabilities_.has_batch_first ? 0 : submission.objects.size() - 1;
  lists.objects.resize(submission.objects.size());
  for (size_t i = 0; i < submission.objects.size(); ++i) {
    const JobObject& from = submission.objects[i];
    const size_t place = PlaceOf(i, submission.batch_object, lists.batch_place);
    api::gem_exec_object2& object = lists.objects[place];
    object = {};
    object.handle = from.handle;
    object.offset = Canonical(from.address, properties().address_bits == 48 ? 48 : 64);
    if (pinned) {
      object.flags |= api::kObjectPinned;
    } else if (lists.moved[i].moved) {
      object.offset = lists.moved[i].address;
    }
    if (capabilities_.has_spaces) object.flags |= api::kObjectSupports48bAddress;
    const bool shared = (from.use & (kShared | kScanout)) != 0;
    if (!shared && capabilities_.has_async) object.flags |= api::kObjectAsync;
    // Batches cannot be marked as written, be they or not.
    if (from.written && place != lists.batch_place) {
      object.flags |= api::kObjectWrite;
      if (capabilities_.writes_are_global) object.flags |= api::kObjectNeedsGtt;
    }
    if (captures && (from.use & kCaptured) != 0) object.flags |= api::kObjectCapture;
  }
}

void I915Device::FillRelocations(const Submission& submission, i915::ExecLists& lists) {
  // Sorted by the object that holds the words, in two passes.
  lists.next.assign(submission.objects.size() + 1, 0);
  for (const JobRelocation& relocation : submission.relocations) ++lists.next[relocation.in + 1];
  for (size_t i = 1; i < lists.next.size(); ++i) lists.next[i] += lists.next[i - 1];
  lists.relocations.resize(submission.relocations.size());
  for (size_t i = 0; i < submission.objects.size(); ++i) {
    api::gem_exec_object2& object =
        lists.objects[PlaceOf(i, submission.batch_object, lists.batch_place)];
    object.relocation_count = lists.next[i + 1] - lists.next[i];
    object.relocs_ptr = reinterpret_cast<uintptr_t>(lists.relocations.data() + lists.next[i]);
  }
  for (const JobRelocation& from : submission.relocations) {
    const size_t target = PlaceOf(from.target, submission.batch_object, lists.batch_place);
    api::gem_relocation_entry& made = lists.relocations[lists.next[from.in]++];
    made = {};
    made.target_handle = static_cast<uint32_t>(target);
    made.delta = from.delta;
    made.offset = from.offset;
    // Words that were written before the target was moved, and those that the kernel has corrected,
    // differ: if it ever was, all are written again.
    made.presumed_offset =
        lists.moved[from.target].moved ? kNowhere : submission.objects[from.target].address;
    made.read_domains = api::kDomainRender;
    if (from.written && target != lists.batch_place) made.write_domain = api::kDomainRender;
  }
}

void I915Device::NoteMoved(const Submission& submission, const i915::ExecLists& lists) {
  for (size_t i = 0; i < submission.objects.size(); ++i) {
    const uint64_t address =
        lists.objects[PlaceOf(i, submission.batch_object, lists.batch_place)].offset;
    const uint64_t before =
        lists.moved[i].moved ? lists.moved[i].address : submission.objects[i].address;
    if (address == before) continue;
    MutexLock lock(mutex_);
    moved_[submission.objects[i].handle] = address;
  }
}

void I915Device::AddPoints(const Submission& submission, i915::ExecLists& lists) {
  lists.points.assign(lists.fences.size(), 0);
  for (const auto& [points, flags] : {std::pair(submission.wait_points, api::kFenceWait),
                                      std::pair(submission.signal_points, api::kFenceSignal)}) {
    for (const SyncobjPoint& point : points) {
      lists.fences.push_back({.handle = point.syncobj, .flags = flags});
      lists.points.push_back(point.value);
    }
  }
}

absl::Status I915Device::Refused(int error, const Job& job) {
  if (error == EIO) {
    contexts_.NoteLost(job.space, job.context);
    return absl::AbortedError(absl::StrFormat(
        "context %d of space %d is lost: it hung, and takes no more jobs; the kernel reports the "
        "hang in %s",
        job.context, job.space, dump_));
  }
  return SubmitError(error, "GEM_EXECBUFFER2", job);
}

absl::Status I915Device::Execute(const Submission& submission) {
  const Job& job = submission.job;
  const std::optional<size_t> engine = i915::FindEngine(capabilities_, job.engine);
  if (!engine.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(calls().path(), " has no engine \"", job.engine,
                     "\"; DeviceProperties::engines lists the engines"));
  }
  const JobObject& batch = submission.objects[submission.batch_object];
  const uint64_t start = submission.batch_address - batch.address;
  // The kernel has 32 bits for the place where a batch begins and for its length, in whole qwords.
  const uint64_t length = (job.batch_length + 7) / 8 * 8;
  if (start % 8 != 0 || (start | length) >> 32 != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the batch, 0x%x bytes at 0x%x, must begin at a multiple of 8 bytes, in the first 4 GiB of "
        "its memory, and be shorter than that",
        job.batch_length, submission.batch_address));
  }
  const absl::StatusOr<i915::Contexts::Target> target = contexts_.Find(job.space, job.context);
  if (!target.ok()) return target.status();

  std::unique_ptr<i915::ExecLists> lists = TakeLists();
  const bool relocates = !submission.relocations.empty();
  lists->any_moved = false;
  if (relocates) FindMoved(submission, *lists);
  const bool captures =
      capabilities_.has_capture && (capabilities_.captures_if_recoverable || !target->recoverable);
  FillObjects(submission, captures, *lists);
  if (relocates) FillRelocations(submission, *lists);
  lists->fences.clear();
  for (const uint32_t syncobj : submission.waits) {
    lists->fences.push_back({.handle = syncobj, .flags = api::kFenceWait});
  }
  lists->fences.push_back({.handle = submission.signals, .flags = api::kFenceSignal});
  lists->points.clear();
  const bool has_points = !submission.wait_points.empty() || !submission.signal_points.empty();
  if (has_points) AddPoints(submission, *lists);
  api::gem_execbuffer_ext_timeline_fences extension = {};
  extension.base.name = api::kExecTimelineFences;
  extension.fence_count = lists->fences.size();
  extension.handles_ptr = reinterpret_cast<uintptr_t>(lists->fences.data());
  extension.values_ptr = reinterpret_cast<uintptr_t>(lists->points.data());

  api::gem_execbuffer2 args = {};
  args.buffers_ptr = reinterpret_cast<uintptr_t>(lists->objects.data());
  args.buffer_count = static_cast<uint32_t>(lists->objects.size());
  args.batch_start_offset = static_cast<uint32_t>(start);
  args.batch_len = static_cast<uint32_t>(length);
  // One of the two: a list of fences, or extensions, one of which is a list with points.
  if (has_points) {
    args.cliprects_ptr = reinterpret_cast<uintptr_t>(&extension);
  } else {
    args.cliprects_ptr = reinterpret_cast<uintptr_t>(lists->fences.data());
    args.num_cliprects = static_cast<uint32_t>(lists->fences.size());
  }
  args.flags = capabilities_.has_spaces ? *engine : capabilities_.engines[*engine].ring;
  args.flags |= has_points ? api::kExecUseExtensions : api::kExecFenceArray;
  args.flags |= api::kExecHandleLut;
  if (capabilities_.has_batch_first) args.flags |= api::kExecBatchFirst;
  // If an object was moved once, words may hold either address.
  if (!lists->any_moved) args.flags |= api::kExecNoReloc;
  args.rsvd1 = target->id;
  const int result = calls().Try(api::kGemExecbuffer2, args);
  if (result >= 0 && relocates) NoteMoved(submission, *lists);
  ReturnLists(std::move(lists));
  return result < 0 ? Refused(-result, job) : absl::OkStatus();
}

}  // namespace packsmith::gpu
