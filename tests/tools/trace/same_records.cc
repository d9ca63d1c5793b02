// same_records A B: whether two folders of recorded runs hold the same submissions, with the same
// memory at the same addresses. With --any-order: the same set of them. Says what differs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/read.h"
#include "runtime/dump/run_folder.h"

namespace packsmith {
namespace {

struct Record {
  std::string about;   // submissions and the device
  std::string memory;  // places and bytes
};

Record Describe(const Dump& dump, bool with_number) {
  Record record;
  const Device& device = dump.device;
  record.about = absl::StrFormat("%s %s %d %x %d\n", device.uapi, device.platform, device.verx10,
                                 device.pci_id.value_or(0), dump.memory_is_complete);
  for (const Submission& submission : dump.submissions) {
    absl::StrAppendFormat(&record.about, "%s slot %d space %d batch %#x+%#x %s", submission.engine,
                          submission.slot, submission.space, submission.batch_address,
                          submission.batch_length, submission.stream);
    if (with_number) {
      absl::StrAppendFormat(&record.about, " number %d context %d", submission.index,
                            submission.context);
    }
  }
  for (const Buffer& buffer : dump.buffers) {
    absl::StrAppendFormat(&record.about, "\n  %d %#x+%#x %s %s", buffer.space, buffer.address,
                          buffer.size, with_number ? buffer.name : "", buffer.flags);
  }
  std::vector<uint8_t> bytes;
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    absl::StrAppendFormat(&record.memory, "%d %#x+%#x\n", segment.space, segment.address,
                          segment.memory_size);
    bytes.assign(segment.memory_size, 0);
    if (dump.memory.Copy(segment.space, segment.address, absl::MakeSpan(bytes)) != bytes.size()) {
      absl::StrAppend(&record.memory, "cannot be read\n");
    }
    record.memory.append(bytes.begin(), bytes.end());
  }
  return record;
}

bool ReadAll(const std::string& folder, bool with_numbers, std::vector<Record>& out) {
  const absl::StatusOr<RunFolder> run = ReadRunFolder(folder);
  if (!run.ok()) {
    absl::PrintF("%s: %s\n", folder, run.status().message());
    return false;
  }
  for (const std::string& problem : run->problems) absl::PrintF("%s: %s\n", folder, problem);
  for (const RunRecord& record : run->records) {
    const absl::StatusOr<Dump> dump = ReadDump(absl::StrCat(folder, "/", record.file));
    if (!dump.ok()) {
      absl::PrintF("%s: %s\n", record.file, dump.status().message());
      return false;
    }
    out.push_back(Describe(*dump, with_numbers));
    for (const std::string& warning : record.warnings) absl::StrAppend(&out.back().about, warning);
  }
  return run->problems.empty() && run->ended;
}

int Main(int argc, char** argv) {
  const bool any_order = argc == 4 && std::strcmp(argv[3], "--any-order") == 0;
  std::vector<Record> a, b;
  if (argc < 3 || !ReadAll(argv[1], !any_order, a) || !ReadAll(argv[2], !any_order, b)) return 1;
  if (any_order) {
    const auto before = [](const Record& x, const Record& y) {
      return x.about != y.about ? x.about < y.about : x.memory < y.memory;
    };
    std::sort(a.begin(), a.end(), before);
    std::sort(b.begin(), b.end(), before);
  }
  if (a.size() != b.size()) {
    absl::PrintF("%d and %d submissions\n", a.size(), b.size());
    return 1;
  }
  int different = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].about != b[i].about) {
      absl::PrintF("%d: %s\n-- and --\n%s\n", i + 1, a[i].about, b[i].about);
      ++different;
    }
    if (a[i].memory != b[i].memory) {
      absl::PrintF("%d: the memory is not the same\n", i + 1);
      ++different;
    }
  }
  absl::PrintF("%d submissions, %d different\n", a.size(), different);
  return different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace packsmith

int main(int argc, char** argv) { return packsmith::Main(argc, argv); }
