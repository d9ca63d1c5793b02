// Control streams of AGX made by hand.
#ifndef PACKSMITH_TESTS_AGX_FRAME_H_
#define PACKSMITH_TESTS_AGX_FRAME_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "tests/decode/world.h"

namespace packsmith::agx {

// Bytes that grow record by record.
class Bytes {
 public:
  // Appends what a record packs to; the test fails if a value does not fit.
  template <class T, class... Parts>
  Bytes& Add(const T& record, const Parts&... parts) {
    uint8_t bytes[4096] = {};
    const error e = record.pack(bytes, parts...);
    EXPECT_FALSE(e) << e.field;
    bytes_.insert(bytes_.end(), bytes, bytes + Size(record));
    return *this;
  }
  Bytes& Words(std::initializer_list<uint32_t> words);

  const std::vector<uint8_t>& get() const { return bytes_; }
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }

 private:
  template <class T>
  static size_t Size(const T& record) {
    if constexpr (requires { record.bytes_needed(); }) {
      return record.bytes_needed();
    } else {
      return T::size;
    }
  }

  std::vector<uint8_t> bytes_;
};

namespace g13 = ::packsmith::agx_g13;

inline constexpr uint64_t kVdm = 0x1100000000, kSecondVdm = 0x1100010000, kCalled = 0x1100020000,
                          kCdm = 0x1100030000, kPpp = 0x1100040000, kIndices = 0x1100050000,
                          kTextures = 0x1100060000, kSamplers = 0x1100070000,
                          kUniforms = 0x1100080000, kTexels = 0x1100090000;
// Programs are referred to by 32 bits.
inline constexpr uint32_t kVertexProgram = 0x10000, kFragmentProgram = 0x11000, kKernel = 0x12000,
                          kCode = 0x20000, kPreshader = 0x21000, kBindings = 0x30000;

g13::PPP_State PppState(uint64_t address, uint32_t bytes);
g13::VDM_Stream_Link Link(uint64_t target, bool with_return);

// A PPP record with every part, and two viewports.
Bytes WholePppRecord();
// The vertex shader's, the fragment shader's and the kernel's program, and what they bind: plain
// and extended samplers, textures and an image that is written.
void PutPrograms(decode::World& world);
// A frame with every block of the VDM: a stream that links to another one, which calls a third.
void PutFrame(decode::World& world);
// Every block of the CDM, with each mode of a launch.
void PutCompute(decode::World& world);

}  // namespace packsmith::agx

#endif  // PACKSMITH_TESTS_AGX_FRAME_H_
