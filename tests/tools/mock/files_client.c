// Files that exist under the mock only: `files_client TEST`.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tools/mock/check.h"

static const char kRender[] = "/dev/dri/renderD128";
static const char kDevice[] = "/sys/devices/pci0000:00/0000:00:02.0";
static const char kByNumber[] = "/sys/dev/char/226:128/device";

static char* At(const char* folder, const char* name) {
  static char paths[8][PATH_MAX];
  static int next;
  char* const path = paths[next++ % 8];
  snprintf(path, PATH_MAX, "%s/%s", folder, name);
  return path;
}

// The names in a directory, sorted and joined, without "." and "..".
static int CompareNames(const void* a, const void* b) { return strcmp(a, b); }
static const char* Names(DIR* directory) {
  static char joined[4096];
  static char names[64][256];
  size_t count = 0;
  CHECK(directory != NULL);
  errno = 0;
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (count < 64) strcpy(names[count++], entry->d_name);
  }
  CHECK(errno == 0);
  qsort(names, count, 256, CompareNames);
  joined[0] = '\0';
  for (size_t i = 0; i < count; ++i) {
    strcat(joined, names[i]);
    strcat(joined, " ");
  }
  return joined;
}

static void CheckNode(const struct stat* facts, unsigned minor) {
  CHECK(S_ISCHR(facts->st_mode) && facts->st_rdev == makedev(226, minor));
}

// As libdrm finds out what device a file belongs to.
static void Libdrm(void) {
  const int fd = open(kRender, O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  struct stat facts;
  CHECK(fstat(fd, &facts) == 0);
  CheckNode(&facts, 128);
  CHECK(stat(At(kByNumber, "drm"), &facts) == 0 && S_ISDIR(facts.st_mode));
  char link[PATH_MAX + 1] = {0};
  const ssize_t size = readlink(At(kByNumber, "subsystem"), link, PATH_MAX);
  CHECK(size == 16 && strcmp(strrchr(link, '/'), "/pci") == 0);
  DIR* const directory = opendir("/dev/dri");
  CHECK(strcmp(Names(directory), "card0 renderD128 ") == 0);
  closedir(directory);
  CHECK(stat("/dev/dri/card0", &facts) == 0);
  CheckNode(&facts, 0);
  char* const real = realpath(kByNumber, link);
  CHECK(real == link && strcmp(real, kDevice) == 0);
  FILE* const uevent = fopen(At(real, "uevent"), "r");
  CHECK(uevent != NULL);
  char* line = NULL;
  size_t room = 0;
  int found = 0;
  while (getline(&line, &room, uevent) >= 0) {
    if (strcmp(line, "PCI_SLOT_NAME=0000:00:02.0\n") == 0) found = 1;
  }
  CHECK(found);
  fclose(uevent);
  free(line);
  FILE* const vendor = fopen(At(real, "vendor"), "r");
  unsigned id = 0;
  CHECK(vendor != NULL && fscanf(vendor, "%x", &id) == 1 && id == 0x8086);
  fclose(vendor);
  CHECK(fopen(At(real, "nothing"), "r") == NULL && errno == ENOENT);
}

static void CheckText(int fd, const char* text) {
  CHECK(fd >= 0);
  char read_text[64] = {0};
  CHECK(read(fd, read_text, sizeof(read_text) - 1) == (ssize_t)strlen(text));
  CHECK(strcmp(read_text, text) == 0);
  struct stat facts;
  CHECK(fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 4096);
  CHECK((facts.st_mode & 0777) == 0444);
  EXPECT_ERRNO(write(fd, "x", 1), EBADF);
  close(fd);
}

int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);

