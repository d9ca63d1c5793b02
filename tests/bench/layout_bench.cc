// Copies into and out of tiled images, beside memcpy of the same bytes in the same run.
//
// Copy/B/SIDE is that memcpy; In and Out go through a plan. A region that is not aligned to
// anything is of 1000x1001 elements at (13, 7) of an image of 1100x1100.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/layout/copy.h"
#include "runtime/layout/layout.h"

namespace packsmith::layout {
namespace {

struct Free {
  void operator()(uint8_t* bytes) const { std::free(bytes); }
};

// Memory as mmap or a driver gives it: aligned, and its pages exist.
struct Memory {
  explicit Memory(uint64_t size)
      : size_B(size),
        bytes(static_cast<uint8_t*>(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096))) {
    std::memset(bytes.get(), 1, size);
  }
  uint64_t size_B;
  std::unique_ptr<uint8_t, Free> bytes;
};

const char* FormatOf(uint32_t element_B) {
  switch (element_B) {
    case 1:
      return "R8_UINT";
    case 2:
      return "R16_UINT";
    case 3:
      return "R8G8B8_UINT";
    case 4:
      return "R32_UINT";
    case 6:
      return "R16G16B16_UINT";
    case 8:
      return "R32G32_UINT";
    case 12:
      return "R32G32B32_UINT";
    default:
      return "R32G32B32A32_UINT";
  }
}

Layout Image(Scheme scheme, uint32_t element_B, uint32_t side_px) {
  ImageDescription image;
  image.scheme = scheme;
  image.format = FindFormat(FormatOf(element_B));
  image.width_px = image.height_px = side_px;
  absl::StatusOr<Layout> layout = Layout::Of(image);
  if (!layout.ok()) std::abort();
  return *std::move(layout);
}

template <bool kIn>
void BM_Tiled(benchmark::State& state, Scheme scheme, uint32_t element_B, uint32_t side_px,
              Region region) {
  const Layout layout = Image(scheme, element_B, side_px);
  const absl::StatusOr<CopyPlan> plan = CopyPlan::Make(layout, region);
  if (!plan.ok()) std::abort();
  const uint64_t stride_B = plan->linear_row_B();
  Memory image(layout.size_B()), linear(plan->linear_size_B(stride_B));
  const absl::Span<uint8_t> tiled(image.bytes.get(), image.size_B);
  const absl::Span<uint8_t> rows(linear.bytes.get(), linear.size_B);
  for (auto _ : state) {
    const absl::Status status =
        kIn ? plan->CopyIn(rows, stride_B, tiled) : plan->CopyOut(tiled, rows, stride_B);
    if (!status.ok()) std::abort();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * linear.size_B));
}

void BM_Copy(benchmark::State& state, uint64_t size_B) {
  Memory from(size_B), to(size_B);
  for (auto _ : state) {
    std::memcpy(to.bytes.get(), from.bytes.get(), size_B);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size_B));
}

// A level after the other down to a single pixel, in an image of odd size.
void BM_Layout(benchmark::State& state) {
  ImageDescription image;
  image.format = FindFormat("R8G8B8A8_UNORM");
  image.width_px = 1032;
  image.height_px = 2749;
  image.levels = 12;
  for (auto _ : state) {
    benchmark::DoNotOptimize(image);
    const absl::StatusOr<Layout> layout = Layout::Of(image);
    benchmark::DoNotOptimize(layout->size_B());
  }
}
BENCHMARK(BM_Layout);

void BM_Plan(benchmark::State& state, Scheme scheme, uint32_t element_B) {
  const Layout layout = Image(scheme, element_B, 256);
  for (auto _ : state) {
    const absl::StatusOr<CopyPlan> plan = CopyPlan::Make(layout, WholeLevel(layout, 0, 0));
    benchmark::DoNotOptimize(plan->linear_row_B());
  }
}

void RegisterAll() {
  constexpr uint32_t kPowers[] = {1, 2, 4, 8, 16};
  constexpr uint32_t kAll[] = {1, 2, 3, 4, 6, 8, 12, 16};
  for (const Scheme scheme :
       {Scheme::kAgxTwiddled, Scheme::kUInterleaved, Scheme::kIntelX, Scheme::kIntelY,
        Scheme::kIntelTile4, Scheme::kIntelW, Scheme::kIntelYs, Scheme::kIntelTile64}) {
    const bool any_size = scheme == Scheme::kUInterleaved;
    for (const uint32_t element_B :
         any_size ? absl::MakeConstSpan(kAll) : absl::MakeConstSpan(kPowers)) {
      if (scheme == Scheme::kIntelW && element_B != 1) continue;
      const std::string of = absl::StrCat(std::string(SchemeName(scheme)), "/", element_B);
      for (const uint32_t side_px : {256u, 1024u, 4096u}) {
        Region region;
        region.w_el = region.h_el = side_px;
        benchmark::RegisterBenchmark(absl::StrCat("In/", of, "/", side_px).c_str(), BM_Tiled<true>,
                                     scheme, element_B, side_px, region);
        benchmark::RegisterBenchmark(absl::StrCat("Out/", of, "/", side_px).c_str(),
                                     BM_Tiled<false>, scheme, element_B, side_px, region);
      }
      Region odd;
      odd.x_el = 13;
      odd.y_el = 7;
      odd.w_el = 1000;
      odd.h_el = 1001;
      benchmark::RegisterBenchmark(absl::StrCat("In/", of, "/odd").c_str(), BM_Tiled<true>, scheme,
                                   element_B, 1100, odd);
      benchmark::RegisterBenchmark(absl::StrCat("Out/", of, "/odd").c_str(), BM_Tiled<false>,
                                   scheme, element_B, 1100, odd);
      benchmark::RegisterBenchmark(absl::StrCat("Plan/", of).c_str(), BM_Plan, scheme, element_B);
    }
  }
  for (const uint32_t element_B : kAll) {
    for (const uint64_t side_px : {256, 1024, 4096}) {
      benchmark::RegisterBenchmark(absl::StrCat("Copy/", element_B, "/", side_px).c_str(), BM_Copy,
                                   side_px * side_px * element_B);
    }
    benchmark::RegisterBenchmark(absl::StrCat("Copy/", element_B, "/odd").c_str(), BM_Copy,
                                 uint64_t{1000} * 1001 * element_B);
  }
}

const bool kRegistered = (RegisterAll(), true);

}  // namespace
}  // namespace packsmith::layout
