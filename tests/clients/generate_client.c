// The kernel of generated draws, run by OpenCL and as C on the same memory: both must write the
// same bytes, and nothing else.
//
//   generate_client check KERNEL.cl OPTIONS GENERATION VERSION …
//   generate_client time KERNEL.cl OPTIONS GENERATION VERSION
//
// For OpenCL on the CPU, whose kernels have this program's addresses. The version is ten times the
// generation's.
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/intel/generated_draws/generator.h"

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

enum { kCases = 400, kMostItems = 200, kMostStride = 32, kMostSlotDwords = 20, kTimedItems = 8192 };

// What a kernel reads and writes; `end` must remain.
struct memory {
  struct packsmith_generate_draws parameters;
  uint32_t count, before[3];
  uint32_t indirect[kTimedItems * kMostStride / 4];
  uint32_t draw_ids[kTimedItems];
  uint32_t commands[kTimedItems * kMostSlotDwords];
  uint32_t end[16];
};

static struct memory now, first, expected;

static uint64_t random_state = 88172645463325252u;
static uint32_t random_number(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 16);
}
static uint32_t below(uint32_t n) { return random_number() % n; }

static uint64_t address_of(const void* place) { return (uint64_t)(uintptr_t)place; }

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

static void find_device(void) {
  cl_platform_id platform;
  cl_int error;
  EXPECT(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS);
  EXPECT(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  EXPECT(error == CL_SUCCESS);
  queue = clCreateCommandQueue(context, device, 0, &error);
  EXPECT(error == CL_SUCCESS);
}

static cl_kernel kernel_of(const char* file, const char* options, const char* version) {
  static char source[1 << 16], all_options[4096], log[1 << 16];
  FILE* const in = fopen(file, "rb");
  EXPECT(in != NULL);
  size_t size = fread(source, 1, sizeof(source), in);
  EXPECT(size > 0 && size < sizeof(source));
  fclose(in);
  snprintf(all_options, sizeof(all_options), "%s -DGFX_VERx10=%s", options, version);
  const char* text = source;
  cl_int error;
  const cl_program program = clCreateProgramWithSource(context, 1, &text, &size, &error);
  EXPECT(error == CL_SUCCESS);
  if (clBuildProgram(program, 1, &device, all_options, NULL, NULL) != CL_SUCCESS) {
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
    fprintf(stderr, "%s\n", log);
    exit(1);
  }
  const cl_kernel kernel = clCreateKernel(program, "generate_draws", &error);
  EXPECT(error == CL_SUCCESS);
  return kernel;
}

static void run_kernel(cl_kernel kernel, uint32_t items) {
  const cl_ulong parameters = address_of(&now.parameters);
  const size_t group = PACKSMITH_GENERATE_GROUP, all = (items + group - 1) / group * group;
  EXPECT(clSetKernelArg(kernel, 0, sizeof(parameters), &parameters) == CL_SUCCESS);
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL) == CL_SUCCESS);
  EXPECT(clFinish(queue) == CL_SUCCESS);
}

static void run_c(const struct packsmith_draw_generator* generator, uint32_t items) {
  for (uint32_t item = 0; item < items; ++item) generator->generate(&now.parameters, item);
}

static void fill(void) {
  uint32_t* const words = (uint32_t*)&now;
  for (size_t i = 0; i < sizeof(now) / 4; ++i) words[i] = random_number();
}

static uint64_t random_address(void) {
  return (uint64_t)random_number() << 20 | (random_number() & 0xffffc);
}

// Parameters of a draw call: random, except for addresses that are read or written.
static void choose(void) {
  struct packsmith_generate_draws* const p = &now.parameters;
  p->flags = below(64);
  p->items = 1 + below(kMostItems);
  const bool ring = (p->flags & PACKSMITH_GENERATE_RING) != 0;
  const uint32_t passes = ring ? 1 + below(4) : 1;
  const uint32_t pass = below(passes);
  p->draw_base = pass * p->items;
  p->max_draws = ring ? p->draw_base + below((passes - pass) * p->items + 1) : p->items;
  p->stride = 4 * (5 + below(kMostStride / 4 - 4));
  now.count = below(4) == 0 ? 0 : below(3) == 0 ? random_number() : below(p->max_draws + 2);
  p->count = below(2) ? address_of(&now.count) : 0;
  // The numbers of the pass's first draw are the first ones in memory.
  p->indirect = address_of(now.indirect) - (uint64_t)p->draw_base * p->stride;
  p->draw_ids = address_of(now.draw_ids);
  p->commands = address_of(now.commands);
  p->next_pass = random_address();
  p->end = random_address();
  p->instance_multiplier = 1 + below(4);
}

