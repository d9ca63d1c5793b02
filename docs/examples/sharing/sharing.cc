// Two processes whose jobs share a buffer: one stores a value, the other copies it. Argument: a
// GPU's node.

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "docs/examples/must.h"
#include "runtime/base/unique_fd.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx12.h"
#include "runtime/intel/batch/gfx125.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/batch/xe2.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/kernel/open.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffer_sharing.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"

namespace {

using example::Expect;
using example::Must;
using packsmith::UniqueFd;
using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example

void Send(int socket, const UniqueFd& fd) {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = fd.get();
  std::memcpy(CMSG_DATA(header), &number, sizeof(number));
  Expect(sendmsg(socket, &message, 0) == 1, "a descriptor can be sent");
}

UniqueFd Receive(int socket) {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  Expect(recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != nullptr,
         "the other process sends a descriptor");
  int number = -1;
  std::memcpy(&number, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(number));
  return UniqueFd(number);
}

// A process with its device.
template <class Gen>
class Process {
 public:
  explicit Process(std::unique_ptr<Device> device)
      : device_(std::move(device)),
        space_(
            Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = Gen::kVersion}))))),
        buffers_(Buffers::Create(*device_, *space_, {})),
        other_(Must(space_->FindZone("other"))),
        chunks_(*buffers_, {.zone = other_}) {}

  // The process that has the buffer stores a value, and reads what the other one copied.
  void Store(int socket) {
    Device& device = *device_;
    Buffers& buffers = *buffers_;
    const ZoneId other = other_;
    // Page: export
    const Buffer image = Must(buffers.Create({.size = 64 * kKiB,
                                              .zone = other,
                                              .name = "image",
                                              .use = kShared,
                                              .alignment = 64 * kKiB}));
    // For the other process.
    const UniqueFd file = Must(BufferSharing(buffers).Export(image.handle));
    // End
    std::memset(image.cpu, 0, 64);
    Batch<Gen> batch(chunks_);
    batch.Emit(
        typename Gen::StoreData{.address = {image.address, image.handle}, .immediate_data = 42});
    const Fence stored = Submit(batch);
    Send(socket, file);
    Send(socket, Must(device.ExportFence(stored)));

    Follow(image, Receive(socket));
    const bool done = Must(buffers.Wait(image.handle, /*to_write=*/false, absl::Seconds(10)));
    uint32_t words[3] = {};
    std::memcpy(words, image.cpu, sizeof(words));
    std::printf("done %d, stored %u, copied %u\n", done, words[0], words[2]);
  }

  // The other one copies it within the buffer.
  void Copy(int socket) {
    Buffers& buffers = *buffers_;
    const ZoneId other = other_;
    const UniqueFd file = Receive(socket);
    // Page: import
    const Buffer window =
        Must(BufferSharing(buffers).Import(file.get(), {.zone = other, .name = "window"}));
    // End
    Follow(window, Receive(socket));
    Batch<Gen> batch(chunks_);
    batch.Emit(
        typename Gen::CopyMemory{.destination_memory_address = {window.address + 8, window.handle},
                                 .source_memory_address = {window.address, window.handle}});
    Send(socket, Must(device_->ExportFence(Submit(batch))));
  }

 private:
  void Follow(const Buffer& buffer, const UniqueFd& sync_file) {
    Device& device = *device_;
    Buffers& buffers = *buffers_;
    // Page: follow
    const Fence theirs = Must(device.ImportFence(sync_file.get()));
    const BufferAccess use = {buffer.handle, /*written=*/true};
    Must(buffers.Use({&use, 1}, theirs));
    // End
  }

  Fence Submit(Batch<Gen>& batch) {
    Must(batch.End());
    Residency residency(*buffers_);
    for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
    const BatchPart& begin = batch.parts()[0];
    Buffers& buffers = *buffers_;
    // Page: share-job
    const std::vector<Fence> before = Must(buffers.JobsBefore(residency.uses()));
    const Fence fence = Must(buffers.Submit({.batch_address = begin.chunk.gpu,
                                             .batch_length = begin.total * uint64_t{4},
                                             .residents = residency.residents(),
                                             .after = before},
                                            residency.uses()));
    // End
    return fence;
  }

  const std::unique_ptr<Device> device_;
  const std::unique_ptr<AddressSpace> space_;
  const std::unique_ptr<Buffers> buffers_;
  const ZoneId other_;
  BufferChunks chunks_;
};

template <class Gen>
void Run(std::unique_ptr<Device> device, int socket, bool stores) {
  Process<Gen> process(std::move(device));
  if (stores) {
    process.Store(socket);
  } else {
    process.Copy(socket);
  }
}

int RunProcess(const char* node, int socket, bool stores) {
  std::unique_ptr<Device> device = Must(OpenDevice({.path = node}));
  const std::string generation = device->generation();
  if (generation == "gfx9") {
    Run<Gfx9>(std::move(device), socket, stores);
  } else if (generation == "gfx12") {
    Run<Gfx12>(std::move(device), socket, stores);
  } else if (generation == "gfx125") {
    Run<Gfx125>(std::move(device), socket, stores);
  } else if (generation == "xe2") {
    Run<Xe2>(std::move(device), socket, stores);
  } else {
    std::fprintf(stderr, "the example has no batches for %s\n", generation.c_str());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: sharing NODE\n", stderr);
    return 2;
  }
  int ends[2];
  Expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "there are sockets");
  // Before a device is opened: each process has its own.
  const pid_t child = fork();
  Expect(child >= 0, "there is another process");
  const bool stores = child != 0;
  // So that each process notices when the other one ends early.
  close(ends[stores ? 1 : 0]);
  const int result = RunProcess(argv[1], ends[stores ? 0 : 1], stores);
  if (!stores) return result;
  int status = 0;
  Expect(waitpid(child, &status, 0) == child && status == 0, "the other process succeeds");
  return result;
}
