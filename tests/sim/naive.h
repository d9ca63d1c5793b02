// A command streamer of Gfx9 that knows a few packets by their bits, for comparison.
#ifndef PACKSMITH_TESTS_SIM_NAIVE_H_
#define PACKSMITH_TESTS_SIM_NAIVE_H_

#include <cstdint>
#include <map>
#include <optional>

namespace packsmith::sim {

enum class NaiveStop {
  kEnded,
  kUnknown,  // a packet, register or address that this does not know is next
  kBudget,   // as many packets were executed as Run() was allowed to
};

struct Naive {
  std::map<uint64_t, uint32_t> memory;  // dwords
  std::map<uint32_t, uint32_t> registers;
  uint64_t commands = 0;  // that were executed

  NaiveStop Run(uint64_t at, uint64_t most) {
    std::optional<uint64_t> back;
    for (; commands < most; ++commands) {
      if (!HasMemory(at)) return NaiveStop::kUnknown;
      const uint32_t head = memory[at];
      const uint64_t length = Length(head);
      for (uint64_t i = 0; i < length; ++i) {
        if (!HasMemory(at + 4 * i)) return NaiveStop::kUnknown;
      }
      const auto dw = [&](uint64_t i) { return memory[at + 4 * i]; };
      if (length == 0 || !Knows(at)) return NaiveStop::kUnknown;
      const bool has_predicate = (registers[0x2418] & 1) != 0;
      const uint64_t next = at + 4 * length;
      switch (head >> 23) {
        case 0x00:
          break;
        case 0x0a:
          if (!back) {
            ++commands;
            return NaiveStop::kEnded;
          }
          at = *back;
          back.reset();
          continue;
        case 0x0c:
          Predicate(head);
          break;
        case 0x1a:
          Math(at + 4, (head & 0xff) + 1);
          break;
        case 0x20: {
          const uint64_t to = dw(1);
          const uint32_t low = dw(3), high = length == 5 ? dw(4) : 0;
          memory[to] = low;
          if (length == 5) memory[to + 4] = high;
          break;
        }
        case 0x22:
          registers[dw(1)] = dw(2);
          break;
        case 0x24:
          if ((head >> 21 & 1) == 0 || has_predicate) memory[dw(2)] = registers[dw(1)];
          break;
        case 0x29:
          registers[dw(1)] = memory[dw(2)];
          break;
        case 0x2a:
          registers[dw(2)] = registers[dw(1)];
          break;
        case 0x2e:
          memory[dw(1)] = memory[dw(3)];
          break;
        case 0x2f:
          Atomic(head, dw(1));
          break;
        case 0x31:
          if ((head >> 15 & 1) != 0 && (registers[0x241c] & 1) == 0) break;
          if ((head >> 22 & 1) != 0 && !back) back = next;
          at = dw(1);
          continue;
        default:
          if (memory[dw(2)] > dw(1)) break;
          ++commands;
          return NaiveStop::kEnded;
      }
      at = next;
    }
    return NaiveStop::kBudget;
  }

 private:
  bool HasMemory(uint64_t at) const { return at % 4 == 0 && memory.count(at) != 0; }
  static bool HasRegister(uint32_t offset) {
    return offset % 4 == 0 && ((offset >= 0x2400 && offset <= 0x240c) || offset == 0x2418 ||
                               offset == 0x241c || (offset >= 0x2600 && offset <= 0x267c));
  }

  // In dwords, of a packet with this first dword; 0 if it is not known. Bits that are not
  // explained here are zero.
  static uint64_t Length(uint32_t head) {
    switch (head) {
      case 0x05000000:
        return 1;
      case 0x10000002:
        return 4;
      case 0x10200003:
        return 5;
      case 0x11000001:
        return 3;
      case 0x12000002:
      case 0x12200002:
      case 0x14800002:
        return 4;
      case 0x15000001:
        return 3;
      case 0x17000003:
        return 5;
      case 0x1b200002:
        return 4;
      default:
        break;
    }
    const uint32_t compare = head & 3, load = head >> 6 & 3;
    // MI_NOOP with a number.
    if ((head & ~0x3fffffu) == 0) return 1;
    // MI_PREDICATE
    if ((head & ~0xdbu) == 0x06000000) return compare == 3 || load == 1 ? 0 : 1;
    // MI_MATH
    if ((head & ~0x3fu) == 0x0d000000) return (head & 0x3f) + 2;
    // MI_ATOMIC of 4 and 8 bytes
    if ((head & ~0x93f00u) == 0x17800001) {
      const bool wide = (head >> 19 & 1) != 0, opcode_wide = (head >> 13 & 1) != 0;
      const uint32_t opcode = head >> 8 & 0x1f;
      return wide != opcode_wide || opcode == 0 || opcode > 15 ? 0 : 3;
    }
    // MI_BATCH_BUFFER_START
    if ((head & ~0x408000u) == 0x18800101) return 3;
    return 0;
  }

  // Whether the operands of the packet at `at` exist.
  bool Knows(uint64_t at) {
    const uint32_t head = memory[at];
    const auto dw = [&](uint64_t i) { return memory[at + 4 * i]; };
    const auto has_two = [&](uint64_t to) {
      return to % 8 == 0 && HasMemory(to) && HasMemory(to + 4);
    };
    switch (head >> 23) {
      case 0x1a:
        for (uint32_t i = 0; i <= (head & 0x3f); ++i) {
          if (!KnowsInstruction(dw(1 + i))) return false;
        }
        return true;
      case 0x20:
        return dw(2) == 0 && HasMemory(dw(1)) && (head == 0x10000002 || has_two(dw(1)));
      case 0x22:
        return HasRegister(dw(1));
      case 0x24:
      case 0x29:
        return HasRegister(dw(1)) && HasMemory(dw(2)) && dw(3) == 0;
      case 0x2a:
        return HasRegister(dw(1)) && HasRegister(dw(2));
      case 0x2e:
        return HasMemory(dw(1)) && dw(2) == 0 && HasMemory(dw(3)) && dw(4) == 0;
      case 0x2f:
        return has_two(dw(1)) && dw(2) == 0;
      case 0x31:
        return dw(1) % 4 == 0 && dw(2) == 0;
      case 0x36:
        return has_two(dw(2)) && dw(3) == 0;
      default:
        return true;
    }
  }

  static bool KnowsInstruction(uint32_t word) {
    const uint32_t opcode = word >> 20, one = word >> 10 & 0x3ff, two = word & 0x3ff;
    const bool source = one == 0x20 || one == 0x21;
    switch (opcode) {
      case 0x080:
      case 0x480:
        return source && two < 16;
      case 0x081:
      case 0x481:
        return source;
      case 0x180:
      case 0x580:
        return one < 16 && two >= 0x31 && two <= 0x33;
      default:
        return opcode >= 0x100 && opcode <= 0x104;
    }
  }

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
