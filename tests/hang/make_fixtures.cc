// Makes tests/data/hang again:
//   ./bazelw run //tests/hang:make_fixtures -- "$PWD/tests/data/hang"
#include <cstdio>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/base/file.h"
#include "runtime/dump/i915_error_writer.h"
#include "tests/hang/hung.h"

int main(int argc, char** argv) {
  using namespace packsmith;
  if (argc != 2) {
    std::fputs("usage: make_fixtures DIRECTORY\n", stderr);
    return 2;
  }
  // In a PIPE_CONTROL after the third draw; the engine has fetched five dwords of the next one. A
  // texture was missing.
  const Dump dump =
      hang::HungCapture("tests/data/captures/skl-gl-basic/00.core.zst",
                        {.acthd = 0xfffefffeee68, .ipehr = 0x7a000004, .fault = 0xfffeff900000});
  const absl::StatusOr<std::string> text = WriteI915Error(dump, {});
  const absl::Status status =
      text.ok()
          ? WriteFileWhole(std::string(argv[1]) + "/skl-gl-basic.error", absl::string_view(*text))
          : text.status();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
