// Any bytes as lines for `imglayout --batch`: each is parsed, and laid out if possible. Elements
// must map to addresses and back, and copies of a part must equal copies element by element, in
// memory of exactly the size that they say they need.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/layout/copy.h"
#include "runtime/layout/layout.h"
#include "tools/imglayout_json.h"

namespace packsmith::layout {
namespace {

// Images up to that are copied too.
constexpr uint64_t kCopied_B = 20000;
constexpr size_t kLines = 8;

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

// Numbers that depend on the line and on nothing else.
class Numbers {
 public:
  explicit Numbers(absl::string_view seed) {
    for (const char c : seed) state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  uint64_t Below(uint64_t end) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 16) % end;
  }
  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(Below(uint64_t{end})); }

 private:
  uint64_t state_ = 0xcbf29ce484222325;
};

void TryAddresses(const Layout& layout, Numbers& numbers) {
  Element element;
  element.level = numbers.Below(static_cast<uint32_t>(layout.levels().size()));
  const Level& level = layout.levels()[element.level];
  element.layer = numbers.Below(level.layers);
  element.x_el = numbers.Below(level.width_el);
  element.y_el = numbers.Below(level.height_el);
  element.sample = numbers.Below(layout.description().samples);
  const std::optional<uint64_t> address_B = layout.AddressOf(element);
  Demand(address_B.has_value());
  Demand(*address_B + layout.description().format->block_B <= layout.size_B());
  Demand(layout.ElementAt(*address_B) == element);
  // The element found at an address begins there, or before.
  const uint64_t any_B = numbers.Below(layout.size_B());
  const std::optional<Element> other = layout.ElementAt(any_B);
  if (!other.has_value()) return;
  const std::optional<uint64_t> begin_B = layout.AddressOf(*other);
  Demand(begin_B.has_value() && *begin_B <= any_B &&
         any_B - *begin_B < layout.description().format->block_B);
}

void TryCopy(const Layout& layout, Numbers& numbers) {
  const uint32_t level = numbers.Below(static_cast<uint32_t>(layout.levels().size()));
  Region region = WholeLevel(layout, level, numbers.Below(layout.levels()[level].layers));
  region.x_el = numbers.Below(region.w_el);
  region.y_el = numbers.Below(region.h_el);
  region.w_el -= region.x_el;
  region.h_el -= region.y_el;
  if (numbers.Below(2u) == 0) region.w_el = 1 + numbers.Below(region.w_el);
  if (numbers.Below(4u) == 0) region.sample = numbers.Below(layout.description().samples);
  const absl::StatusOr<CopyPlan> plan = CopyPlan::Make(layout, region);
  Demand(plan.ok());
  const uint64_t stride_B = plan->linear_row_B() + numbers.Below(3u);
  const uint64_t linear_B = plan->linear_size_B(stride_B);
  if (linear_B > kCopied_B) return;
  std::vector<uint8_t> linear(linear_B), back(linear_B);
  for (uint8_t& byte : linear) byte = static_cast<uint8_t>(numbers.Below(256u));
  std::vector<uint8_t> image(layout.size_B(), 1), expected = image;
  Demand(plan->CopyIn(linear, stride_B, absl::MakeSpan(image)).ok());
  Demand(CopyInByElement(layout, region, linear, stride_B, absl::MakeSpan(expected)).ok());
  Demand(image == expected);
  Demand(plan->CopyOut(image, absl::MakeSpan(back), stride_B).ok());
  for (uint32_t y = 0; y < region.h_el; ++y) {
    const auto row = linear.begin() + static_cast<ptrdiff_t>(y * stride_B);
    Demand(std::equal(row, row + static_cast<ptrdiff_t>(plan->linear_row_B()),
                      back.begin() + static_cast<ptrdiff_t>(y * stride_B)));
  }
}

void TryLine(absl::string_view line) {
  const absl::StatusOr<ImageDescription> image = ImageOfJson(line);
  const absl::StatusOr<Layout> layout = image.ok() ? Layout::Of(*image) : image.status();
  if (!layout.ok()) {
    Demand(!layout.status().message().empty());
    Demand(ErrorToJson(layout.status()).find('\n') == std::string::npos);
    return;
  }
  Demand(ToJson(*layout).find('\n') == std::string::npos);
  Numbers numbers(line);
  for (int i = 0; i < 4; ++i) TryAddresses(*layout, numbers);
  if (layout->size_B() <= kCopied_B) TryCopy(*layout, numbers);
}

}  // namespace
}  // namespace packsmith::layout

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  size_t lines = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (++lines > packsmith::layout::kLines) break;
    packsmith::layout::TryLine(line);
  }
  return 0;
}
