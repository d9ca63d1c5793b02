// What clients are told of the files that exist for them only.
#ifndef PACKSMITH_TOOLS_MOCK_SERVED_PATHS_H_
#define PACKSMITH_TOOLS_MOCK_SERVED_PATHS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/devices/virtual_files.h"
#include "tools/mock/protocol.h"
#include "tools/mock/served_files.h"

namespace packsmith::mock {

struct PathAnswer {
  Reply reply;
  std::string path;
  UniqueFd fd;
};

// Thread-safe.
class ServedPaths {
 public:
  ServedPaths(capture::VirtualFiles& files, ServedFiles& devices);

  // Answers kOpen, kStat and kReadLink.
  PathAnswer Serve(const Request& request, const std::string& path);
  WrittenFiles& written() { return written_; }

 private:
  PathAnswer Open(int flags, bool follow, const std::string& path);
  PathAnswer OpenText(int flags, const capture::FileAnswer& found);
  PathAnswer Stat(bool follow, const std::string& path);
  // The tree's entries, and the real directory's that are shown with them.
  std::string EntriesOf(const capture::DirectoryListing& listing) const;
  Facts FactsOf(const capture::FileFacts& facts) const;

  capture::VirtualFiles& files_;
  ServedFiles& devices_;
  WrittenFiles written_;
  const int64_t time_;  // when it was made
};

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_SERVED_PATHS_H_
