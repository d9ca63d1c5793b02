#include "runtime/encode/problems.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/unicode.h"

namespace packsmith::encode {
namespace {

// Of the line that is shown, on each side of the caret: lines of JSON are long.
constexpr size_t kShown = 100;

// `text` without hidden characters and without bytes that are not UTF-8, each of them replaced by a
// question mark.
std::string Visible(absl::string_view text) {
  std::string visible;
  while (!text.empty()) {
    const CodePoint first = FirstCodePoint(text);
    if (first.valid && !IsHidden(first.value)) {
      visible.append(text.data(), first.bytes);
    } else {
      visible += first.valid && first.value == '\t' ? ' ' : '?';
    }
    text.remove_prefix(std::min(std::max<size_t>(first.bytes, 1), text.size()));
  }
  return visible;
}

size_t CharactersOf(absl::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    ++count;
    text.remove_prefix(std::min(std::max<size_t>(FirstCodePoint(text).bytes, 1), text.size()));
  }
  return count;
}

}  // namespace

Place PlaceOf(absl::string_view text, size_t offset) {
  const absl::string_view before = text.substr(0, offset);
  const size_t newline = before.rfind('\n');
  return {static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          newline == absl::string_view::npos ? before.size() + 1 : before.size() - newline};
}

void Problems::Add(const Source& source, size_t offset, std::string text) {
  ++count_;
  if (problems_.size() >= kMost) return;
  problems_.push_back({&source, std::min(offset, source.text.size()), std::move(text)});
}

void Problems::Clear() {
  problems_.clear();
  count_ = 0;
}

absl::Status Problems::status() const {
  if (count_ == 0) return absl::OkStatus();
  std::string all;
  for (const Problem& problem : problems_) {
    const absl::string_view text = problem.source->text;
    const Place place = PlaceOf(text, problem.offset);
    size_t begin = problem.offset - (place.column - 1);
    size_t end = text.find('\n', problem.offset);
    if (end == absl::string_view::npos) end = text.size();
    if (end > begin && text[end - 1] == '\r' && end - 1 >= problem.offset) --end;
    const bool cut_begin = problem.offset - begin > kShown;
    const bool cut_end = end - problem.offset > kShown;
    if (cut_begin) begin = problem.offset - kShown;
    if (cut_end) end = problem.offset + kShown;
    const std::string before = Visible(text.substr(begin, problem.offset - begin));
    const std::string after = Visible(text.substr(problem.offset, end - problem.offset));
    if (!all.empty()) all += '\n';
    absl::StrAppend(&all, Visible(problem.source->name), ":", place.line, ":", place.column,
                    ": error: ", Visible(problem.text), "\n  ", cut_begin ? "..." : "", before,
                    after, cut_end ? "..." : "", "\n  ",
                    std::string(CharactersOf(before) + (cut_begin ? 3 : 0), ' '), "^");
  }
  if (count_ > problems_.size()) {
    absl::StrAppend(&all, "\n", count_ - problems_.size(), " more errors");
  }
  return absl::InvalidArgumentError(all);
}

}  // namespace packsmith::encode