static void Opens(void) {
  const char* const path = At(kDevice, "vendor");
  const char* const text = "0x8086\n";
  CheckText(open(path, O_RDONLY), text);
  CheckText(open64(path, O_RDONLY), text);
  CheckText(__open_2(path, O_RDONLY), text);
  CheckText(__open64_2(path, O_RDONLY), text);
  CheckText(__openat_2(AT_FDCWD, path, O_RDONLY), text);
  CheckText(__openat64_2(AT_FDCWD, path, O_RDONLY), text);
  CheckText(openat(AT_FDCWD, path, O_RDONLY), text);
  CheckText(openat64(-1, path, O_RDONLY), text);
  CheckText((int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY), text);
  CheckText(open("//sys/./devices//pci0000:00/0000:00:02.0/drm/../vendor", O_RDONLY), text);
  CheckText(open("/usr/../sys/class/drm/card0/device/vendor", O_RDONLY), text);
  FILE* stream = fopen64(path, "re");
  CHECK(stream != NULL && (fcntl(fileno(stream), F_GETFD) & FD_CLOEXEC) != 0);
  stream = freopen(path, "r", stream);
  CHECK(stream != NULL && fgetc(stream) == '0');
  fclose(stream);
  EXPECT_ERRNO(open(path, O_WRONLY), EACCES);
  EXPECT_ERRNO(open(path, O_RDONLY | O_DIRECTORY), ENOTDIR);
  EXPECT_ERRNO(open(path, O_CREAT | O_EXCL | O_RDWR, 0600), EEXIST);
  EXPECT_ERRNO(open(kDevice, O_RDWR), EISDIR);
  EXPECT_ERRNO(open("/dev/dri/card7", O_RDWR), ENOENT);
  EXPECT_ERRNO(open("/dev/dri/card7", O_RDWR | O_CREAT, 0600), EACCES);
  EXPECT_ERRNO(open("/sys/class/drm/card0", O_RDONLY | O_NOFOLLOW), ELOOP);
  EXPECT_ERRNO(open("/dev/dri/card0/x", O_RDONLY), ENOTDIR);
  // What is not the mock's is what it was.
  const int null = open("/dev/null", O_RDWR);
  CHECK(null >= 0 && write(null, "x", 1) == 1);
  CHECK(creat("/proc/packsmith", 0600) == -1);
}

static void Relative(void) {
  const int device = open(kDevice, O_RDONLY | O_DIRECTORY);
  CHECK(device >= 0);
  CheckText(openat(device, "vendor", O_RDONLY), "0x8086\n");
  CheckText(openat(device, "drm/card0/../../device", O_RDONLY), "0x9a49\n");
  const int drm = openat(device, "drm", O_PATH | O_DIRECTORY);
  CHECK(drm >= 0);
  CHECK(faccessat(drm, "card0/uevent", R_OK, 0) == 0);
  EXPECT_ERRNO(faccessat(drm, "card1", F_OK, 0), ENOENT);
  char link[64] = {0};
  CHECK(readlinkat(drm, "card0/device", link, sizeof(link)) > 0);
  CHECK(strcmp(link, "../../../0000:00:02.0") == 0);
  CHECK(readlinkat(drm, "card0/device", link, 3) == 3);
  struct stat facts;
  CHECK(fstat(device, &facts) == 0 && S_ISDIR(facts.st_mode));
  CHECK(fstatat(device, "", &facts, AT_EMPTY_PATH) == 0 && S_ISDIR(facts.st_mode));
  struct statfs system;
  CHECK(fstatfs(device, &system) == 0 && system.f_type == 0x62656572);
  // From real directories, as well.
  const int root = open("/", O_PATH | O_DIRECTORY);
  const int dev = openat(root, "dev", O_PATH | O_DIRECTORY);
  CHECK(root >= 0 && dev >= 0);
  CheckText(openat(root, "sys/class/drm/card0/device/vendor", O_RDONLY), "0x8086\n");
  CHECK(fstatat(dev, "dri/card0", &facts, 0) == 0);
  CheckNode(&facts, 0);
  CHECK(openat(dev, "null", O_RDWR) >= 0);
  CHECK(chdir("/dev") == 0);
  CHECK(stat("dri/renderD128", &facts) == 0);
  CheckNode(&facts, 128);
  CHECK(stat("null", &facts) == 0);
  char name[64];
  snprintf(name, sizeof(name), "/proc/self/fd/%d/vendor", device);
  CheckText(open(name, O_RDONLY), "0x8086\n");
  snprintf(name, sizeof(name), "/proc/self/fd/%d", device);
  CHECK(readlink(name, link, sizeof(link)) == (ssize_t)strlen(kDevice));
  CHECK(memcmp(link, kDevice, strlen(kDevice)) == 0);
}

