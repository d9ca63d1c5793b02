// Shows the jobs of a program as they are submitted, for PACKSMITH_DEBUG=bat.
//
//   int main() {
//     packsmith::gpu::ShowJobsOnStderr();
//
// In a room of its own, so that programs without it do not have the decoder.

#ifndef PACKSMITH_RUNTIME_DEBUG_SHOW_JOBS_H_
#define PACKSMITH_RUNTIME_DEBUG_SHOW_JOBS_H_

#include "runtime/decode/record.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// From now on, if the switch is on, all devices show their jobs.
void ShowJobsOnStderr();

// Decodes a job's batch: packets, and what they point to, as far as it is in residents that the CPU
// can see. (Fields that are zero are left out.) The job need not be submitted. State that earlier
// jobs have left in the context is not known.
void ShowJobOn(decode::Output& output, Device& device, const Job& job);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_DEBUG_SHOW_JOBS_H_
