/* GPU memory and submissions as a program makes them, and the GPU core dump of them: what the
 * sources include that unpack --format=cpp and --format=c write. C11 and C++20; no library.
 *
 *   struct ps_capture capture = {0};
 *   struct ps_buffer *batch = ps_add(&capture, 0, 0x10000, 4096);  // space, address, bytes
 *   ps_bytes(batch, words, sizeof words);
 *   ps_note(&capture, 0x50530001, "{\"generation\":\"gfx9\"}");
 *   return ps_main(&capture, argc, argv);                             // PROGRAM OUTPUT
 *
 * Buffers are filled from their beginning on; what is not written is zero. In C++ `put` packs
 * packets: packsmith::rebuild, at the end of this file. In C there are PS_PUT and PS_PUT_BYTES.
 *
 * An error (a packet that does not fit, two things in one place, a file that cannot be read) is
 * printed when it occurs. ps_main then writes nothing and returns 1.
 */
#ifndef PACKSMITH_REBUILD_H_
#define PACKSMITH_REBUILD_H_

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An address of `bits` bits as the hardware writes it: the highest one fills those above it. */
#define PS_CANONICAL(bits, address) \
  ((uint64_t)((int64_t)((uint64_t)(address) << (64 - (bits))) >> (64 - (bits))))

/* One piece of memory. `bytes` has `size` bytes, `at` is where the next ones go. */
struct ps_buffer {
  uint32_t space;
  uint64_t address, size;
  uint8_t* bytes;
  uint64_t at;
  uint64_t last, last_size; /* what was put last, for ps_bits */
  struct ps_capture* of;
};

struct ps_text {
  uint32_t type;
  char* text;
};

struct ps_capture {
  struct ps_buffer** buffers;
  size_t buffer_count;
  struct ps_text* notes;
  size_t note_count;
  uint16_t machine;   /* e_machine of the core dump */
  const char* folder; /* where files of ps_file are; NULL: in the current one */
  bool failed;
};

static inline void ps_fail(struct ps_capture* capture, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  capture->failed = true;
}

static inline void* ps_more(void* list, size_t count, size_t size) {
  if ((count & (count - 1)) != 0) return list;
  void* longer = realloc(list, (count == 0 ? 1 : 2 * count) * size);
  if (longer == NULL) {
    fputs("out of memory\n", stderr);
    exit(1);
  }
  return longer;
}

/* Adds memory that is zero. It lives as long as the capture. */
static inline struct ps_buffer* ps_add(struct ps_capture* capture, uint32_t space, uint64_t address,
                                       uint64_t size) {
  struct ps_buffer* made = (struct ps_buffer*)calloc(1, sizeof(struct ps_buffer));
  if (made != NULL) made->bytes = (uint8_t*)calloc(1, size == 0 ? 1 : (size_t)size);
  if (made == NULL || made->bytes == NULL) {
    fprintf(stderr, "no memory for %llu bytes\n", (unsigned long long)size);
    exit(1);
  }
  made->space = space;
  made->address = address;
  made->size = size;
  made->of = capture;
  capture->buffers = (struct ps_buffer**)ps_more(capture->buffers, capture->buffer_count,
                                                 sizeof(struct ps_buffer*));
  capture->buffers[capture->buffer_count++] = made;
  return made;
}

/* The next bytes go to this offset. What was put before must end there or earlier. */
static inline void ps_at(struct ps_buffer* buffer, uint64_t offset) {
  if (offset < buffer->at) {
    ps_fail(buffer->of, "buffer at 0x%llx: what comes before offset 0x%llx is %llu bytes too long",
            (unsigned long long)buffer->address, (unsigned long long)offset,
            (unsigned long long)(buffer->at - offset));
  }
  buffer->at = offset;
}

/* Appends bytes. */
static inline void ps_bytes(struct ps_buffer* buffer, const void* bytes, uint64_t size) {
  buffer->last = buffer->at;
  buffer->last_size = 0;
  if (buffer->at > buffer->size || size > buffer->size - buffer->at) {
    ps_fail(buffer->of, "buffer at 0x%llx: %llu bytes at offset 0x%llx exceed its size, 0x%llx",
            (unsigned long long)buffer->address, (unsigned long long)size,
            (unsigned long long)buffer->at, (unsigned long long)buffer->size);
    return;
  }
  if (size != 0) memcpy(buffer->bytes + buffer->at, bytes, (size_t)size);
  buffer->last_size = size;
  buffer->at += size;
}

