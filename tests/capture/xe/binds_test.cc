// VM_BIND against a model of the address space: what each page is.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/capture/xe/client.h"

namespace packsmith::capture {
namespace {

namespace xe = uapi::xe;

constexpr uint64_t kPage = 4096, kBase = 0x100000;

// The object (its id; 0: none), its page, and the mapping's flags.
using Page = std::tuple<uint64_t, uint64_t, uint32_t>;
using Pages = std::map<uint64_t, Page>;

// What the work sees.
Pages PagesOf(const AddressMap& map) {
  Pages pages;
  for (const auto& [address, mapping] : map.mappings()) {
    EXPECT_EQ(mapping.writable, (mapping.flags & xe::kBindReadonly) == 0);
    EXPECT_EQ(mapping.dumpable, (mapping.flags & xe::kBindDumpable) != 0);
    for (uint64_t at = 0; at < mapping.size; at += kPage) {
      pages[address + at] = {mapping.object ? mapping.object->id() : 0,
                             mapping.object ? (mapping.offset + at) / kPage : 0, mapping.flags};
    }
  }
  return pages;
}

TEST(XeBinds, UnmapSplitsAndKeepsTheRest) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm), object = client.Object(8 * kPage);
  ASSERT_EQ(client.Bind(vm, {Map(object, kBase, 8 * kPage), Unmap(kBase + 2 * kPage, 3 * kPage)}),
            0);
  ASSERT_EQ(client.Exec(queue, kBase), 0);
  const AddressMap& map = *machine.seen.works.back()->memory;
  ASSERT_EQ(map.mappings().size(), 2u);
  EXPECT_EQ(map.Find(kBase)->size, 2 * kPage);
  EXPECT_EQ(map.Find(kBase + 2 * kPage), nullptr);
  ASSERT_NE(map.Find(kBase + 5 * kPage), nullptr);
  EXPECT_EQ(map.Find(kBase + 5 * kPage)->address, kBase + 5 * kPage);
  EXPECT_EQ(map.Find(kBase + 5 * kPage)->offset, 5 * kPage);
}

TEST(XeBinds, TheTopmostPageCanBeMapped) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), object = client.Object(kPage);
  const uint64_t top = (uint64_t{1} << 48) - kPage;
  ASSERT_EQ(client.Bind(vm, {Map(object, top, kPage)}), 0);
  ASSERT_EQ(client.Exec(client.Queue(vm), top), 0);
  EXPECT_NE(machine.seen.works[0]->memory->Find(top + 4095), nullptr);
}

TEST(XeBinds, ARefusedArrayChangesNothing) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm), object = client.Object(kPage);
  EXPECT_EQ(client.Bind(vm, {Map(object, kBase, kPage), Map(object, kBase, 2 * kPage)}), -EINVAL);
  EXPECT_EQ(client.Bind(vm, {Map(object, kBase, kPage), Map(99, kBase, kPage)}), -ENOENT);
  EXPECT_EQ(client.Bind(vm, {Map(object, kBase, kPage)}, {Wait(99)}), -ENOENT);
  ASSERT_EQ(client.Exec(queue, kBase), 0);
  EXPECT_TRUE(machine.seen.works[0]->memory->mappings().empty());
}

TEST(XeBinds, TenThousandRandomOnesFollowTheModel) {
  Machine machine;
  Client client(machine);
  constexpr uint64_t kPages = 256, kObjects = 6, kObjectPages = 24;
  const uint32_t vm = client.Vm(), queue = client.Queue(vm);
  const uint32_t other_binds = client.Queue(vm, xe::kVmBindClass);
  alignas(4096) static uint8_t memory[4 * kPage];
  std::vector<uint32_t> objects;
  std::map<uint32_t, uint64_t> id_of;
  for (uint64_t i = 0; i < kObjects; ++i) {
    const uint32_t object = client.Object(kObjectPages * kPage);
    objects.push_back(object);
    // Learns its id.
    ASSERT_EQ(client.Bind(vm, {Map(object, kBase, kPage)}), 0);
    ASSERT_EQ(client.Exec(queue, kBase), 0);
    id_of[object] = machine.seen.works.back()->memory->Find(kBase)->object->id();
    ASSERT_EQ(client.Bind(vm, {UnmapAll(object)}), 0);
  }
  std::mt19937 random(20260727);
  const auto upto = [&random](uint64_t count) { return random() % count; };
  Pages model;
  const auto cut = [&model](uint64_t first, uint64_t count) {
    model.erase(model.lower_bound(kBase + first * kPage),
                model.lower_bound(kBase + (first + count) * kPage));
  };
  int steps = 0;
  while (steps < 10'000) {
    std::vector<xe::vm_bind_op> ops(1 + upto(5));
    std::vector<uint64_t> userptrs;  // addresses whose objects have no id yet
    for (xe::vm_bind_op& op : ops) {
      ++steps;
      const uint64_t first = upto(kPages), count = 1 + upto(kObjectPages);
      const uint64_t address = kBase + first * kPage;
      const uint32_t flags = upto(4) == 0   ? xe::kBindReadonly
                             : upto(4) == 0 ? xe::kBindDumpable
                                            : 0;
      switch (upto(8)) {
        case 0:
          op = Map(0, address, count * kPage, 0, xe::kBindNull);
          cut(first, count);
          for (uint64_t i = 0; i < count; ++i) model[address + i * kPage] = {0, 0, xe::kBindNull};
          break;
        case 1:
        case 2: {
          op = Unmap(address, count * kPage);
          cut(first, count);
          break;
        }
        case 3: {
          const uint32_t object = objects[upto(kObjects)];
          op = UnmapAll(object);
          for (auto it = model.begin(); it != model.end();) {
            it = std::get<0>(it->second) == id_of[object] ? model.erase(it) : std::next(it);
          }
          break;
        }
        case 4:
          op = MapUserptr(AddressOf(memory), address, 4 * kPage);
          cut(first, 4);
          for (uint64_t i = 0; i < 4; ++i) model[address + i * kPage] = {~uint64_t{0}, i, 0};
          break;
        case 5:
          op = Unmap(address, count * kPage);
          op.op = xe::kPrefetch;
          break;
        default: {
          const uint32_t object = objects[upto(kObjects)];
          const uint64_t offset = upto(kObjectPages - count + 1);
          op = Map(object, address, count * kPage, offset * kPage, flags);
          cut(first, count);
          for (uint64_t i = 0; i < count; ++i) {
            model[address + i * kPage] = {id_of[object], offset + i, flags};
          }
        }
      }
    }
    ASSERT_EQ(client.Bind(vm, ops, {}, upto(2) == 0 ? other_binds : 0), 0);
    machine.seen.works.clear();
    ASSERT_EQ(client.Exec(queue, kBase), 0);
    Pages seen = PagesOf(*machine.seen.works.back()->memory);
    // Each bind of the process' memory is an object of its own.
    for (auto& [address, page] : seen) {
      const Mapping* const mapping = machine.seen.works.back()->memory->Find(address);
      if (mapping->object && mapping->object->user()) std::get<0>(page) = ~uint64_t{0};
    }
    ASSERT_EQ(seen, model) << "after " << steps << " steps";
  }
}

}  // namespace
}  // namespace packsmith::capture
