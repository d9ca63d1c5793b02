// Submissions to i915: `i915_client TEST`.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tools/mock/drm_calls.h"
#include "tests/tools/mock/gpu_calls.h"

static const char kNode[] = "/dev/dri/renderD128";
enum { kPage = 4096, kBatchEnd = 0x05000000 };

static void Submissions(int fd) {
  const uint32_t data = I915Create(fd, 16 * kPage), batch = I915Create(fd, 2 * kPage);
  uint32_t* const data_map = I915Map(fd, data, 16 * kPage);
  uint32_t* const batch_map = I915Map(fd, batch, 2 * kPage);
  struct i915_exec_object objects[] = {I915Pinned(data, 0x7f0000000000),
                                       I915Pinned(batch, 0x10000)};
  for (uint32_t i = 0; i < 8; ++i) {
    data_map[1024 * i + 5] = i + 1;
    batch_map[0] = kBatchEnd;
    batch_map[i + 2] = i;
    CHECK(I915Submit(fd, objects, 2, I915_NO_RELOC | (i == 3 ? I915_RING_BLT : 0), 0) == 0);
  }
  // Written without a mapping, by a context of its own.
  struct i915_context_create context = {0, 0, 0};
  CHECK(ioctl(fd, I915_CONTEXT_CREATE, &context) == 0);
  const uint32_t written = I915Create(fd, kPage), words[] = {kBatchEnd, 0, 17};
  struct i915_gem_pwrite pwrite = {written, 0, 0, sizeof(words), Address(words)};
  CHECK(ioctl(fd, I915_GEM_PWRITE, &pwrite) == 0);
  struct i915_exec_object one = I915Pinned(written, 0x20000);
  CHECK(I915Submit(fd, &one, 1, I915_NO_RELOC, context.ctx_id) == 0);
  // A handle that is used again.
  struct drm_gem_close close_written = {written, 0};
  CHECK(ioctl(fd, GEM_CLOSE, &close_written) == 0);
  const uint32_t again = I915Create(fd, 2 * kPage);
  CHECK(again == written);
  uint32_t* const again_map = I915Map(fd, again, 2 * kPage);
  again_map[0] = kBatchEnd;
  again_map[1024] = 99;
  CHECK(I915Submit(fd, &one, 1, I915_NO_RELOC, 0) == 0);
  // The program's own memory.
  void* const own =
      mmap(NULL, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(own != MAP_FAILED);
  struct i915_gem_userptr userptr = {Address(own), 4 * kPage, 0, 0};
  CHECK(ioctl(fd, I915_GEM_USERPTR, &userptr) == 0);
  memset((char*)own + kPage, 0x5a, 100);
  objects[0] = I915Pinned(userptr.handle, 0x30000);
  CHECK(I915Submit(fd, objects, 2, I915_NO_RELOC, 0) == 0);
  // Failures, of which nothing remains.
  objects[0].offset += 1;
  EXPECT_ERRNO(I915Submit(fd, objects, 2, I915_NO_RELOC, 0), EINVAL);
  EXPECT_ERRNO(ioctl(fd, I915_GEM_EXECBUFFER2, (void*)16), EFAULT);
  EXPECT_ERRNO(I915Submit(999, objects, 2, I915_NO_RELOC, 0), EBADF);
}

static void Relocations(void) {
  const int fd = OpenNode(kNode);
  const uint32_t target = I915Create(fd, kPage), batch = I915Create(fd, kPage);
  uint32_t* const map = I915Map(fd, batch, kPage);
  for (int round = 0; round < 3; ++round) {
    map[0] = kBatchEnd;
    map[4] = map[5] = 0;
    struct i915_relocation relocation = {target, 0x80, 16, ~UINT64_C(0), 2, 0};
    struct i915_exec_object objects[2];
    memset(objects, 0, sizeof(objects));
    objects[0].handle = target;
    objects[1].handle = batch;
    objects[1].relocation_count = 1;
    objects[1].relocs_ptr = Address(&relocation);
    CHECK(I915Submit(fd, objects, 2, 0, 0) == 0);
    CHECK(map[4] == (uint32_t)objects[0].offset + 0x80);
  }
}

static void Wait(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// One open file in several processes and under several numbers, and a buffer of two files.
static void Shared(void) {
  const int fd = OpenNode(kNode);
  const uint32_t batch = I915Create(fd, kPage);
  uint32_t* const map = I915Map(fd, batch, kPage);
  map[0] = kBatchEnd;
  struct i915_exec_object object = I915Pinned(batch, 0x10000);
  CHECK(I915Submit(fd, &object, 1, I915_NO_RELOC, 0) == 0);
  const int copy = dup(fd);
  map[2] = 1;
  CHECK(I915Submit(copy, &object, 1, I915_NO_RELOC, 0) == 0);
  const pid_t child = fork();
  if (child == 0) {
    map[2] = 2;
    CHECK(I915Submit(fd, &object, 1, I915_NO_RELOC, 0) == 0);
    const int own = OpenNode(kNode);
    const uint32_t small = I915Create(own, kPage);
    CHECK(small == batch);
    I915Map(own, small, kPage)[0] = 7;
    CHECK(I915Submit(own, &object, 1, I915_NO_RELOC, 0) == 0);
    _Exit(0);
  }
  Wait(child);
  close(fd);
  map[2] = 3;
  CHECK(syscall(SYS_ioctl, copy, GEM_CLOSE, &(struct drm_gem_close){77, 0}) == -1);
  CHECK(I915Submit(copy, &object, 1, I915_NO_RELOC, 0) == 0);
  // The number is another file's.
  const int other = OpenNode(kNode);
  CHECK(other == fd);
  struct drm_prime_handle prime = {batch, PRIME_READ_WRITE, -1};
  CHECK(ioctl(copy, PRIME_HANDLE_TO_FD, &prime) == 0);
  CHECK(ioctl(other, PRIME_FD_TO_HANDLE, &prime) == 0);
  close(prime.fd);
  map[2] = 4;
  object.handle = prime.handle;
  CHECK(I915Submit(other, &object, 1, I915_NO_RELOC, 0) == 0);
  // A number that is taken over.
  CHECK(dup2(copy, other) == other);
  object.handle = batch;
  map[2] = 5;
  CHECK(I915Submit(other, &object, 1, I915_NO_RELOC, 0) == 0);
}

enum { kThreads = 4, kRounds = 25 };

static void* ThreadSubmits(void* argument) {
  const int fd = OpenNode(kNode);
  const uint32_t batch = I915Create(fd, kPage);
  uint32_t* const map = I915Map(fd, batch, kPage);
  map[0] = kBatchEnd;
  struct i915_exec_object object = I915Pinned(batch, 0x10000 * (1 + (uint64_t)(uintptr_t)argument));
  for (uint32_t i = 0; i < kRounds; ++i) {
    map[2] = i;
    CHECK(I915Submit(fd, &object, 1, I915_NO_RELOC, 0) == 0);
  }
  return NULL;
}

static void Threads(void) {
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) {
    CHECK(pthread_create(&threads[i], NULL, ThreadSubmits, (void*)i) == 0);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

// The program has the descriptors that it opened, and errno is what calls leave.
static void Undisturbed(void) {
  const int fd = OpenNode(kNode);
  errno = 4711;
  const uint32_t batch = I915Create(fd, kPage);
  CHECK(errno == 4711);
  I915Map(fd, batch, kPage)[0] = kBatchEnd;
  struct i915_exec_object object = I915Pinned(batch, 0x10000);
  errno = 4711;
  CHECK(I915Submit(fd, &object, 1, I915_NO_RELOC, 0) == 0);
  CHECK(errno == 4711);
  const int next = open("/dev/null", O_RDONLY);
  CHECK(next == fd + 1);
  CHECK(ioctl(next, GEM_CLOSE, &object) == -1 && errno == ENOTTY);
  // Whatever the program closes.
  closefrom(3);
  const int again = OpenNode(kNode);
  CHECK(again == 3);
  I915Map(again, I915Create(again, kPage), kPage)[0] = 1;
  CHECK(I915Submit(again, &object, 1, I915_NO_RELOC, 0) == 0);
}

// The recorder dies: `file` is written when the program has gone on without it.
static void Survives(const char* file) {
  const int fd = OpenNode(kNode);
  const uint32_t batch = I915Create(fd, kPage);
  I915Map(fd, batch, kPage)[0] = kBatchEnd;
  struct i915_exec_object object = I915Pinned(batch, 0x10000);
  CHECK(I915Submit(fd, &object, 1, I915_NO_RELOC, 0) == 0);
  const pid_t recorder = getppid();
  CHECK(kill(recorder, SIGKILL) == 0);
  while (getppid() == recorder) usleep(1000);
  CHECK(I915Submit(fd, &object, 1, I915_NO_RELOC, 0) == 0);
  CHECK(I915Create(OpenNode(kNode), kPage) == 1);
  const int out = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(write(out, "good\n", 5) == 5);
}

// Nanoseconds that a submission of `pages` pages takes, of which one is written each time.
static void Cost(uint32_t pages) {
  const int fd = OpenNode(kNode);
  const uint64_t size = (uint64_t)pages * kPage;
  const uint32_t batch = I915Create(fd, size);
  uint32_t* const map = I915Map(fd, batch, size);
  for (uint32_t i = 0; i < pages; ++i) map[i * 1024] = i + 1;
  struct i915_exec_object object = I915Pinned(batch, 0x100000);
  enum { kTimes = 300 };
  struct timespec begin, end;
  for (int i = 0; i < 10; ++i) CHECK(I915Submit(fd, &object, 1, I915_NO_RELOC, 0) == 0);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (uint32_t i = 0; i < kTimes; ++i) {
    map[i % pages * 1024 + 1] = i;
    CHECK(I915Submit(fd, &object, 1, I915_NO_RELOC, 0) == 0);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%ld\n",
         ((end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec) / kTimes);
}

int main(int argc, char** argv) {
  const char* const test = argc > 1 ? argv[1] : "";
  if (strcmp(test, "submissions") == 0) Submissions(OpenNode(kNode));
  if (strcmp(test, "two-devices") == 0) {
    Submissions(OpenNode(kNode));
    Submissions(OpenNode("/dev/dri/renderD129"));
  }
  if (strcmp(test, "relocations") == 0) Relocations();
  if (strcmp(test, "shared") == 0) Shared();
  if (strcmp(test, "threads") == 0) Threads();
  if (strcmp(test, "undisturbed") == 0) Undisturbed();
  if (strcmp(test, "survives") == 0) Survives(argv[2]);
  if (strcmp(test, "cost") == 0) {
    Cost((uint32_t)atoi(argv[2]));
    return 0;
  }
  printf("good\n");
  return 0;
}