/* Appends the content of a file of that many bytes. */
static inline void ps_file(struct ps_buffer* buffer, const char* name, uint64_t size) {
  const char* folder = buffer->of->folder;
  const size_t length = (folder == NULL ? 0 : strlen(folder)) + strlen(name) + 2;
  char* path = (char*)malloc(length);
  uint8_t* content = (uint8_t*)malloc(size == 0 ? 1 : (size_t)size);
  FILE* file = NULL;
  if (path != NULL && content != NULL) {
    snprintf(path, length, "%s%s%s", folder == NULL ? "" : folder,
             folder == NULL || *folder == 0 ? "" : "/", name);
    file = fopen(path, "rb");
  }
  if (file == NULL) {
    ps_fail(buffer->of, "%s: %s; --data=FOLDER says where the files are",
            path == NULL ? name : path, strerror(errno));
  } else if (fread(content, 1, (size_t)size, file) != size) {
    ps_fail(buffer->of, "%s has fewer than %llu bytes", path, (unsigned long long)size);
  } else {
    ps_bytes(buffer, content, size);
  }
  if (file != NULL) fclose(file);
  free(content);
  free(path);
}

/* Replaces the bits of `mask` in a dword of what was put last, counted from its beginning. */
static inline void ps_bits(struct ps_buffer* buffer, uint64_t dword, uint32_t mask,
                           uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) {
    const uint64_t at = dword * 4 + i;
    if (at >= buffer->last_size) break;
    uint8_t* byte = &buffer->bytes[buffer->last + at];
    *byte = (uint8_t)((*byte & ~(mask >> 8 * i)) | ((value & mask) >> 8 * i));
  }
}

/* Adds a note of the core dump: JSON, with printf's directives for numbers. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline void
ps_note(struct ps_capture* capture, uint32_t type, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char* text = length < 0 ? NULL : (char*)malloc((size_t)length + 1);
  if (text == NULL) {
    ps_fail(capture, "out of memory");
    return;
  }
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  capture->notes =
      (struct ps_text*)ps_more(capture->notes, capture->note_count, sizeof(struct ps_text));
  capture->notes[capture->note_count].type = type;
  capture->notes[capture->note_count++].text = text;
}

/* Writes numbers in little endian; false after an error. */
static inline bool ps_write_numbers(FILE* file, const char* sizes, ...) {
  uint8_t bytes[128];
  size_t count = 0;
  va_list arguments;
  va_start(arguments, sizes);
  for (; *sizes != 0; ++sizes) {
    const uint64_t number = va_arg(arguments, uint64_t);
    for (int i = 0; i < *sizes - '0'; ++i) bytes[count++] = (uint8_t)(number >> 8 * i);
  }
  va_end(arguments);
  return fwrite(bytes, 1, count, file) == count;
}

static inline int ps_by_address(const void* a, const void* b) {
  const struct ps_buffer* one = *(struct ps_buffer* const*)a;
  const struct ps_buffer* other = *(struct ps_buffer* const*)b;
  if (one->space != other->space) return one->space < other->space ? -1 : 1;
  return one->address < other->address ? -1 : one->address > other->address;
}

#define PS_U(x) ((uint64_t)(x))

