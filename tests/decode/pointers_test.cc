// Each pointer that the description of Gfx9 declares is followed: for each of them a packet is made
// that has it, and everything that the pointer depends on.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/value.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

constexpr uint64_t kTarget = 0x8000, kStructs = 0xc000, kBatch = 0x100000;
constexpr uint32_t kEnd = 0x05000000;

// Whether the targets of pointers are read at all; textures and render targets are not.
bool IsRead(const tables::Pointer& p) {
  return p.target_kind != tables::TargetKind::kData || p.size != tables::kNone ||
         p.end != tables::kNone || Gfx9().data(p.target).is_code != 0;
}

// A packet or structure that is being assembled.
class Made {
 public:
  Made(const tables::Container& c) : c_(c), bytes_(c.max_bytes + c.tail_size / 8) {
    for (const tables::Leaf& leaf : Gfx9().leaves(c.leaves)) {
      if ((leaf.flags & tables::kForced) != 0) Set(leaf, Gfx9().extra(leaf.extra).forced);
    }
    if (c.length_leaf != tables::kNone) {
      Set(Gfx9().leaf(c.length_leaf), bytes_.size() / 4 - c.length_bias);
    }
  }

  void Set(const tables::Leaf& leaf, uint64_t raw) {
    const bool in_tail = &leaf >= Gfx9().leaves(c_.tail_leaves).begin() &&
                         &leaf < Gfx9().leaves(c_.tail_leaves).end();
    const uint64_t bit = leaf.bit + (in_tail ? c_.tail_bit : 0);
    if (bit + leaf.width <= bytes_.size() * 8) {
      WriteBits(absl::MakeSpan(bytes_), bit, leaf.width, raw);
    }
  }
  // An address or offset that points to `to`, relative to a base of 0.
  void Point(const tables::Leaf& leaf, uint64_t to) { Set(leaf, to >> leaf.shift); }
  // The first of the alternatives.
  void Hold(uint32_t condition) {
    if (condition == tables::kNone) return;
    for (const tables::Term& term : Gfx9().terms(Gfx9().condition(condition).terms)) {
      Set(Gfx9().leaf(term.leaf), term.negated != 0 ? term.value ^ 1 : term.value);
      if (term.ends_clause != 0) return;
    }
  }
  // A value that is not zero.
  void Ask(uint32_t expression) {
    if (expression == tables::kNone) return;
    const tables::Expression& e = Gfx9().expression(expression);
    if (e.kind == tables::ExpressionKind::kLeaf) {
      const tables::Leaf& leaf = Gfx9().leaf(e.leaf);
      // Sizes in bytes: at least one structure.
      Set(leaf, leaf.width > 6 && e.multiply == 1 ? 64 : 1);
    }
  }
  std::vector<uint32_t> Dwords() const {
    std::vector<uint32_t> dwords;
    for (size_t i = 0; i + 4 <= bytes_.size(); i += 4) {
      dwords.push_back(static_cast<uint32_t>(ReadBits(bytes_, i * 8, 32)));
    }
    return dwords;
  }

 private:
  const tables::Container& c_;
  std::vector<uint8_t> bytes_;
};

void Append(std::vector<uint32_t>& to, const Made& made) {
  const std::vector<uint32_t> dwords = made.Dwords();
  to.insert(to.end(), dwords.begin(), dwords.end());
}

std::vector<const tables::Leaf*> Leaves(const tables::Container& c) {
  std::vector<const tables::Leaf*> all;
  for (const tables::Leaf& leaf : Gfx9().leaves(c.leaves)) all.push_back(&leaf);
  for (const tables::Leaf& leaf : Gfx9().leaves(c.tail_leaves)) all.push_back(&leaf);
  return all;
}

template <class Visit>
void ForEachPointer(const tables::Container& c, const Visit& visit) {
  for (const tables::Leaf* leaf : Leaves(c)) {
    if (leaf->extra == tables::kNone) continue;
    for (uint32_t p = Gfx9().extra(leaf->extra).pointer; p != tables::kNone;
         p = Gfx9().pointer(p).next) {
      visit(*leaf, Gfx9().pointer(p));
    }
  }
}

// Packets that set all bases to 0 and all fields that pointers need from other packets to 1.
std::vector<uint32_t> Preamble() {
  std::vector<uint32_t> batch;
  for (const tables::Container& c : Gfx9().containers()) {
    if (c.kind != tables::ContainerKind::kPacket) continue;
    Made made(c);
    bool any = false;
    for (const tables::Leaf* leaf : Leaves(c)) {
      if (leaf->extra == tables::kNone || Gfx9().extra(leaf->extra).sets_base == tables::kNone) {
        continue;
      }
      made.Hold(Gfx9().extra(leaf->extra).sets_when);
      any = true;
    }
    for (const tables::Expression& e : Gfx9().expressions()) {
      if (e.kind != tables::ExpressionKind::kState || &Gfx9().container(e.container) != &c) {
        continue;
      }
      made.Set(Gfx9().leaf(e.leaf), 1);
      any = true;
    }
    if (any && c.role == tables::Role::kOther) Append(batch, made);
  }
  return batch;
}

