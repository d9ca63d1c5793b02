// The files that a program reads, in order, and which of them belong together.
#ifndef PACKSMITH_TOOLS_INPUTS_H_
#define PACKSMITH_TOOLS_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/raw.h"
#include "runtime/tables/tables.h"

namespace packsmith::tools {

// The GPU whose dumps are being decoded. Dumps of one GPU belong to one run: each continues with
// the state of those before it.
struct Gpu {
  tables::Tables tables;
  Device device;

  // Whether a dump with these tables is of the same GPU: ids that only one of them has do not
  // count.
  bool IsSame(const tables::Tables& other, const Device& its) const;
};

// Whether a dump names its GPU, generation or family.
bool NamesGpu(const Device& device);

// Whether a dump says what was submitted, to which engine and at which address, so that RawOptions
// do not apply.
bool SaysWhatItIs(const Dump& dump);

// What ForEach() does after a dump.
enum class Then {
  kGoOn,
  kStop,
  kRefuse,  // the dump is bad: it is left out from then on
  kLater,   // the dump, and those after it, belong to the next group
};

// Which dumps stay in memory between two passes: those that can be read only once, or all, changed
// as they are.
enum class Keep { kSome, kAll };

// The inputs, which may be read several times, group by group. Only one of several files is in
// memory at a time, except those that can be read only once.
class Inputs {
 public:
  using Complain = std::function<void(absl::string_view)>;

  // `complain` is called with an error for each file that cannot be read.
  Inputs(const std::vector<std::string>& paths, RawOptions raw, Complain complain,
         Keep keep = Keep::kSome);

  // Whether a file could not be read, or was refused, or Fail() was called.
  bool failed() const { return failed_; }

  // Complains about something around the files, such as the index of a folder.
  void Fail(absl::string_view why);

  // By path: what is known of an input beyond its content.
  void SetRemarks(std::map<std::string, std::string> remarks) { remarks_ = std::move(remarks); }
  // The remark about an input, or "".
  std::string RemarkOf(const std::string& path) const;

  // Advances to the inputs for which Then::kLater was returned. False: there are none.
  [[nodiscard]] bool NextGroup();

  // Calls visit for each of the group that can be read. All inputs are one group until visit() says
  // otherwise. `again_later`: there will be another call for the same group.
  void ForEach(bool again_later,
               const std::function<Then(Dump& dump, const std::string& path)>& visit);

 private:
  struct Input {
    std::string path;
    bool keep = false, bad = false;
    std::unique_ptr<Dump> dump;
  };
  RawOptions raw_;
  Complain complain_;
  std::vector<Input> inputs_;
  size_t begin_ = 0, end_;
  bool failed_ = false;
  std::map<std::string, std::string> remarks_;
};

// Notices dumps in the wrong order: state carries over from one to the next.
class IndexOrder {
 public:
  // A note to print before the dump is decoded, or "".
  std::string Add(const Dump& dump, absl::string_view path);

 private:
  std::optional<uint32_t> last_;
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_INPUTS_H_