/* The file's content: false after an error. The ELF core that docs/architecture.md describes. */
static inline bool ps_write_core(struct ps_capture* capture, FILE* file) {
  static const char owner[12] = "packsmith";
  uint64_t notes = 0;
  for (size_t i = 0; i < capture->note_count; ++i) {
    notes += 12 + 12 + ((strlen(capture->notes[i].text) + 3) & ~PS_U(3));
  }
  const uint64_t headers = PS_U(capture->buffer_count) + 1;
  const bool many = headers >= 0xffff; /* PN_XNUM */
  const uint64_t first = many ? 128 : 64;
  bool good = fwrite("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 1, 16, file) == 16;
  good = good && ps_write_numbers(file, "2248884222222", PS_U(4), PS_U(capture->machine), PS_U(1),
                                  PS_U(0), first, many ? PS_U(64) : PS_U(0), PS_U(0), PS_U(64),
                                  PS_U(56), many ? PS_U(0xffff) : headers,
                                  many ? PS_U(64) : PS_U(0), many ? PS_U(1) : PS_U(0), PS_U(0));
  if (many) {
    good = good && ps_write_numbers(file, "4488884488", PS_U(0), PS_U(0), PS_U(0), PS_U(0), PS_U(0),
                                    PS_U(0), PS_U(0), headers, PS_U(0), PS_U(0));
  }
  uint64_t offset = first + headers * 56;
  good = good && ps_write_numbers(file, "44888888", PS_U(4), PS_U(4), offset, PS_U(0), PS_U(0),
                                  notes, notes, PS_U(4));
  offset += notes;
  uint64_t* stored = (uint64_t*)calloc(capture->buffer_count + 1, sizeof(uint64_t));
  if (stored == NULL) return false;
  for (size_t i = 0; i < capture->buffer_count; ++i) {
    const struct ps_buffer* one = capture->buffers[i];
    uint64_t size = one->size;
    while (size != 0 && one->bytes[size - 1] == 0) --size;
    stored[i] = size;
    if (size != 0) offset = (offset + 7) & ~PS_U(7);
    good = good && ps_write_numbers(file, "44888888", PS_U(1), PS_U(6), offset, one->address,
                                    PS_U(one->space), size, one->size, PS_U(1));
    offset += size;
  }
  uint64_t at = first + headers * 56;
  for (size_t i = 0; i < capture->note_count; ++i) {
    const char* text = capture->notes[i].text;
    const uint64_t size = strlen(text);
    const uint64_t padded = (size + 3) & ~PS_U(3);
    good = good && ps_write_numbers(file, "444", PS_U(10), size, PS_U(capture->notes[i].type)) &&
           fwrite(owner, 1, 12, file) == 12 && fwrite(text, 1, (size_t)size, file) == size &&
           fwrite("\0\0\0", 1, (size_t)(padded - size), file) == padded - size;
    at += 24 + padded;
  }
  for (size_t i = 0; i < capture->buffer_count; ++i) {
    if (stored[i] == 0) continue;
    const uint64_t gap = ((at + 7) & ~PS_U(7)) - at;
    good = good && fwrite("\0\0\0\0\0\0\0", 1, (size_t)gap, file) == gap &&
           fwrite(capture->buffers[i]->bytes, 1, (size_t)stored[i], file) == stored[i];
    at += gap + stored[i];
  }
  free(stored);
  return good;
}

/* Reports buffers of one space that share addresses, which a program may cause by moving one. */
static inline void ps_check(struct ps_capture* capture) {
  qsort(capture->buffers, capture->buffer_count, sizeof(struct ps_buffer*), ps_by_address);
  for (size_t i = 1; i < capture->buffer_count; ++i) {
    const struct ps_buffer *before = capture->buffers[i - 1], *one = capture->buffers[i];
    if (before->space != one->space || one->address - before->address >= before->size) continue;
    ps_fail(capture, "the buffers at 0x%llx and 0x%llx overlap",
            (unsigned long long)before->address, (unsigned long long)one->address);
  }
}

/* Writes the core dump to `path`, which appears when it is complete. The program's exit code. */
static inline int ps_save(struct ps_capture* capture, const char* path) {
  ps_check(capture);
  if (capture->failed) return 1;
  const size_t length = strlen(path) + 5;
  char* temporary = (char*)malloc(length);
  if (temporary == NULL) return 1;
  snprintf(temporary, length, "%s.tmp", path);
  FILE* file = fopen(temporary, "wb");
  bool good = file != NULL && ps_write_core(capture, file);
  if (file != NULL) good = fclose(file) == 0 && good;
  good = good && rename(temporary, path) == 0;
  if (!good) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (file != NULL) remove(temporary);
  }
  free(temporary);
  return good ? 0 : 1;
}

/* Where ps_file looks for files: in --data=FOLDER of the command line, else in `folder`, which
 * counts from the folder of `source`. */
static inline void ps_files_beside(struct ps_capture* capture, int argc, char** argv,
                                   const char* source, const char* folder) {
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--data=", 7) == 0) capture->folder = argv[i] + 7;
  }
  if (capture->folder != NULL) return;
  const char* slash = folder[0] == '/' ? NULL : strrchr(source, '/');
  const size_t before = slash == NULL ? 0 : (size_t)(slash - source) + 1;
  char* path = (char*)malloc(before + strlen(folder) + 1);
  if (path == NULL) return;
  memcpy(path, source, before);
  strcpy(path + before, folder);
  capture->folder = path;
}

/* PROGRAM [--data=FOLDER] OUTPUT. Exit codes: 0 written, 1 errors, 2 wrong usage. */
static inline int ps_main(struct ps_capture* capture, int argc, char** argv) {
  const char* output = NULL;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--data=", 7) == 0) continue;
    if (output != NULL || (argv[i][0] == '-' && argv[i][1] != 0)) output = "";
    if (output == NULL) output = argv[i];
  }
  if (output == NULL || *output == 0) {
    fprintf(stderr, "usage: %s [--data=FOLDER] OUTPUT; OUTPUT becomes a GPU core dump\n",
            argc > 0 ? argv[0] : "program");
    return 2;
  }
  return ps_save(capture, output);
}

/* C: packs the members that follow into `size` bytes. */
#define PS_SCRATCH 65536
#define PS_PUT(buffer, T, size, ...)            \
  do {                                          \
    static uint32_t ps_scratch[PS_SCRATCH / 4]; \
    const struct T ps_packet = {__VA_ARGS__};   \
    memset(ps_scratch, 0, sizeof ps_scratch);   \
    T##_pack(NULL, ps_scratch, &ps_packet);     \
    ps_bytes(buffer, ps_scratch, size);         \
  } while (0)