int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);
int __xstat64(int, const char*, struct stat64*);

static void Stats(void) {
  struct stat facts, other;
  struct stat64 large;
  struct statx extended;
  const int fd = open(kRender, O_RDWR);
  CHECK(fd >= 0);
  CHECK(stat(kRender, &facts) == 0);
  CheckNode(&facts, 128);
  CHECK(lstat(kRender, &other) == 0 && other.st_ino == facts.st_ino);
  CHECK(stat64(kRender, &large) == 0 && large.st_rdev == facts.st_rdev);
  CHECK(lstat64(kRender, &large) == 0 && large.st_rdev == facts.st_rdev);
  CHECK(fstat64(fd, &large) == 0 && large.st_rdev == facts.st_rdev);
  CHECK(fstatat(AT_FDCWD, kRender, &other, 0) == 0 && other.st_rdev == facts.st_rdev);
  CHECK(fstatat64(AT_FDCWD, kRender, &large, 0) == 0 && large.st_rdev == facts.st_rdev);
  CHECK(__xstat(1, kRender, &other) == 0 && other.st_rdev == facts.st_rdev);
  CHECK(__lxstat(1, kRender, &other) == 0 && other.st_rdev == facts.st_rdev);
  CHECK(__fxstat(1, fd, &other) == 0 && other.st_rdev == facts.st_rdev);
  CHECK(__fxstatat(1, AT_FDCWD, kRender, &other, 0) == 0 && other.st_rdev == facts.st_rdev);
  CHECK(__xstat64(1, kRender, &large) == 0 && large.st_rdev == facts.st_rdev);
  CHECK(statx(AT_FDCWD, kRender, 0, STATX_ALL, &extended) == 0);
  CHECK(extended.stx_rdev_major == 226 && extended.stx_rdev_minor == 128);
  CHECK(S_ISCHR(extended.stx_mode) && extended.stx_ino == facts.st_ino);
  CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &extended) == 0);
  CHECK(extended.stx_rdev_minor == 128 && extended.stx_ino == facts.st_ino);
  CHECK(syscall(SYS_newfstatat, AT_FDCWD, kRender, &other, 0) == 0);
  CheckNode(&other, 128);
  CHECK(syscall(SYS_fstat, fd, &other) == 0);
  CheckNode(&other, 128);
  CHECK(syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_ALL, &extended) == 0);
  CHECK(extended.stx_rdev_minor == 128);
  CHECK(lstat("/sys/class/drm/card0", &facts) == 0 && S_ISLNK(facts.st_mode));
  CHECK(stat("/sys/class/drm/card0", &facts) == 0 && S_ISDIR(facts.st_mode));
  EXPECT_ERRNO(stat("/sys/class/drm/card1", &facts), ENOENT);
  CHECK(access(kRender, R_OK | W_OK) == 0);
  CHECK(eaccess(kRender, R_OK) == 0 && euidaccess(kRender, F_OK) == 0);
  EXPECT_ERRNO(access("/dev/dri/card1", F_OK), ENOENT);
  EXPECT_ERRNO(access(At(kDevice, "vendor"), X_OK), EACCES);
  // A socket and a file without a name that are the program's own stay what they are.
  int ends[2];
  CHECK(pipe(ends) == 0 && fstat(ends[0], &facts) == 0 && S_ISFIFO(facts.st_mode));
}