std::string TargetName(const tables::Pointer& p) {
  switch (p.target_kind) {
    case tables::TargetKind::kStruct:
      return std::string(Gfx9().string(Gfx9().container(p.target).name));
    case tables::TargetKind::kData:
      return std::string(Gfx9().string(Gfx9().data(p.target).name));
    case tables::TargetKind::kStream:
      break;
  }
  return "MI_BATCH_BUFFER_END";
}

void Prepare(Made& made, const tables::Leaf& leaf, const tables::Pointer& p) {
  made.Hold(p.when);
  for (const uint32_t e : {p.count, p.size, p.stride}) made.Ask(e);
  made.Point(leaf, kTarget);
  if (p.end != tables::kNone) {
    made.Point(Gfx9().leaf(Gfx9().expression(p.end).leaf), kTarget + 63);
  }
}

void Expect(World& world, const tables::Container& c, const tables::Leaf& leaf,
            const tables::Pointer& p) {
  std::vector<uint32_t> memory(1024,
                               p.target_kind == tables::TargetKind::kStream ? kEnd : 0x01010101);
  world.Put(kTarget, memory, p.space_when == tables::kNone ? p.space : 0);
  if (p.space_when != tables::kNone) world.Put(kTarget, memory, p.space);
  Options options;
  options.most_rows = 1;
  const Story story = Tell(Gfx9(), world, options);
  bool found = false;
  for (const Seen& seen : story.records) {
    found |= seen.address == kTarget && seen.name == TargetName(p);
  }
  EXPECT_TRUE(found) << Gfx9().string(c.name) << ", " << Gfx9().string(leaf.name) << " to "
                     << TargetName(p);
}

TEST(Pointers, OfEachPacketAreFollowed) {
  const std::vector<uint32_t> preamble = Preamble();
  int pointers = 0;
  for (const tables::Container& c : Gfx9().containers()) {
    if (c.kind != tables::ContainerKind::kPacket) continue;
    ForEachPointer(c, [&](const tables::Leaf& leaf, const tables::Pointer& p) {
      if (!IsRead(p)) return;
      Made made(c);
      Prepare(made, leaf, p);
      std::vector<uint32_t> batch = preamble;
      Append(batch, made);
      batch.push_back(kEnd);
      World world;
      world.Put(kBatch, batch).Submit(kBatch);
      for (size_t i = 0; i < Gfx9().engines().size(); ++i) {
        if ((c.engines >> i & 1) != 0) {
          world.last().engine = std::string(Gfx9().string(Gfx9().engines()[i].name));
          break;
        }
      }
      // An opcode may be another packet on another engine: bases of all are set where they are
      // known, and those that the packet needs are its own engine's.
      Expect(world, c, leaf, p);
      ++pointers;
    });
  }
  EXPECT_GT(pointers, 60);
}

// Structures are reached through the first packet that points to one.
TEST(Pointers, OfEachStructureAreFollowed) {
  const std::vector<uint32_t> preamble = Preamble();
  int pointers = 0;
  for (const tables::Container& s : Gfx9().containers()) {
    if (s.kind != tables::ContainerKind::kStruct) continue;
    const tables::Container* from = nullptr;
    const tables::Leaf* by = nullptr;
    const tables::Pointer* way = nullptr;
    for (const tables::Container& c : Gfx9().containers()) {
      if (c.kind != tables::ContainerKind::kPacket || from != nullptr) continue;
      ForEachPointer(c, [&](const tables::Leaf& leaf, const tables::Pointer& p) {
        if (from != nullptr || p.target_kind != tables::TargetKind::kStruct ||
            &Gfx9().container(p.target) != &s) {
          return;
        }
        from = &c;
        by = &leaf;
        way = &p;
      });
    }
    if (from == nullptr) continue;
    ForEachPointer(s, [&](const tables::Leaf& leaf, const tables::Pointer& p) {
      if (!IsRead(p)) return;
      Made packet(*from), made(s);
      Prepare(packet, *by, *way);
      packet.Point(*by, kStructs);
      Prepare(made, leaf, p);
      std::vector<uint32_t> batch = preamble;
      Append(batch, packet);
      batch.push_back(kEnd);
      World world;
      std::vector<uint32_t> memory = made.Dwords();
      memory.resize(memory.size() + 256);
      world.Put(kBatch, batch).Put(kStructs, memory).Submit(kBatch);
      Expect(world, s, leaf, p);
      ++pointers;
    });
  }
  EXPECT_GE(pointers, 4);
}

}  // namespace
}  // namespace packsmith::decode
