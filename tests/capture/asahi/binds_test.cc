// VM_BIND against a model of the address space: what each page is.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/capture/asahi/client.h"

namespace packsmith::capture {
namespace {

namespace asahi = uapi::asahi;

constexpr uint64_t kPage = asahi::kPage, kBase = 0x1000000;

// The object's id, its page, and the mapping's flags.
using Pages = std::map<uint64_t, std::tuple<uint64_t, uint64_t, uint32_t>>;

Pages PagesOf(const AddressMap& map) {
  Pages pages;
  for (const auto& [address, mapping] : map.mappings()) {
    for (uint64_t at = 0; at < mapping.size; at += kPage) {
      const uint64_t in_object = mapping.repeats == 0 ? at : at % mapping.repeats;
      pages[address + at] = {mapping.object->id(), (mapping.offset + in_object) / kPage,
                             mapping.flags};
    }
  }
  return pages;
}

TEST(AsahiBinds, OperationsBeforeARefusedOneStay) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm), object = client.Object(kPage);
  EXPECT_EQ(client.Bind(vm, {Map(object, kBase, kPage), Map(99, kBase, kPage),
                             Map(object, kBase + kPage, kPage)}),
            -ENOENT);
  ASSERT_EQ(client.Submit(queue, Commands().Render(GoodRender(kBase))), 0);
  const AddressMap& map = *machine.seen.works[0]->memory;
  EXPECT_NE(map.Find(kBase), nullptr);
  EXPECT_EQ(map.Find(kBase + kPage), nullptr);
}

TEST(AsahiBinds, ALargerStrideIsSkipped) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm), object = client.Object(kPage);
  struct Wide {
    asahi::gem_bind_op op;
    uint64_t newer;
  };
  const std::vector<Wide> ops = {{Map(object, kBase, kPage), 1},
                                 {Map(object, 2 * kBase, kPage), 2}};
  asahi::vm_bind args = {vm, 2, sizeof(Wide), 0, AddressOf(ops[0])};
  ASSERT_EQ(client.Call(asahi::kVmBind, args), 0);
  ASSERT_EQ(client.Submit(queue, Commands().Render(GoodRender(kBase))), 0);
  EXPECT_NE(machine.seen.works[0]->memory->Find(2 * kBase), nullptr);
}

TEST(AsahiBinds, ClosingTheHandleUnmaps) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm);
  const uint32_t goes = client.Object(kPage), stays = client.Object(kPage);
  ASSERT_EQ(client.Bind(vm, {Map(goes, kBase, kPage), Map(stays, 2 * kBase, kPage)}), 0);
  uapi::drm::gem_close close = {goes, 0};
  ASSERT_EQ(client.Call(uapi::drm::kGemClose, close), 0);
  ASSERT_EQ(client.Submit(queue, Commands().Render(GoodRender(2 * kBase))), 0);
  EXPECT_EQ(machine.seen.works[0]->memory->Find(kBase), nullptr);
  EXPECT_NE(machine.seen.works[0]->memory->Find(2 * kBase), nullptr);
}

TEST(AsahiBinds, TenThousandRandomOnesFollowTheModel) {
  Machine machine;
  Client client(machine);
  constexpr uint64_t kPages = 256, kObjects = 6, kObjectPages = 24;
  const uint32_t vm = client.Vm(), queue = client.Queue(vm);
  std::vector<uint32_t> objects;
  std::map<uint32_t, uint64_t> id_of;
  const auto seen = [&]() -> const AddressMap& {
    machine.seen.works.clear();
    EXPECT_EQ(client.Submit(queue, Commands().Render(GoodRender(kBase))), 0);
    return *machine.seen.works.back()->memory;
  };
  const auto add = [&] {
    const uint32_t object = client.Object(kObjectPages * kPage);
    EXPECT_EQ(client.Bind(vm, {Map(object, kBase + kPages * 2 * kPage, kPage)}), 0);
    id_of[object] = seen().Find(kBase + kPages * 2 * kPage)->object->id();
    EXPECT_EQ(client.Bind(vm, {Unmap(kBase + kPages * 2 * kPage, kPage)}), 0);
    return object;
  };
  for (uint64_t i = 0; i < kObjects; ++i) objects.push_back(add());
  std::mt19937 random(20260727);
  const auto upto = [&random](uint64_t count) { return random() % count; };
  Pages model;
  const auto cut = [&model](uint64_t first, uint64_t count) {
    model.erase(model.lower_bound(kBase + first * kPage),
                model.lower_bound(kBase + (first + count) * kPage));
  };
  for (int steps = 0; steps < 10'000;) {
    if (upto(40) == 0) {
      // The handle goes, and with it all its mappings.
      uint32_t& object = objects[upto(kObjects)];
      for (auto it = model.begin(); it != model.end();) {
        it = std::get<0>(it->second) == id_of[object] ? model.erase(it) : std::next(it);
      }
      uapi::drm::gem_close close = {object, 0};
      ASSERT_EQ(client.Call(uapi::drm::kGemClose, close), 0);
      object = add();
    }
    std::vector<asahi::gem_bind_op> ops(1 + upto(5));
    for (asahi::gem_bind_op& op : ops) {
      ++steps;
      const uint64_t first = upto(kPages), count = 1 + upto(kObjectPages);
      const uint64_t address = kBase + first * kPage;
      cut(first, count);
      if (upto(3) == 0) {
        op = Unmap(address, count * kPage);
        continue;
      }
      const uint32_t object = objects[upto(kObjects)];
      const bool single = upto(4) == 0;
      const uint64_t offset = upto(kObjectPages - (single ? 1 : count) + 1);
      const uint32_t access = upto(3) == 0 ? uint32_t{asahi::kBindRead} : kReadWrite;
      op = Map(object, address, count * kPage, offset * kPage,
               access | (single ? asahi::kBindSinglePage : 0));
      for (uint64_t i = 0; i < count; ++i) {
        model[address + i * kPage] = {id_of[object], offset + (single ? 0 : i), op.flags};
      }
    }
    ASSERT_EQ(client.Bind(vm, ops), 0);
    ASSERT_EQ(PagesOf(seen()), model) << "after " << steps << " steps";
  }
}

}  // namespace
}  // namespace packsmith::capture