static void check(const struct packsmith_draw_generator* generator, cl_kernel kernel) {
  uint64_t written = 0;
  for (unsigned i = 0; i < kCases; ++i) {
    choose();
    memcpy(&first, &now, sizeof(now));
    run_c(generator, now.parameters.items + PACKSMITH_GENERATE_GROUP);
    memcpy(&expected, &now, sizeof(now));
    memcpy(&now, &first, sizeof(now));
    run_kernel(kernel, now.parameters.items);
    if (memcmp(&now, &expected, sizeof(now)) != 0) {
      const uint32_t *a = (const uint32_t*)&now, *b = (const uint32_t*)&expected;
      size_t at = 0;
      while (a[at] == b[at]) ++at;
      fprintf(stderr, "%s, case %u: dword %zu is %#x by OpenCL and %#x by C\n",
              generator->generation, i, at, a[at], b[at]);
      exit(1);
    }
    for (size_t word = 0; word < sizeof(now) / 4; ++word) {
      written += ((uint32_t*)&now)[word] != ((uint32_t*)&first)[word];
    }
    memcpy(&now, &first, sizeof(now));
  }
  printf("%s: the same in %d cases, %llu dwords written\n", generator->generation, kCases,
         (unsigned long long)written);
}

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Full rings of draws with indices.
static void time_it(const struct packsmith_draw_generator* generator, cl_kernel kernel) {
  struct packsmith_generate_draws* const p = &now.parameters;
  static uint32_t copy[kTimedItems * kMostSlotDwords];
  const uint32_t bytes = 4 * generator->slot_dwords(PACKSMITH_GENERATE_INDEXED) * kTimedItems;
  choose();
  p->flags = PACKSMITH_GENERATE_INDEXED | PACKSMITH_GENERATE_RING;
  p->items = p->max_draws = kTimedItems;
  p->draw_base = 0;
  p->count = 0;
  p->stride = 20;
  p->indirect = address_of(now.indirect);
  double least[3] = {1e9, 1e9, 1e9};
  for (unsigned i = 0; i < 100; ++i) {
    const double begin = seconds();
    run_kernel(kernel, kTimedItems);
    const double kernel_end = seconds();
    run_c(generator, kTimedItems);
    const double c_end = seconds();
    memcpy(copy, now.commands, bytes);
    __asm__ volatile("" ::"r"(copy) : "memory");
    const double taken[3] = {kernel_end - begin, c_end - kernel_end, seconds() - c_end};
    for (unsigned k = 0; k < 3; ++k) least[k] = taken[k] < least[k] ? taken[k] : least[k];
  }
  printf("%s: million draws a second: OpenCL %.1f, C %.1f, memcpy of as many bytes %.1f\n",
         generator->generation, kTimedItems / least[0] * 1e-6, kTimedItems / least[1] * 1e-6,
         kTimedItems / least[2] * 1e-6);
}

int main(int argc, char** argv) {
  EXPECT(argc >= 6 && argc % 2 == 0);
  find_device();
  for (int i = 4; i < argc; i += 2) {
    const struct packsmith_draw_generator* const generator = packsmith_find_draw_generator(argv[i]);
    EXPECT(generator != NULL);
    EXPECT(generator->slot_dwords(~0u) <= kMostSlotDwords);
    const cl_kernel kernel = kernel_of(argv[2], argv[3], argv[i + 1]);
    fill();
    if (strcmp(argv[1], "time") == 0) {
      time_it(generator, kernel);
    } else {
      check(generator, kernel);
    }
    clReleaseKernel(kernel);
  }
  return 0;
}
