#include "runtime/capture/asahi/submission.h"

#include <string>

#include "absl/strings/str_format.h"
#include "runtime/capture/devices/gpu_clock.h"

namespace packsmith::capture {

namespace asahi = uapi::asahi;

namespace {

// One command, from the call to its end. Shared by its job's functions.
struct Running {
  MockKernel* kernel;
  std::shared_ptr<AsahiQueue> queue;
  std::shared_ptr<Work> work;
  AsahiCommand command;
  uint64_t began = 0;  // by the GPU's clock

  uint64_t Now() const { return GpuTicks(*work->device, MonotonicNow()); }
  void Warn(std::string text) const {
    kernel->Warn(work->pid, "SUBMIT", text);
    work->warnings.push_back("SUBMIT: " + std::move(text));
  }
  void CheckStream(const WorkStream& stream) const;
  void Begin();
  void End(bool hung) const;
};

void WriteTime(const std::vector<AsahiCommand::Place>& places, uint64_t time) {
  for (const AsahiCommand::Place& place : places) {
    place.object->Write(place.offset, {reinterpret_cast<const uint8_t*>(&time), sizeof(time)});
  }
}

void Running::CheckStream(const WorkStream& stream) const {
  const Mapping* const mapping = work->memory->Find(stream.address);
  if (mapping == nullptr) {
    Warn(absl::StrFormat("nothing is mapped at %#x, where the %s stream begins", stream.address,
                         stream.stream));
  } else if ((mapping->flags & asahi::kBindRead) == 0) {
    Warn(absl::StrFormat("the GPU may not read %#x, where the %s stream begins", stream.address,
                         stream.stream));
  }
}

void Running::Begin() {
  work->memory = queue->vm->Bound();
  for (const WorkStream& stream : work->streams) CheckStream(stream);
  began = Now();
  WriteTime(command.at_begin, began);
  kernel->OnSubmit(work);
}

void Running::End(bool hung) const {
  if (queue->closed) return;
  const uint64_t now = Now();
  if (!hung) WriteTime(command.at_end, now);
  if (command.ended) command.ended(hung, began, now);
}

std::shared_ptr<Work> MakeWork(const File& file, const Caller& caller,
                               const AsahiSubmission& submission, const AsahiCommand& command) {
  auto work = std::make_shared<Work>();
  work->number = file.device().kernel().NewWorkNumber();
  work->device = &file.device().info();
  work->interface = "asahi";
  work->minor = file.device().render_minor();
  work->pid = caller.pid();
  work->process = caller.name();
  work->file = file.number();
  work->context = submission.queue->context;
  work->memory = std::make_shared<const AddressMap>();
  // Loads of shaders are zeros where nothing is mapped, and stores are dropped.
  work->scratch_page = true;
  DescribeAsahiCommand(command, *work);
  return work;
}

}  // namespace

void SubmitAsahi(const File& file, const Caller& caller, AsahiSubmission submission) {
  MockKernel& kernel = file.device().kernel();
  Scheduler& scheduler = kernel.scheduler();
  const AsahiQueue& queue = *submission.queue;
  Job begin;
  begin.after = std::move(submission.in);
  begin.done = std::make_shared<Fence>();
  // Of earlier submissions.
  const std::shared_ptr<Fence> last_render = scheduler.Last(queue.render);
  const std::shared_ptr<Fence> last_compute = scheduler.Last(queue.compute);
  std::vector<std::shared_ptr<Fence>> all, renders, computes;
  for (AsahiCommand& command : submission.commands) {
    auto running = std::make_shared<Running>();
    running->kernel = &kernel;
    running->queue = submission.queue;
    running->work = MakeWork(file, caller, submission, command);
    running->command = std::move(command);
    if (const auto& compute = running->command.compute;
        compute && compute->cdm_ctrl_stream_end <= compute->cdm_ctrl_stream_base) {
      running->Warn("the compute stream does not end after its beginning");
    }

    Job job;
    job.work = running->work;
    job.after.push_back(begin.done);
    const auto wait = [&job](uint16_t barrier, const std::shared_ptr<Fence>& earlier,
                             const std::vector<std::shared_ptr<Fence>>& here) {
      if (barrier == asahi::kNoBarrier) return;
      // The last of N commands is done after the others.
      job.after.push_back(barrier == 0 ? earlier : here[barrier - 1]);
    };
    wait(running->command.vdm_barrier, last_render, renders);
    wait(running->command.cdm_barrier, last_compute, computes);
    job.begin = [running] { running->Begin(); };
    job.end = [running](bool hung) { running->End(hung); };
    job.done = std::make_shared<Fence>();
    all.push_back(job.done);
    const bool render = running->command.render.has_value();
    (render ? renders : computes).push_back(job.done);
    scheduler.Add(render ? queue.render : queue.compute, std::move(job));
  }
  const std::shared_ptr<Fence> done = WhenAll(all);
  for (const auto& [syncobj, point] : submission.out) {
    if (point == 0) {
      syncobj->Replace(done);
    } else {
      syncobj->AddPoint(point, done);
    }
  }
  scheduler.Add(queue.submissions, std::move(begin));
}

}  // namespace packsmith::capture
