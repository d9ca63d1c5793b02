// A frame of one generation, from nothing to a job that is done.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_FRAME_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_FRAME_H_

#include "absl/time/time.h"
#include "docs/examples/device.h"
#include "docs/examples/frame/context.h"
#include "docs/examples/frame/dispatch.h"
#include "docs/examples/frame/draw.h"
#include "docs/examples/frame/memory.h"
#include "docs/examples/frame/part.h"
#include "docs/examples/frame/pipeline.h"
#include "docs/examples/frame/query.h"
#include "docs/examples/frame/scene.h"

namespace frame {

// Page: frame
template <class Gen>
void Frame(const Part& part, const example::DeviceOption& option) {
  Memory memory(part, option);
  const Scene scene = MakeScene(memory, part);
  Context<Gen> context(memory, part);
  const Queries queries = MakeQueries<Gen>(scene.queries);

  DrawPipeline<Gen> pipeline;
  MakePipeline(part, context.l3, {.vertex = context.Kernel(), .pixel = context.Kernel()}, pipeline);

  context.Begin();
  BeginQueries(context, queries);
  Draw(context, pipeline, scene);
  EndQueries(context, queries);
  Dispatch(context, context.Kernel(), scene);
  // The CPU reads both when the job is done. Only the 3D pipeline can flush all of this.
  context.Select(intel::Pipeline::k3D);
  context.Use(scene.target.memory, intel::CacheDomain::kOtherRead);
  context.Use(scene.counts, intel::CacheDomain::kOtherRead);
  const gpu::Fence fence = context.Submit();
  context.PrintUses();
  example::Expect(Must(memory.device->Wait(fence, absl::Seconds(10))), "the job is done");
  Must(memory.buffers->InvalidateForCpu(scene.queries.handle, 0, scene.queries.size));
  PrintQueries(queries);
}
// End

// Each generation is compiled by itself. Cherryview is of Gfx8, with a smaller address space.
void FrameOfGfx8(const example::DeviceOption& option);
void FrameOfCherryview(const example::DeviceOption& option);
void FrameOfGfx9(const example::DeviceOption& option);
void FrameOfGfx11(const example::DeviceOption& option);
void FrameOfGfx12(const example::DeviceOption& option);
void FrameOfGfx125(const example::DeviceOption& option);
void FrameOfXe2(const example::DeviceOption& option);
void FrameOfXe3(const example::DeviceOption& option);

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_FRAME_H_
