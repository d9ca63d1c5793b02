// ioctl() and mmap(): `calls_client TEST`.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tools/mock/check.h"
#include "tests/tools/mock/drm_calls.h"
#include "tests/tools/mock/test_device.h"

static const char kNode[] = "/dev/dri/renderD128";

static int Open(void) {
  const int fd = open(kNode, O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  return fd;
}

static void Double(int fd, uint32_t value) {
  struct test_double args = {value, 0};
  errno = 4711;
  CHECK(ioctl(fd, TEST_DOUBLE, &args) == 0);
  CHECK(args.out == 2 * value);
  CHECK(errno == 4711);
}

static struct test_create Create(int fd, uint64_t size) {
  struct test_create args = {size, 0, 0, 0};
  CHECK(ioctl(fd, TEST_CREATE, &args) == 0);
  return args;
}

static struct test_state State(int fd) {
  struct test_state state = {0, 0};
  CHECK(ioctl(fd, TEST_STATE, &state) == 0);
  return state;
}

static void Wait(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void Version(void) {
  const int fd = Open();
  struct drm_version version;
  memset(&version, 0, sizeof(version));
  CHECK(ioctl(fd, VERSION, &version) == 0);
  CHECK(version.name_len == 4);
  char name[8] = "########";
  version.name = name;
  version.date_len = version.desc_len = 0;
  CHECK(ioctl(fd, VERSION, &version) == 0);
  CHECK(memcmp(name, "test####", 8) == 0);
  CHECK(version.major == 3);
}

static void Warning(void) {
  struct test_double args = {TEST_WARNED, 0};
  CHECK(ioctl(Open(), TEST_DOUBLE, &args) == 0);
}

static void Errors(void) {
  const int fd = Open();
  struct test_double args = {TEST_REFUSED, 0};
  EXPECT_ERRNO(ioctl(fd, TEST_DOUBLE, &args), EDOM);
  EXPECT_ERRNO(ioctl(fd, TEST_DOUBLE, (void*)16), EFAULT);
  EXPECT_ERRNO(ioctl(fd, 0xc0086499, &args), EINVAL);
  EXPECT_ERRNO(ioctl(fd, TCGETS, &args), ENOTTY);
  struct drm_gem_flink flink = {1, 0};
  EXPECT_ERRNO(ioctl(fd, GEM_FLINK, &flink), EACCES);
  EXPECT_ERRNO(ioctl(999, TEST_DOUBLE, &args), EBADF);
  const int null = open("/dev/null", O_RDWR);
  CHECK(null >= 0);
  EXPECT_ERRNO(ioctl(null, TEST_DOUBLE, &args), ENOTTY);
  EXPECT_ERRNO(ioctl(null, DMA_BUF_SYNC, &args), ENOTTY);
  CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0x7000) == MAP_FAILED);
  CHECK(errno == EINVAL);
}

static void Looks(void) {
  const int fd = Open();
  struct stat facts, other;
  CHECK(fstat(fd, &facts) == 0);
  CHECK(S_ISCHR(facts.st_mode) && facts.st_rdev == makedev(226, 128));
  CHECK(stat(kNode, &other) == 0);
  CHECK(other.st_ino == facts.st_ino && other.st_dev == facts.st_dev);
  CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
  CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
  struct pollfd waiting = {fd, POLLIN, 0};
  CHECK(poll(&waiting, 1, 0) == 0);
  CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
  char byte;
  EXPECT_ERRNO(read(fd, &byte, 1), EAGAIN);
  CHECK(lseek(fd, 0, SEEK_CUR) == 0);
  const int kept = open(kNode, O_RDWR | O_NONBLOCK);
  CHECK(kept >= 0 && fcntl(kept, F_GETFD) == 0);
  CHECK((fcntl(kept, F_GETFL) & O_NONBLOCK) != 0);
  char link[64] = {0}, text[64] = {0};
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  CHECK(readlink(link, text, sizeof(text)) == (ssize_t)strlen(kNode));
  CHECK(strcmp(text, kNode) == 0);
  char* const real = realpath(link, NULL);
  CHECK(real != NULL && strcmp(real, kNode) == 0);
  free(real);
  const int again = open(link, O_RDWR);
  CHECK(again >= 0);
  const pid_t self = getpid();
  const int copy = dup(fd);
  CHECK(syscall(SYS_kcmp, self, self, KCMP_FILE, fd, copy) == 0);
  CHECK(syscall(SYS_kcmp, self, self, KCMP_FILE, fd, again) != 0);
  // Handles belong to the file.
  CHECK(Create(fd, 1).handle == 1 && Create(copy, 1).handle == 2 && Create(again, 1).handle == 1);
}