static int NotDots(const struct dirent* entry) { return entry->d_name[0] != '.'; }

static void Directories(void) {
  struct dirent** list = NULL;
  CHECK(scandir("/dev/dri", &list, NotDots, alphasort) == 2);
  CHECK(strcmp(list[0]->d_name, "card0") == 0 && list[0]->d_type == DT_CHR);
  CHECK(strcmp(list[1]->d_name, "renderD128") == 0);
  free(list[0]);
  free(list[1]);
  free(list);
  struct dirent64** large = NULL;
  CHECK(scandir64("/sys/class/drm", &large, NULL, alphasort64) == 4);
  CHECK(large[2]->d_type == DT_LNK);
  // Two streams at the same time.
  DIR* const first = opendir("/dev/dri");
  DIR* const second = opendir("/dev/dri");
  CHECK(first != NULL && second != NULL && dirfd(first) != dirfd(second));
  struct dirent* one;
  while ((one = readdir(first)) != NULL && strcmp(one->d_name, "card0") != 0) {
  }
  CHECK(one != NULL);
  const long place = telldir(first);
  CHECK(strcmp(Names(second), "card0 renderD128 ") == 0);
  CHECK(strcmp(one->d_name, "card0") == 0);
  CHECK(strcmp(Names(first), "renderD128 ") == 0);
  seekdir(first, place);
  CHECK(strcmp(Names(first), "renderD128 ") == 0);
  rewinddir(first);
  CHECK(strcmp(Names(first), "card0 renderD128 ") == 0);
  rewinddir(second);
  struct dirent64* wide = readdir64(second);
  CHECK(wide != NULL && strcmp(wide->d_name, ".") == 0 && wide->d_type == DT_DIR);
  CHECK(closedir(first) == 0 && closedir(second) == 0);
  const int fd = open("/sys/dev/char/226:0/device/drm", O_RDONLY | O_DIRECTORY);
  DIR* const stream = fdopendir(fd);
  CHECK(stream != NULL && dirfd(stream) == fd);
  CHECK(strcmp(Names(stream), "card0 renderD128 ") == 0);
  closedir(stream);
  // In pieces that hold one entry.
  const int again = open("/dev/dri", O_RDONLY | O_DIRECTORY);
  char buffer[40];
  int entries = 0;
  while (1) {
    const ssize_t size = getdents64(again, buffer, sizeof(buffer));
    CHECK(size >= 0);
    if (size == 0) break;
    ++entries;
  }
  CHECK(entries == 4);
  CHECK(lseek(again, 0, SEEK_SET) == 0);
  CHECK(syscall(SYS_getdents64, again, buffer, sizeof(buffer)) > 0);
  EXPECT_ERRNO(getdents64(again, buffer, 8), EINVAL);
  // Merged with what is there: /dev has the machine's files, too.
  DIR* const dev = opendir("/dev");
  int real = 0, ours = 0;
  for (struct dirent* entry; (entry = readdir(dev)) != NULL;) {
    if (strcmp(entry->d_name, "null") == 0) ++real;
    if (strcmp(entry->d_name, "dri") == 0) ++ours;
  }
  CHECK(real == 1 && ours == 1);
  closedir(dev);
  DIR* const usual = opendir("/proc/self");
  CHECK(usual != NULL && readdir(usual) != NULL && closedir(usual) == 0);
  CHECK(opendir("/dev/dri/card0") == NULL && errno == ENOTDIR);
}

static void Globs(void) {
  glob_t found;
  CHECK(glob("/dev/dri/render*", 0, NULL, &found) == 0);
  CHECK(found.gl_pathc == 1 && strcmp(found.gl_pathv[0], kRender) == 0);
  CHECK(glob("/sys/class/drm/card*/device/vendor", GLOB_APPEND, NULL, &found) == 0);
  CHECK(found.gl_pathc == 2);
  CHECK(strcmp(found.gl_pathv[1], "/sys/class/drm/card0/device/vendor") == 0);
  globfree(&found);
  CHECK(glob("/proc/self/stat*", GLOB_MARK, NULL, &found) == 0 && found.gl_pathc == 3);
  globfree(&found);
  CHECK(glob("/dev/dri/card1*", 0, NULL, &found) == GLOB_NOMATCH);
}

