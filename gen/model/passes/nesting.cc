#include "gen/model/passes/nesting.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace packsmith::model {
namespace {

class NestingPass : public Pass {
 public:
  explicit NestingPass(Context& context) : Pass(context) {}

  bool Run() {
    enum : char { kNew, kOpen, kDone };
    std::vector<char> state(model_.containers.size(), kNew);
    bool good = true;
    // Depth first without recursion: a chain of structures may be as long as the file.
    struct Frame {
      int container;
      std::vector<const Field*> nested;
      size_t next = 0;
    };
    for (size_t root = 0; root < model_.containers.size(); ++root) {
      if (state[root] != kNew) continue;
      std::vector<Frame> stack;
      const auto open = [&](int i) {
        state[static_cast<size_t>(i)] = kOpen;
        stack.push_back({i, {}, 0});
        FindNested(model_.containers[static_cast<size_t>(i)].items, stack.back().nested);
      };
      open(static_cast<int>(root));
      while (!stack.empty()) {
        Frame& top = stack.back();
        if (top.next == top.nested.size()) {
          state[static_cast<size_t>(top.container)] = kDone;
          model_.nesting_order.push_back(top.container);
          stack.pop_back();
          continue;
        }
        const Field* field = top.nested[top.next++];
        const auto target = static_cast<size_t>(field->type_index);
        if (state[target] == kOpen) {
          Report(Code::kStructCycle, field->where,
                 absl::StrCat("\"", model_.containers[target].name, "\" contains itself"));
          good = false;
        } else if (state[target] == kNew) {
          if (stack.size() > 16) {
            Report(Code::kTooLarge, field->where, "structures nest at most 16 deep");
            return false;
          }
          open(field->type_index);
        }
      }
    }
    // Structures that are parts or items go before the packets that name them.
    std::stable_partition(model_.nesting_order.begin(), model_.nesting_order.end(), [this](int i) {
      return model_.containers[static_cast<size_t>(i)].kind == ContainerKind::kStruct;
    });
    return good;
  }

 private:
  static void FindNested(const std::vector<Item>& items, std::vector<const Field*>& into) {
    for (const Item& item : items) {
      if (const Group* const group = item.group()) FindNested(group->items, into);
      const Field* const field = item.field();
      if (field != nullptr && field->type == FieldType::kStruct) into.push_back(field);
    }
  }
};

}  // namespace

bool OrderNesting(Context& context) { return NestingPass(context).Run(); }

}  // namespace packsmith::model
