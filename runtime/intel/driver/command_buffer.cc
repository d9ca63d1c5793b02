#include "runtime/intel/driver/command_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/time/time.h"
#include "runtime/intel/driver/context.h"

namespace packsmith::intel {

const char* NameOf(Engine engine) {
  switch (engine) {
    case Engine::kRender:
      return "render";
    case Engine::kCompute:
      return "compute";
    case Engine::kCopy:
      return "copy";
  }
  return "";
}

CommandBuffer::CommandBuffer(Context& context, const CommandBufferOptions& options,
                             std::shared_ptr<Recording> recording)
    : context_(context), options_(options), recording_(std::move(recording)) {}

CommandBuffer::~CommandBuffer() {
  context_.Retire(std::move(recording_));
  for (std::shared_ptr<Recording>& secondary : secondaries_) context_.Retire(std::move(secondary));
}

gpu::State CommandBuffer::Upload(absl::Span<const uint8_t> bytes, uint64_t alignment) {
  const absl::StatusOr<gpu::State> place = recording_->dynamic().Allocate(bytes.size(), alignment);
  if (!place.ok()) {
    Refuse(place.status());
    return {};
  }
  if (!bytes.empty()) std::memcpy(place->cpu, bytes.data(), bytes.size());
  UseBuffer(place->buffer, gpu::kReads);
  return *place;
}

void CommandBuffer::NoteJob(gpu::Fence fence) {
  // Forgets those that are done, which a command buffer that is submitted often collects.
  (void)recording_->IsDone(context_.kernel_device(), absl::ZeroDuration());
  recording_->NoteJob(fence);
  for (const std::shared_ptr<Recording>& secondary : secondaries_) secondary->NoteJob(fence);
}

void CommandBuffer::NoteSecondary(const CommandBuffer& secondary) {
  const auto note = [&](const std::shared_ptr<Recording>& one) {
    if (std::find(secondaries_.begin(), secondaries_.end(), one) == secondaries_.end()) {
      secondaries_.push_back(one);
    }
  };
  note(secondary.recording_);
  // Those that it runs in turn.
  for (const std::shared_ptr<Recording>& one : secondary.secondaries_) note(one);
}

absl::Status CommandBuffer::RewindRecording() {
  if (!recording_->IsDone(context_.kernel_device(), absl::ZeroDuration())) {
    return absl::FailedPreconditionError(
        "the command buffer is still in use by a job: wait for its fence first");
  }
  for (std::shared_ptr<Recording>& secondary : secondaries_) context_.Retire(std::move(secondary));
  secondaries_.clear();
  return recording_->Rewind();
}

}  // namespace packsmith::intel