ssize_t __readlink_chk(const char*, char*, size_t, size_t);
char* __realpath_chk(const char*, char*, size_t);

static void Links(void) {
  char text[PATH_MAX];
  const char* const link = "/sys/class/drm/renderD128";
  const char* const target = "../../devices/pci0000:00/0000:00:02.0/drm/renderD128";
  memset(text, '#', sizeof(text));
  CHECK(readlink(link, text, sizeof(text)) == (ssize_t)strlen(target));
  CHECK(memcmp(text, target, strlen(target)) == 0 && text[strlen(target)] == '#');
  CHECK(__readlink_chk(link, text, 10, sizeof(text)) == 10);
  CHECK(syscall(SYS_readlinkat, AT_FDCWD, link, text, sizeof(text)) == (long)strlen(target));
  EXPECT_ERRNO(readlink(kRender, text, sizeof(text)), EINVAL);
  char* const real = realpath(link, NULL);
  CHECK(real != NULL && strcmp(real, At(kDevice, "drm/renderD128")) == 0);
  free(real);
  CHECK(__realpath_chk(link, text, sizeof(text)) == text);
  char* const name = canonicalize_file_name("/sys/dev/char/226:0/device/../..");
  CHECK(name != NULL && strcmp(name, "/sys/devices") == 0);
  free(name);
  CHECK(realpath("/sys/class/drm/card9", text) == NULL && errno == ENOENT);
  CHECK(realpath("/proc/self/../self/status", text) != NULL);
}

static void CheckControl(const char* text) {
  char read_text[64] = {0};
  const int fd = open(At(kDevice, "control"), O_RDONLY);
  CHECK(fd >= 0 && read(fd, read_text, sizeof(read_text)) == (ssize_t)strlen(text));
  CHECK(strcmp(read_text, text) == 0);
  close(fd);
}

static void Controls(void) {
  CheckControl("nothing");
  const int fd = open(At(kDevice, "control"), O_WRONLY | O_TRUNC);
  CHECK(fd >= 0 && write(fd, "1", 1) == 1);
  CheckControl("1");
  close(fd);
  FILE* const stream = fopen(At(kDevice, "control"), "w");
  CHECK(stream != NULL && fprintf(stream, "a line\n") == 7 && fclose(stream) == 0);
  CheckControl("a line\n");
  CHECK(system("echo shell > /sys/class/drm/card0/device/control") == 0);
  CheckControl("shell\n");
}

// As IGT's tools do where debugfs is not mounted; as another user than root, too.
static void Mounts(void) {
  CHECK(mount("debug", "/sys/kernel/debug", "debugfs", 0, 0) == 0);
  CHECK(syscall(SYS_mount, "debug", "/sys/kernel/debug", "debugfs", 0L, NULL) == 0);
  CHECK(mount("none", "/no/such/place", "tmpfs", 0, 0) == -1);
}

// A program without the library's environment keeps what it had.
static void Environment(void) {
  clearenv();
  CHECK(access(kRender, R_OK) == 0);
}

static const struct {
  const char* name;
  void (*run)(void);
} kTests[] = {
    {"libdrm", Libdrm},     {"opens", Opens},
    {"relative", Relative}, {"stats", Stats},
    {"links", Links},       {"directories", Directories},
    {"globs", Globs},       {"controls", Controls},
    {"mounts", Mounts},     {"environment", Environment},
};

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (size_t i = 0; i < sizeof(kTests) / sizeof(*kTests); ++i) {
    if (strcmp(argv[1], kTests[i].name) != 0) continue;
    kTests[i].run();
    printf("good\n");
    return 0;
  }
  return 2;
}
