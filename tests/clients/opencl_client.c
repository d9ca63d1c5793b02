// OpenCL: fills and copies a buffer, and prints which of it has arrived: a driver may use kernels
// for that, which are not executed.
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

enum { kNumbers = 4096 };

static const char* done(int all, int none) {
  EXPECT(all != none);  // whole or not at all
  return all ? "done" : "not done";
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  EXPECT(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS);
  EXPECT(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL) == CL_SUCCESS);
  char name[256];
  EXPECT(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS);
  printf("%s\n", name);
  const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  EXPECT(error == CL_SUCCESS);
  const cl_command_queue queue =
      clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
  EXPECT(error == CL_SUCCESS);

  static uint32_t numbers[kNumbers], back[kNumbers];
  for (uint32_t i = 0; i < kNumbers; ++i) numbers[i] = 3 * i + 1;
  const cl_mem from = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                     sizeof numbers, numbers, &error);
  EXPECT(error == CL_SUCCESS);
  const cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof numbers, NULL, &error);
  EXPECT(error == CL_SUCCESS);

  cl_event event;
  EXPECT(clEnqueueCopyBuffer(queue, from, to, 0, 0, sizeof numbers, 0, NULL, &event) == CL_SUCCESS);
  EXPECT(clFinish(queue) == CL_SUCCESS);
  cl_int status = -1;
  EXPECT(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) ==
         CL_SUCCESS);
  EXPECT(status == CL_COMPLETE);
  cl_ulong queued = 0, start = 0, end = 0;
  EXPECT(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, 8, &queued, NULL) ==
         CL_SUCCESS);
  EXPECT(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 8, &start, NULL) == CL_SUCCESS);
  EXPECT(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 8, &end, NULL) == CL_SUCCESS);
  EXPECT(start != 0 && start <= end);
  EXPECT(end - start < 1000000000);
  printf("times: good\n");
  EXPECT(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL) ==
         CL_SUCCESS);
  static const uint32_t zero[kNumbers];
  printf("copy %s, ",
         done(memcmp(back, numbers, sizeof back) == 0, memcmp(back, zero, sizeof back) == 0));

  // Buffers that the CPU has filled, and one that the host writes.
  EXPECT(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL) ==
         CL_SUCCESS);
  EXPECT(memcmp(back, numbers, sizeof back) == 0);
  for (uint32_t i = 0; i < kNumbers; ++i) numbers[i] = ~i;
  EXPECT(clEnqueueWriteBuffer(queue, from, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL) ==
         CL_SUCCESS);
  EXPECT(clEnqueueReadBuffer(queue, from, CL_TRUE, 400, 4000, back, 0, NULL, NULL) == CL_SUCCESS);
  EXPECT(memcmp(back, numbers + 100, 4000) == 0);

  const uint32_t pattern = 0xfeedbeef;
  EXPECT(clEnqueueFillBuffer(queue, to, &pattern, sizeof pattern, 0, sizeof numbers, 0, NULL,
                             NULL) == CL_SUCCESS);
  EXPECT(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL) ==
         CL_SUCCESS);
  int filled = 1;
  for (uint32_t i = 0; i < kNumbers; ++i) filled &= back[i] == pattern;
  printf("fill %s\n", filled ? "done" : "not done");
  printf("write and read: good\n");
  clReleaseMemObject(from);
  clReleaseMemObject(to);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