static void Duplicates(void) {
  const int fd = Open();
  const int copies[] = {dup(fd), dup2(fd, 100), dup3(fd, 101, O_CLOEXEC), fcntl(fd, F_DUPFD, 0),
                        fcntl(fd, F_DUPFD_CLOEXEC, 200)};
  const struct test_create made = Create(fd, 4096);
  close(fd);
  for (int i = 0; i < 5; ++i) {
    Double(copies[i], 21);
    CHECK(State(copies[i]).files == 1);
    void* const map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, copies[i], (off_t)made.offset);
    CHECK(map != MAP_FAILED);
    munmap(map, 4096);
  }
  for (int i = 0; i < 5; ++i) close(copies[i]);
  const int last = Open();
  CHECK(State(last).files == 1);
  CHECK(State(last).objects == 0);
}

static void Fork(void) {
  const int fd = Open();
  const struct test_create made = Create(fd, 8192);
  uint32_t* const map =
      mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)made.offset);
  CHECK(map != MAP_FAILED);
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  const pid_t child = fork();
  if (child == 0) {
    Double(fd, 5);
    CHECK(Create(fd, 4096).handle == 2);
    map[3] = 77;
    char byte;
    // The parent has closed the file by then.
    CHECK(read(pipes[0], &byte, 1) == 1);
    CHECK(State(fd).files == 2);
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      Double(fd, 6);
      _Exit(0);
    }
    Wait(grandchild);
    _Exit(0);
  }
  const int other = Open();
  close(fd);
  Double(other, 8);
  CHECK(write(pipes[1], "x", 1) == 1);
  Wait(child);
  CHECK(map[3] == 77);
  // The server learns of a process's end a little after its parent.
  const int last = Open();
  for (int tries = 0; State(last).files != 2; ++tries) {
    CHECK(tries < 1000);
    usleep(10000);
  }
}

static void Vfork(void) {
  const int fd = Open();
  Double(fd, 1);
  const pid_t child = vfork();
  if (child == 0) {
    struct test_double args = {4, 0};
    _exit(ioctl(fd, TEST_DOUBLE, &args) == 0 && args.out == 8 ? 0 : 1);
  }
  Wait(child);
  Double(fd, 2);
}

static void Exec(const char* program) {
  const int fd = open(kNode, O_RDWR);
  Create(fd, 4096);
  char number[16];
  snprintf(number, sizeof(number), "%d", fd);
  execl(program, program, "after-exec", number, (char*)NULL);
  CHECK(!"exec");
}

static void AfterExec(int fd) {
  CHECK(Create(fd, 4096).handle == 2);
  CHECK(State(fd).files == 1);
}

static void SendFd(int socket, int fd) {
  char byte = 'x';
  struct iovec part = {&byte, 1};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  memset(&control, 0, sizeof(control));
  struct msghdr message;
  memset(&message, 0, sizeof(message));
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof(control);
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
  CHECK(sendmsg(socket, &message, 0) == 1);
}

static int ReceiveFd(int socket) {
  char byte;
  struct iovec part = {&byte, 1};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message;
  memset(&message, 0, sizeof(message));
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof(control);
  CHECK(recvmsg(socket, &message, 0) == 1);
  int fd = -1;
  CHECK(CMSG_FIRSTHDR(&message) != NULL);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
  CHECK(fd >= 0);
  return fd;
}

