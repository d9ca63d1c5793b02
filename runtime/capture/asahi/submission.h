// Submissions of the asahi interface, once they are read and checked.
#ifndef PACKSMITH_RUNTIME_CAPTURE_ASAHI_SUBMISSION_H_
#define PACKSMITH_RUNTIME_CAPTURE_ASAHI_SUBMISSION_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/capture/asahi/commands.h"
#include "runtime/capture/asahi/device.h"
#include "runtime/capture/drm/file.h"

namespace packsmith::capture {

struct AsahiSubmission {
  std::shared_ptr<AsahiQueue> queue;
  std::vector<AsahiCommand> commands;  // at least one
  // What it waits for, and whom it tells: 0: the object is not used as a timeline.
  std::vector<std::shared_ptr<Fence>> in;
  std::vector<std::pair<std::shared_ptr<Syncobj>, uint64_t>> out;
};

// Queues all of it. With the kernel's lock held.
void SubmitAsahi(const File& file, const Caller& caller, AsahiSubmission submission);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_ASAHI_SUBMISSION_H_
