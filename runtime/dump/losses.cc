#include "runtime/dump/losses.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace packsmith {

std::vector<std::string> LostOfSubmissions(const Dump& dump, const HeldOfSubmissions& held,
                                           const std::function<bool(const Submission&)>& chosen) {
  std::vector<std::string> lost;
  const auto any = [&](const std::function<bool(const Submission&)>& has) {
    return std::any_of(dump.submissions.begin(), dump.submissions.end(),
                       [&](const Submission& one) { return chosen(one) && has(one); });
  };
  const auto lose = [&](bool is_lost, const char* what) {
    if (is_lost) lost.emplace_back(what);
  };
  lose(!held.engines && any([](const Submission& one) { return one.engine != "render"; }),
       "engines of submissions");
  lose(!held.engines && any([](const Submission& one) { return one.context != 0; }),
       "contexts of submissions");
  lose(any([](const Submission& one) { return one.slot != 0; }), "slots of submissions");
  lose(!held.lengths && any([](const Submission& one) { return one.batch_length != 0; }),
       "lengths of batches");
  lose(!held.rings && any([](const Submission& one) { return one.ring.has_value(); }), "rings");
  lose(any([](const Submission& one) { return one.head || one.tail || one.acthd || one.ipehr; }),
       "registers of submissions");
  lose(any([](const Submission& one) { return !one.stream.empty(); }), "streams of submissions");
  lose(any([](const Submission& one) { return !one.bases.empty(); }),
       "base addresses that were given to the kernel driver");
  return lost;
}

std::vector<std::string> LostBesides(const Dump& dump) {
  std::vector<std::string> lost;
  if (dump.error_state != nullptr) {
    lost.push_back(
        absl::StrCat("all that the ", dump.error_state->kind, " has beyond memory and batches"));
  }
  if (dump.memory_is_complete) lost.emplace_back("the statement that memory is complete");
  if (std::any_of(dump.buffers.begin(), dump.buffers.end(),
                  [](const Buffer& one) { return !one.tiling.empty(); })) {
    lost.emplace_back("tilings of buffers");
  }
  return lost;
}

}  // namespace packsmith