// The child gets an open file, and a buffer of another file, which it writes.
static void SendToOther(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const int file = ReceiveFd(ends[1]);
    struct stat facts;
    CHECK(fstat(file, &facts) == 0 && facts.st_rdev == makedev(226, 128));
    CHECK(Create(file, 4096).handle == 2);
    const int buffer = ReceiveFd(ends[1]);
    CHECK(lseek(buffer, 0, SEEK_END) == 12288);
    uint32_t* const map = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, buffer, 0);
    CHECK(map != MAP_FAILED && map[0] == 1234);
    map[1024] = 4321;
    const int own = Open();
    struct drm_prime_handle prime = {0, 0, buffer};
    CHECK(ioctl(own, PRIME_FD_TO_HANDLE, &prime) == 0);
    CHECK(prime.handle == 1);
    CHECK(ioctl(own, PRIME_FD_TO_HANDLE, &prime) == 0);
    CHECK(prime.handle == 1);
    _Exit(0);
  }
  const int fd = Open();
  const struct test_create made = Create(fd, 12288);
  uint32_t* const map =
      mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)made.offset);
  CHECK(map != MAP_FAILED);
  map[0] = 1234;
  struct drm_prime_handle prime = {made.handle, PRIME_CLOSE_ON_EXEC | PRIME_READ_WRITE, -1};
  CHECK(ioctl(fd, PRIME_HANDLE_TO_FD, &prime) == 0);
  CHECK(fcntl(prime.fd, F_GETFD) == FD_CLOEXEC);
  const int open_on_exec = prime.fd;
  prime.flags = PRIME_READ_WRITE;
  CHECK(ioctl(fd, PRIME_HANDLE_TO_FD, &prime) == 0);
  CHECK(fcntl(prime.fd, F_GETFD) == 0);
  close(open_on_exec);
  SendFd(ends[0], fd);
  SendFd(ends[0], prime.fd);
  Wait(child);
  CHECK(map[1024] == 4321);
  // One's own export has the handle that it had.
  prime.handle = 0;
  CHECK(ioctl(fd, PRIME_FD_TO_HANDLE, &prime) == 0);
  CHECK(prime.handle == made.handle);
  prime.fd = 999;
  EXPECT_ERRNO(ioctl(fd, PRIME_FD_TO_HANDLE, &prime), EBADF);
  prime.fd = ends[0];
  EXPECT_ERRNO(ioctl(fd, PRIME_FD_TO_HANDLE, &prime), EINVAL);
}

static void Mappings(void) {
  const int fd = Open();
  const struct test_create made = Create(fd, 16384);
  char* const room = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(room != MAP_FAILED);
  char* const fixed = mmap(room + 8192, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                           (off_t)made.offset + 4096);
  CHECK(fixed == room + 8192);
  char* const whole = (char*)syscall(SYS_mmap, NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                     (off_t)made.offset);
  CHECK(whole != MAP_FAILED);
  fixed[1] = 'a';
  CHECK(whole[4097] == 'a');
  struct test_map map = {4096, 4096, 0, made.handle, 0};
  CHECK(ioctl(fd, TEST_MAP, &map) == 0);
  CHECK(((char*)(uintptr_t)map.address)[1] == 'a');
  map.offset = 1;
  EXPECT_ERRNO(ioctl(fd, TEST_MAP, &map), EINVAL);
  CHECK(mmap64(NULL, 20480, PROT_READ, MAP_SHARED, fd, (off_t)made.offset) == MAP_FAILED);
  CHECK(errno == EINVAL);
  // The memory lives on without the file.
  close(fd);
  whole[4098] = 'b';
  CHECK(fixed[2] == 'b');
}

static void Closers(void) {
  for (int round = 0; round < 4; ++round) {
    const int fd = Open();
    Double(fd, 3);
    if (round == 0) closefrom(3);
    if (round == 1) CHECK(close_range(3, ~0u, 0) == 0);
    if (round == 2) {
      for (int i = 3; i < 70000; ++i) close(i);
    }
    if (round == 3) {
      // Other files take the numbers.
      for (int i = 3; i < 5000; ++i) {
        if (i != fd) dup2(1, i);
      }
      Double(fd, 9);
      char byte[1];
      CHECK(fcntl(4095, F_GETFD) >= 0 || errno == EBADF);
      (void)byte;
      closefrom(3);
    }
    const int again = Open();
    Double(again, 4);
    CHECK(State(again).files == 1);
    close(again);
  }
}

