// For programs that run under the mock: a check that fails ends the program, with its place.
#ifndef PACKSMITH_TESTS_TOOLS_MOCK_CHECK_H_
#define PACKSMITH_TESTS_TOOLS_MOCK_CHECK_H_

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "%s:%d: %s (errno %s)\n", __FILE__, __LINE__, #condition, strerror(errno)); \
      _Exit(1);                                                                                   \
    }                                                                                             \
  } while (0)

#define EXPECT_ERRNO(call, error) \
  do {                            \
    errno = 0;                    \
    CHECK((call) == -1);          \
    CHECK(errno == (error));      \
  } while (0)

#endif  // PACKSMITH_TESTS_TOOLS_MOCK_CHECK_H_
