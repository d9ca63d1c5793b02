// The calls of the device that programs of these tests find: for C and C++.
#ifndef PACKSMITH_TESTS_TOOLS_MOCK_TEST_DEVICE_H_
#define PACKSMITH_TESTS_TOOLS_MOCK_TEST_DEVICE_H_

#include <stdint.h>

struct test_double {
  uint32_t in;
  uint32_t out;
};
// An object of `size` bytes, and where it can be mapped.
struct test_create {
  uint64_t size;
  uint64_t offset;
  uint32_t handle;
  uint32_t pad;
};
// Adds up `count` bytes of memory of the program.
struct test_sum {
  uint64_t address;
  uint64_t count;
  uint64_t sum;
};
// Maps an object where the program has room.
struct test_map {
  uint64_t offset;
  uint64_t size;
  uint64_t address;
  uint32_t handle;
  uint32_t pad;
};
// What the device had before: files that are open now, objects that exist now.
struct test_state {
  uint32_t files;
  uint32_t objects;
};

// Values that TEST_DOUBLE refuses, and warns of.
enum { TEST_REFUSED = 0x7fffffff, TEST_WARNED = 0x7ffffffe };

enum {
  TEST_DOUBLE = 0xc0086440u,
  TEST_CREATE = 0xc0186441u,
  TEST_SUM = 0xc0186442u,
  TEST_STATE = 0x80086443u,
  TEST_MAP = 0xc0206444u,
};

#endif  // PACKSMITH_TESTS_TOOLS_MOCK_TEST_DEVICE_H_