enum { kThreads = 8, kCalls = 1000 };
static int shared_fd;

static void* ManyCalls(void* argument) {
  const uint32_t base = (uint32_t)(uintptr_t)argument * kCalls;
  for (uint32_t i = 0; i < kCalls; ++i) {
    if (i % 100 == 0) {
      const int own = Open();
      Double(own, i);
      close(own);
    }
    Double(shared_fd, base + i);
  }
  return NULL;
}

static void Threads(void) {
  shared_fd = Open();
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) {
    CHECK(pthread_create(&threads[i], NULL, ManyCalls, (void*)i) == 0);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  const int last = Open();
  CHECK(State(last).files == 2);
}

static volatile sig_atomic_t signals;
static void OnSignal(int signal) {
  (void)signal;
  ++signals;
  const int error = errno;
  struct test_double args = {8, 0};
  CHECK(ioctl(shared_fd, TEST_DOUBLE, &args) == 0 && args.out == 16);
  errno = error;
}

static int64_t Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static uint32_t CreateSyncobj(int fd) {
  struct drm_syncobj_create create = {0, 0};
  CHECK(ioctl(fd, SYNCOBJ_CREATE, &create) == 0);
  return create.handle;
}

static int WaitSyncobj(int fd, uint32_t handle, int64_t nanoseconds) {
  struct drm_syncobj_wait wait;
  memset(&wait, 0, sizeof(wait));
  wait.handles = (uint64_t)(uintptr_t)&handle;
  wait.count_handles = 1;
  wait.timeout_nsec = Now() + nanoseconds;
  wait.flags = WAIT_FOR_SUBMIT;
  return ioctl(fd, SYNCOBJ_WAIT, &wait);
}

static void Signals(void) {
  shared_fd = Open();
  const uint32_t handle = CreateSyncobj(shared_fd);
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = OnSignal;
  sigaction(SIGALRM, &action, NULL);
  // A handler that does not restart calls ends a call that waits.
  struct itimerval timer = {{0, 0}, {0, 50000}};
  setitimer(ITIMER_REAL, &timer, NULL);
  EXPECT_ERRNO(WaitSyncobj(shared_fd, handle, INT64_C(20000000000)), EINTR);
  CHECK(signals == 1);
  // One that does lets it go on.
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  EXPECT_ERRNO(WaitSyncobj(shared_fd, handle, 300000000), ETIME);
  CHECK(signals == 2);
  // Signals all the time.
  struct itimerval often = {{0, 200}, {0, 200}};
  action.sa_flags = 0;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (uint32_t i = 0; i < 2000; ++i) Double(shared_fd, i);
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  CHECK(signals > 2);
}

static void* SignalLater(void* argument) {
  uint32_t handle = *(uint32_t*)argument;
  usleep(50000);
  struct drm_syncobj_array array;
  memset(&array, 0, sizeof(array));
  array.handles = (uint64_t)(uintptr_t)&handle;
  array.count_handles = 1;
  CHECK(ioctl(shared_fd, SYNCOBJ_SIGNAL, &array) == 0);
  return NULL;
}

static void Syncobjs(void) {
  shared_fd = Open();
  uint32_t handle = CreateSyncobj(shared_fd);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, SignalLater, &handle) == 0);
  CHECK(WaitSyncobj(shared_fd, handle, INT64_C(20000000000)) == 0);
  pthread_join(thread, NULL);
  // To another file and back, and as a sync file.
  struct drm_syncobj_handle args;
  memset(&args, 0, sizeof(args));
  args.handle = handle;
  CHECK(ioctl(shared_fd, SYNCOBJ_HANDLE_TO_FD, &args) == 0);
  const int other = Open();
  CHECK(ioctl(other, SYNCOBJ_FD_TO_HANDLE, &args) == 0);
  CHECK(WaitSyncobj(other, args.handle, 0) == 0);
  memset(&args, 0, sizeof(args));
  args.handle = handle;
  args.flags = EXPORT_SYNC_FILE;
  CHECK(ioctl(shared_fd, SYNCOBJ_HANDLE_TO_FD, &args) == 0);
  struct pollfd waiting = {args.fd, POLLIN, 0};
  CHECK(poll(&waiting, 1, 1000) == 1);
  struct sync_file_info info;
  memset(&info, 0, sizeof(info));
  CHECK(ioctl(args.fd, SYNC_FILE_INFO, &info) == 0);
  CHECK(info.status == 1 && info.num_fences == 1);
}

