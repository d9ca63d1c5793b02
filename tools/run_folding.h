// Lines about the commands of a run, in which the repetitions of a loop are counted, not shown.
#ifndef PACKSMITH_TOOLS_RUN_FOLDING_H_
#define PACKSMITH_TOOLS_RUN_FOLDING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace packsmith::tools {

// A loop's turn begins when a command is executed that is not after the one before it in its level.
// A turn of the same commands as the turn before is counted.
class Folding {
 public:
  using Write = std::function<void(absl::string_view)>;
  explicit Folding(Write write) : write_(std::move(write)) {}
  ~Folding() { Flush(); }

  // A command and the beginning of its line.
  void Begin(uint32_t space, uint64_t address, uint32_t level, std::string line) {
    const bool back = !turn_.empty() && level == turn_.back().level &&
                      space == turn_.back().space && address <= turn_.back().address;
    if (back) EndTurn();
    // What is not a loop is not kept.
    if (turn_.size() == kLongestTurn) Flush();
    turn_.push_back({space, address, level});
    lines_.push_back(std::move(line));
  }
  // More of the last command's line.
  void Add(absl::string_view text) {
    if (lines_.empty()) return Line(text);
    absl::StrAppend(&lines_.back(), text);
  }
  // A line of its own below.
  void Line(absl::string_view text) {
    if (lines_.empty()) {
      write_(absl::StrCat(text, "\n"));
      return;
    }
    absl::StrAppend(&lines_.back(), "\n", text);
  }
  void Flush() {
    EndTurn();
    if (repeats_ != 0) write_(absl::StrCat("  ... ", repeats_, " more turns of this loop\n"));
    repeats_ = 0;
    last_.clear();
  }

 private:
  struct At {
    uint32_t space;
    uint64_t address;
    uint32_t level;
    friend bool operator==(const At&, const At&) = default;
  };
  static constexpr size_t kLongestTurn = 4096;

  void EndTurn() {
    if (turn_.empty()) return;
    if (turn_ == last_) {
      ++repeats_;
    } else {
      if (repeats_ != 0) write_(absl::StrCat("  ... ", repeats_, " more turns of this loop\n"));
      repeats_ = 0;
      for (const std::string& line : lines_) write_(absl::StrCat(line, "\n"));
      last_ = turn_;
    }
    turn_.clear();
    lines_.clear();
  }

  const Write write_;
  std::vector<At> turn_, last_;
  std::vector<std::string> lines_;
  uint64_t repeats_ = 0;
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_RUN_FOLDING_H_
