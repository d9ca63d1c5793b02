#include "tools/inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/progress.h"
#include "runtime/dump/read.h"

namespace packsmith::tools {

bool Gpu::IsSame(const tables::Tables& other, const Device& its) const {
  const auto differ = [](const auto& one, const auto& two) { return one && two && *one != *two; };
  return tables.family() == other.family() && tables.generation() == other.generation() &&
         tables.digest() == other.digest() && !differ(device.pci_id, its.pci_id) &&
         !differ(device.chip_id, its.chip_id);
}

bool NamesGpu(const Device& device) {
  return device.chip_id || device.pci_id || !device.generation.empty() || !device.family.empty();
}

bool SaysWhatItIs(const Dump& dump) {
  return std::none_of(dump.submissions.begin(), dump.submissions.end(),
                      [](const Submission& submission) { return submission.bare; });
}

Inputs::Inputs(const std::vector<std::string>& paths, RawOptions raw, Complain complain, Keep keep)
    : raw_(std::move(raw)),
      complain_(std::move(complain)),
      inputs_(paths.size()),
      end_(paths.size()) {
  for (size_t i = 0; i < paths.size(); ++i) {
    inputs_[i].path = paths[i];
    struct stat about {};
    inputs_[i].keep = keep == Keep::kAll || paths.size() == 1 ||
                      ::stat(paths[i].c_str(), &about) != 0 || !S_ISREG(about.st_mode);
  }
}

void Inputs::Fail(absl::string_view why) {
  complain_(why);
  failed_ = true;
}

std::string Inputs::RemarkOf(const std::string& path) const {
  const auto found = remarks_.find(path);
  return found == remarks_.end() ? "" : found->second;
}

bool Inputs::NextGroup() {
  begin_ = std::exchange(end_, inputs_.size());
  return begin_ != end_;
}

void Inputs::ForEach(bool again_later,
                     const std::function<Then(Dump& dump, const std::string& path)>& visit) {
  for (size_t i = begin_; i < end_; ++i) {
    Input& input = inputs_[i];
    if (input.bad) continue;
    const std::string place =
        inputs_.size() == 1 ? input.path
                            : absl::StrCat(input.path, " (", i + 1, " of ", inputs_.size(), ")");
    if (input.dump == nullptr) {
      SetProgress(absl::StrCat("reading ", place));
      absl::StatusOr<Dump> dump = ReadDump(input.path, raw_);
      if (!dump.ok()) {
        complain_(dump.status().message());
        input.bad = failed_ = true;
        continue;
      }
      input.dump = std::make_unique<Dump>(*std::move(dump));
    }
    SetProgress(absl::StrCat("decoding ", place));
    const Then then = visit(*input.dump, input.path);
    if (then == Then::kLater) {
      end_ = i;
      return;
    }
    if (then == Then::kRefuse) input.bad = failed_ = true;
    if (!again_later || !input.keep || input.bad) input.dump = nullptr;
    if (then == Then::kStop) return;
  }
}

std::string IndexOrder::Add(const Dump& dump, absl::string_view path) {
  // Dumps of hangs count their submissions themselves, each from zero.
  if (dump.submissions.empty() || dump.error_state != nullptr) return "";
  const auto less = [](const Submission& a, const Submission& b) { return a.index < b.index; };
  const auto [first, last] =
      std::minmax_element(dump.submissions.begin(), dump.submissions.end(), less);
  std::string note;
  if (last_ && first->index < *last_) {
    note = absl::StrCat(path, " begins with submission ", first->index,
                        ", the file before it ended with ", *last_,
                        ": state carries over in the order in which files are given");
  }
  last_ = last->index;
  return note;
}

}  // namespace packsmith::tools
