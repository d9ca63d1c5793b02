// A submission of a program to a mock of i915, alone and with the tracer in its process.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/capture/i915/i915.h"
#include "runtime/kernel/uapi/i915.h"
#include "tests/capture/trace/traced.h"

namespace packsmith::bench {
namespace {

namespace api = uapi::i915;
using capture::AddressOf;

constexpr uint64_t kPage = 4096;

void Copy(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0)) * kPage;
  const std::vector<uint8_t> from(size, 1);
  std::vector<uint8_t> to(size);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), size);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
}

class Sink : public capture::TraceSink {
 public:
  explicit Sink(bool wants) : wants_(wants) {}
  bool Wants(const capture::Work&) override { return wants_; }
  void OnSubmit(const capture::Work& work) override { benchmark::DoNotOptimize(&work); }

 private:
  const bool wants_;
};

// Submits a buffer of that many pages, of which one is written each time.
void Submit(benchmark::State& state, bool traced, bool wants) {
  const auto pages = static_cast<uint64_t>(state.range(0));
  const auto found = capture::FindDevice("tgl");
  capture::DeviceInfo info = *found->device;
  info.pci_id = found->pci_id;
  capture::MockKernel kernel;
  capture::MockDevice& device = kernel.Add(capture::MakeI915(kernel, info));
  const std::shared_ptr<capture::File> file = kernel.Open(device.render_minor());
  capture::OwnCaller caller;
  capture::MockAccess access(file);
  Sink sink(wants);
  capture::Tracer tracer(sink);
  tracer.Open(1, device.render_minor(), access);
  const auto call = [&](uint32_t request, auto& args, capture::TraceInterest interest) {
    capture::TracedCall told = {.request = request,
                                .bytes = {reinterpret_cast<const uint8_t*>(&args), sizeof(args)},
                                .caller = caller,
                                .access = access};
    uint64_t ticket = 0;
    const bool before = interest == capture::TraceInterest::kBeforeAndAfter;
    if (traced && before) ticket = tracer.Before(1, told);
    told.result = file->Ioctl(caller, request, AddressOf(args));
    if (told.result != 0) state.SkipWithError("the call failed");
    if (traced && (ticket != 0 || !before)) tracer.After(1, ticket, told);
  };
  api::gem_create create = {pages * kPage, 0, 0};
  call(api::kGemCreate, create, capture::TraceInterest::kAfter);
  api::gem_mmap_offset offset = {};
  offset.handle = create.handle;
  offset.flags = api::kMmapOffsetWb;
  call(api::kGemMmapOffset, offset, capture::TraceInterest::kAfter);
  capture::File::Mapped mapped;
  if (file->Mmap(caller, offset.offset, kPage, mapped) != 0) state.SkipWithError("no memory");
  uint8_t* const bytes = mapped.memory->bytes().data();
  for (uint64_t page = 0; page < pages; ++page) bytes[page * kPage] = 1;
  api::gem_exec_object2 object = {};
  object.handle = create.handle;
  object.offset = 0x100000;
  object.flags = api::kObjectPinned | api::kObjectSupports48bAddress;
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(object);
  args.buffer_count = 1;
  args.flags = api::kExecNoReloc;
  uint64_t round = 0;
  for (auto _ : state) {
    ++round;
    bytes[round % pages * kPage + 8] = static_cast<uint8_t>(round / pages + 1);
    call(api::kGemExecbuffer2, args, capture::TraceInterest::kBeforeAndAfter);
  }
}

void Bare(benchmark::State& state) { Submit(state, false, false); }
void LeftOut(benchmark::State& state) { Submit(state, true, false); }
void Traced(benchmark::State& state) { Submit(state, true, true); }

BENCHMARK(Copy)->Arg(1)->Arg(256);
BENCHMARK(Bare)->Arg(1);
BENCHMARK(LeftOut)->Arg(256);
BENCHMARK(Traced)->Arg(1)->Arg(256);

}  // namespace
}  // namespace packsmith::bench
