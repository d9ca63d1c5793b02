// What is kept beside a dump, since it is gone later: the kernel's log, versions, the device.
#ifndef PACKSMITH_TOOLS_COLLECT_BESIDE_H_
#define PACKSMITH_TOOLS_COLLECT_BESIDE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/unique_fd.h"
#include "tools/collect/source.h"

namespace packsmith::collect {

// The kernel's log in the form of dmesg: "[  123.456789] text". Source for records: Linux,
// Documentation/ABI/testing/dev-kmsg.
class KernelLog {
 public:
  // Without a log that can be read it stays empty.
  explicit KernelLog(const std::string& root);

  // Adds what the log has, or got since the last call. Of more than kMost bytes the last ones stay.
  void Read();
  const std::string& text() const { return text_; }

  static constexpr size_t kMost = size_t{4} << 20;

 private:
  void Add(const std::string& record);

  UniqueFd fd_;
  std::string text_;
};

// A file that is kept.
struct SmallFile {
  std::string name, content;
};
// What the driver's debugfs says about firmware and topology. Names have the path:
// "guc_info.gt0.txt".
std::vector<SmallFile> DriverFiles(const std::string& root, const Source& source);

// The first eight digits of the number of this boot.
std::string BootOf(const std::string& root);

// What about.json has.
struct About {
  Source source;
  int64_t time = 0;  // seconds since 1970
  std::string boot;
  bool first = false;  // of a burst
  uint64_t bytes = 0;  // of the dump
  std::string cut;     // why it is not whole; empty: it is
  std::vector<SmallFile> files;
};
std::string AboutJson(const std::string& root, const About& about);

}  // namespace packsmith::collect

#endif  // PACKSMITH_TOOLS_COLLECT_BESIDE_H_