/* The same of records of bytes, as AGX has them. */
#define PS_PUT_BYTES(buffer, T, size, ...)    \
  do {                                        \
    uint8_t ps_scratch[T##_LENGTH + 8] = {0}; \
    const struct T ps_packet = {__VA_ARGS__}; \
    T##_pack(ps_scratch, &ps_packet);         \
    ps_bytes(buffer, ps_scratch, size);       \
  } while (0)

#ifdef __cplusplus
#include <initializer_list>
#include <string>
#include <vector>

#include "packsmith/names.h"
#include "packsmith/pack.h"

namespace packsmith::rebuild {

// The items of a packet's tail: items<VERTEX_BUFFER_STATE>{{.buffer_pitch = 12}, {}}.
template <class T>
using items = std::vector<T>;

class buffer {
 public:
  explicit buffer(ps_buffer* made) : made_(made) {}

  // The next bytes go to this offset: see ps_at.
  void at(uint64_t offset) { ps_at(made_, offset); }

  // Packs and appends a packet, structure or register, with the arrays that its pack takes.
  template <class T, class... Arrays>
  buffer& put(const T& packet, const Arrays&... arrays) {
    return pack<checks::on>(~uint64_t{0}, packet, arrays...);
  }
  // The same for values that pack would refuse, and which the GPU was given all the same.
  template <class T, class... Arrays>
  buffer& put_unchecked(const T& packet, const Arrays&... arrays) {
    return pack<checks::off>(~uint64_t{0}, packet, arrays...);
  }
  // The same, but as many bytes as there were: cut off, or followed by zeros.
  template <class T, class... Arrays>
  buffer& put_sized(uint64_t size, const T& packet, const Arrays&... arrays) {
    return pack<checks::off>(size, packet, arrays...);
  }
  // Replaces bits of what was put last: see ps_bits.
  buffer& bits(uint64_t dword, uint32_t mask, uint32_t value) {
    ps_bits(made_, dword, mask, value);
    return *this;
  }
  void dwords(std::initializer_list<uint32_t> words) {
    ps_bytes(made_, words.begin(), words.size() * 4);
  }
  void bytes(std::initializer_list<uint8_t> some) { ps_bytes(made_, some.begin(), some.size()); }
  template <class T, size_t N>
  void data(const T (&array)[N]) {
    ps_bytes(made_, array, sizeof(array));
  }
  void file(const char* name, uint64_t size) { ps_file(made_, name, size); }

 private:
  // How many words a packet takes.
  template <class T, class... Arrays>
  static size_t units(const T& packet, const Arrays&... arrays) {
    (void)packet;
    if constexpr (requires { packet.dwords_needed(); }) {
      return packet.dwords_needed();
    } else if constexpr (requires { packet.bytes_needed(); }) {
      return packet.bytes_needed();
    } else if constexpr (requires { T::dwords_needed(0u); }) {
      return T::dwords_needed(static_cast<unsigned>((arrays.size() + ... + 0)));
    } else if constexpr (requires { T::bytes_needed(0u); }) {
      return T::bytes_needed(static_cast<unsigned>((arrays.size() + ... + 0)));
    } else if constexpr (requires { T::size; }) {
      return T::size;
    } else {
      return T::length;
    }
  }

  template <checks Checks, class T, class... Arrays>
  buffer& pack(uint64_t size, const T& packet, const Arrays&... arrays) {
    if constexpr (requires { T::size; }) {
      std::vector<uint8_t> words(units(packet, arrays...));
      return append(packet.template pack<Checks>(words.data(), arrays...), words, size);
    } else {
      std::vector<uint32_t> words(units(packet, arrays...));
      return append(packet.template pack<Checks>(words.data(), arrays...), words, size);
    }
  }

  template <class Word>
  buffer& append(const error& problem, std::vector<Word>& words, uint64_t size) {
    if (problem) {
      ps_fail(made_->of, "buffer at 0x%llx, offset 0x%llx: %s",
              static_cast<unsigned long long>(made_->address),
              static_cast<unsigned long long>(made_->at), to_text(problem).c_str());
    }
    if (size == ~uint64_t{0}) size = words.size() * sizeof(Word);
    words.resize((size + sizeof(Word) - 1) / sizeof(Word));
    ps_bytes(made_, words.data(), size);
    return *this;
  }

  ps_buffer* made_;
};

}  // namespace packsmith::rebuild
#endif

#endif  // PACKSMITH_REBUILD_H_