static void NotDumpable(void) {
  CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
  const int fd = Open();
  Double(fd, 11);
  static uint8_t bytes[100000];
  for (size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = 2;
  struct test_sum sum = {(uint64_t)(uintptr_t)bytes, sizeof(bytes), 0};
  CHECK(ioctl(fd, TEST_SUM, &sum) == 0);
  CHECK(sum.sum == 2 * sizeof(bytes));
  CHECK(bytes[0] == 3 && bytes[sizeof(bytes) - 1] == 3);
  sum.address = 4096;
  EXPECT_ERRNO(ioctl(fd, TEST_SUM, &sum), EFAULT);
  EXPECT_ERRNO(ioctl(fd, TEST_DOUBLE, (void*)16), EFAULT);
  Double(fd, 12);
}

static void Killed(void) {
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  const int fd = Open();
  const pid_t child = fork();
  if (child == 0) {
    close(fd);
    const int own = Open();
    Create(own, 1 << 20);
    CHECK(write(pipes[1], "x", 1) == 1);
    const uint32_t handle = CreateSyncobj(own);
    WaitSyncobj(own, handle, INT64_C(60000000000));
    _Exit(0);
  }
  char byte;
  CHECK(read(pipes[0], &byte, 1) == 1);
  CHECK(State(fd).files == 2 && State(fd).objects == 1);
  usleep(20000);
  CHECK(kill(child, SIGKILL) == 0);
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  for (int i = 0; i < 200 && (State(fd).files != 1 || State(fd).objects != 0); ++i) usleep(10000);
  CHECK(State(fd).files == 1 && State(fd).objects == 0);
}

static void Limits(void) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  printf("%lu\n", (unsigned long)limit.rlim_cur);
  const int fd = Open();
  limit.rlim_cur = 64;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  Double(fd, 1);
  const struct test_create made = Create(fd, 4096);
  while (dup(fd) >= 0) {
  }
  CHECK(errno == EMFILE);
  Double(fd, 2);
  struct drm_prime_handle prime = {made.handle, PRIME_CLOSE_ON_EXEC, -1};
  EXPECT_ERRNO(ioctl(fd, PRIME_HANDLE_TO_FD, &prime), EMFILE);
  EXPECT_ERRNO(open(kNode, O_RDWR), EMFILE);
  close(40);
  CHECK(ioctl(fd, PRIME_HANDLE_TO_FD, &prime) == 0);
  CHECK(prime.fd == 40);
  closefrom(3);
}

static const char* self;
static int number;
static void RunExec(void) { Exec(self); }
static void RunAfterExec(void) { AfterExec(number); }

static const struct {
  const char* name;
  void (*run)(void);
} kTests[] = {
    {"version", Version},
    {"warning", Warning},
    {"errors", Errors},
    {"looks", Looks},
    {"duplicates", Duplicates},
    {"fork", Fork},
    {"vfork", Vfork},
    {"exec", RunExec},
    {"after-exec", RunAfterExec},
    {"send", SendToOther},
    {"mappings", Mappings},
    {"closers", Closers},
    {"threads", Threads},
    {"signals", Signals},
    {"syncobjs", Syncobjs},
    {"not-dumpable", NotDumpable},
    {"killed", Killed},
    {"limits", Limits},
};

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  self = argv[0];
  number = argc > 2 ? atoi(argv[2]) : -1;
  for (size_t i = 0; i < sizeof(kTests) / sizeof(*kTests); ++i) {
    if (strcmp(argv[1], kTests[i].name) != 0) continue;
    kTests[i].run();
    printf("good\n");
    return 0;
  }
  return 2;
}
