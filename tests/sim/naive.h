// A command streamer of Gfx9 that knows a few packets by their bits, for comparison.
#ifndef PACKSMITH_TESTS_SIM_NAIVE_H_
#define PACKSMITH_TESTS_SIM_NAIVE_H_

#include <cstdint>
#include <map>
#include <optional>

namespace packsmith::sim {

struct Naive {
  std::map<uint64_t, uint32_t> memory;  // dwords
  std::map<uint32_t, uint32_t> registers;

  // False: an unknown packet, no memory, or more than `most` packets.
  bool Run(uint64_t at, uint64_t most) {
    std::optional<uint64_t> back;
    for (uint64_t n = 0; n < most; ++n) {
      if (memory.count(at) == 0) return false;
      const uint32_t head = memory[at];
      const auto dw = [&](uint64_t i) { return memory[at + 4 * i]; };
      const uint32_t opcode = head >> 23;
      const bool has_predicate = (registers[0x2418] & 1) != 0;
      switch (opcode) {
        case 0x00:
          at += 4;
          break;
        case 0x0a:
          if (!back) return true;
          at = *back;
          back.reset();
          break;
        case 0x0c:
          Predicate(head);
          at += 4;
          break;
        case 0x1a:
          Math(at + 4, (head & 0xff) + 1);
          at += 4 * uint64_t{(head & 0xff) + 2};
          break;
        case 0x20:
          memory[dw(1)] = dw(3);
          if ((head >> 21 & 1) != 0) memory[dw(1) + 4] = dw(4);
          at += 4 * uint64_t{(head & 0x3ff) + 2};
          break;
        case 0x22:
          registers[dw(1)] = dw(2);
          at += 12;
          break;
        case 0x24:
          if ((head >> 21 & 1) == 0 || has_predicate) memory[dw(2)] = registers[dw(1)];
          at += 16;
          break;
        case 0x29:
          registers[dw(1)] = memory[dw(2)];
          at += 16;
          break;
        case 0x2a:
          registers[dw(2)] = registers[dw(1)];
          at += 12;
          break;
        case 0x2e:
          memory[dw(1)] = memory[dw(3)];
          at += 20;
          break;
        case 0x2f:
          Atomic(head, dw(1));
          at += 12;
          break;
        case 0x31: {
          if ((head >> 15 & 1) != 0 && (registers[0x241c] & 1) == 0) {
            at += 12;
            break;
          }
          const uint64_t to = dw(1);
          if ((head >> 22 & 1) != 0 && !back) back = at + 12;
          at = to;
          break;
        }
        case 0x36:
          if (memory[dw(2)] <= dw(1)) return true;
          at += 16;
          break;
        default:
          return false;
      }
    }
    return false;
  }

 private:
  uint64_t Get(uint32_t offset) {
    return registers[offset] | uint64_t{registers[offset + 4]} << 32;
  }
  void Set(uint32_t offset, uint64_t value) {
    registers[offset] = static_cast<uint32_t>(value);
    registers[offset + 4] = static_cast<uint32_t>(value >> 32);
  }

  void Predicate(uint32_t head) {
    const bool old = (registers[0x2418] & 1) != 0;
    const uint32_t compare = head & 3, combine = head >> 3 & 3, load = head >> 6 & 3;
    bool now = compare == 0 || (compare == 2 && Get(0x2400) == Get(0x2408));
    if (combine == 1) now = now && old;
    if (combine == 2) now = now || old;
    if (combine == 3) now = now != old;
    if (load == 2) registers[0x2418] = now ? 1 : 0;
    if (load == 3) registers[0x2418] = now ? 0 : 1;
  }

  void Math(uint64_t at, uint32_t count) {
    uint64_t a = 0, b = 0, accumulator = 0;
    bool zero = false, carry = false;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t word = memory[at + 4 * i];
      const uint32_t opcode = word >> 20, one = word >> 10 & 0x3ff, two = word & 0x3ff;
      uint64_t& source = one == 0x20 ? a : b;
      uint64_t value = 0;
      switch (opcode) {
        case 0x080:
          source = Get(0x2600 + 8 * two);
          break;
        case 0x480:
          source = ~Get(0x2600 + 8 * two);
          break;
        case 0x081:
          source = 0;
          break;
        case 0x481:
          source = ~uint64_t{0};
          break;
        case 0x180:
        case 0x580:
          value = two == 0x31   ? accumulator
                  : two == 0x32 ? (zero ? ~uint64_t{0} : 0)
                                : (carry ? ~uint64_t{0} : 0);
          Set(0x2600 + 8 * one, opcode == 0x580 ? ~value : value);
          break;
        default:
          accumulator = opcode == 0x100   ? a + b
                        : opcode == 0x101 ? a - b
                        : opcode == 0x102 ? (a & b)
                        : opcode == 0x103 ? (a | b)
                                          : (a ^ b);
          carry = opcode == 0x100 ? accumulator < a : opcode == 0x101 && a < b;
          zero = accumulator == 0;
      }
    }
  }

  void Atomic(uint32_t head, uint64_t address) {
    const bool wide = (head >> 19 & 3) == 1;
    const uint64_t mask = wide ? ~uint64_t{0} : 0xffffffff;
    const uint64_t old = (memory[address] | uint64_t{memory[address + 4]} << 32) & mask;
    const uint64_t one = Get(0x2600) & mask, two = Get(0x2610) & mask;
    const auto s = [&](uint64_t v) {
      return wide ? static_cast<int64_t>(v) : int64_t{static_cast<int32_t>(v)};
    };
    uint64_t now = 0;
    switch (head >> 8 & 0x1f) {
      case 1:
        now = old & one;
        break;
      case 2:
        now = old | one;
        break;
      case 3:
        now = old ^ one;
        break;
      case 4:
        now = one;
        break;
      case 5:
        now = old + 1;
        break;
      case 6:
      case 15:
        now = old - 1;
        break;
      case 7:
        now = old + one;
        break;
      case 8:
        now = old - one;
        break;
      case 9:
        now = one - old;
        break;
      case 10:
        now = s(old) > s(one) ? old : one;
        break;
      case 11:
        now = s(old) < s(one) ? old : one;
        break;
      case 12:
        now = old > one ? old : one;
        break;
      case 13:
        now = old < one ? old : one;
        break;
      default:
        now = old == one ? two : old;
    }
    now &= mask;
    memory[address] = static_cast<uint32_t>(now);
    if (wide) memory[address + 4] = static_cast<uint32_t>(now >> 32);
    if ((head >> 16 & 1) != 0) {
      const uint64_t returned = (head >> 8 & 0x1f) == 15 ? now : old;
      registers[0x2620] = static_cast<uint32_t>(returned);
      if (wide) registers[0x2624] = static_cast<uint32_t>(returned >> 32);
    }
  }
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_NAIVE_H_
