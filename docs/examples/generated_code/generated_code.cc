// What docs/generated-code.md shows of C++, built and run. Each block of the page is here
// between "// Page: <name>" and "// End", and a test compares the two.
#include <cstdio>
#include <string>
#include <vector>

#include "packsmith/gfx125.h"
#include "packsmith/gfx9.h"
#include "packsmith/gfx9_names.h"
#include "runtime/generations/field_position.h"

namespace {

int failures = 0;

void Expect(bool holds, const char* what) {
  if (!holds) {
    std::printf("does not hold: %s\n", what);
    ++failures;
  }
}

void First() {
  // Page: first
  using namespace packsmith::gfx9;

  uint32_t dw[_3DPRIMITIVE::length];
  const _3DPRIMITIVE draw{
      .primitive_topology_type = _3D_Prim_Topo_Type::TRILIST,
      .vertex_access_type = _3DPRIMITIVE::VERTEX_ACCESS_TYPE_SEQUENTIAL,
      .vertex_count_per_instance = 3,
      .instance_count = 1,
  };
  const packsmith::error e = draw.pack(dw);  // true if there is an error
  // End
  Expect(!e && dw[0] == 0x7b000005 && dw[2] == 3, "a draw packs");
}

void Names() {
  // Page: names
  using packsmith::gfx9::_3DSTATE_VS;  // a name that begins with a digit gets a _

  _3DSTATE_VS vs;
  vs.kernel_start_pointer = 0x40;  // "Kernel Start Pointer"
  vs.sampler_count =
      _3DSTATE_VS::SAMPLER_COUNT_1_4_SAMPLERS;  // listed inside the field: a constant
  // End
  Expect(vs.sampler_count == 1, "constants are integers");
}

void Checks() {
  // Page: checks
  packsmith::gfx9::VERTEX_BUFFER_STATE buffer{.buffer_pitch = 2049, .mocs = 4};
  uint32_t dw[4] = {};
  const packsmith::error e = buffer.pack(dw);
  const std::string text = packsmith::to_text(e);  // packsmith/names.h
  // Now e.field is "buffer_pitch", e.why is packsmith::reason::out_of_range, and dw is as it was.
  // End
  Expect(e && std::string(e.field) == "buffer_pitch", "the error names the field");
  Expect(e.why == packsmith::reason::out_of_range && !text.empty(), "and the reason");
  Expect(dw[0] == 0 && dw[1] == 0, "nothing is written");

  // Page: unchecked
  (void)buffer.pack<packsmith::checks::off>(dw);  // never looks, and so never fails
  // End
  Expect(dw[0] == (2049u | 4u << 16), "unchecked writes what there is");
}

// Page: constants
constexpr auto kStall = packed(packsmith::gfx9::PIPE_CONTROL{
    .dc_flush_enable = true,
    .command_streamer_stall_enable = true,
});
static_assert(kStall.length == 6 && kStall.dw[0] == 0x7a000004);
// End

void Addresses() {
  // Page: addresses
  packsmith::gfx9::MI_STORE_DATA_IMM store{
      .address = packsmith::address(0x10000, /*buffer_handle=*/7),
      .immediate_data = 42,
  };
  std::vector<uint32_t> resident;
  store.for_each_address([&](const packsmith::address& a, unsigned dword, unsigned bit,
                             unsigned width, packsmith::access access) {
    // Here dword is 1, bit 2, width 46; access is what the description states.
    if (access == packsmith::access::write) resident.push_back(a.buffer);
    (void)dword, (void)bit, (void)width;
  });
  // End
  Expect(resident == std::vector<uint32_t>{7}, "the address is a written one");
  store.for_each_address([](const packsmith::address&, unsigned dword, unsigned bit, unsigned width,
                            packsmith::access) {
    Expect(dword == 1 && bit == 2 && width == 46, "where the address is");
  });
}

void Variants() {
  // Page: variants
  using packsmith::gfx9::MI_STORE_DATA_IMM;
  uint32_t dw[MI_STORE_DATA_IMM::max_length];  // the largest; `length` is the smallest

  MI_STORE_DATA_IMM store{.store_qword = 1, .address = 0x10000, .immediate_data = 1ull << 40};
  const unsigned dwords = store.dwords_needed();  // 5, because store_qword is set
  const packsmith::error fits = store.pack(dw);

  store.store_qword = 0;
  const packsmith::error absent = store.pack(dw);  // 4 dwords have no room for bit 40
  // End
  Expect(dwords == 5 && !fits, "the long form");
  Expect(absent.why == packsmith::reason::absent, "the short form has no upper half");
}

void Tails() {
  // Page: tails
  using namespace packsmith::gfx9;

  const VERTEX_BUFFER_STATE buffers[] = {
      {.buffer_pitch = 16, .mocs = 4, .vertex_buffer_index = 0},
      {.buffer_pitch = 32, .mocs = 4, .vertex_buffer_index = 1},
  };
  std::vector<uint32_t> dw(_3DSTATE_VERTEX_BUFFERS::dwords_needed(2));
  const packsmith::error e = _3DSTATE_VERTEX_BUFFERS{}.pack(dw.data(), buffers);

  unsigned pitches = 0;
  for (const VERTEX_BUFFER_STATE& one : _3DSTATE_VERTEX_BUFFERS::items(dw.data(), dw.size())) {
    pitches += one.buffer_pitch;
  }
  // End
  Expect(!e && dw.size() == 9 && (dw[0] & 0xff) == 7, "the length counts the items");
  Expect(pitches == 48, "items can be read");
}

void Unpack() {
  uint32_t dw[packsmith::gfx9::_3DSTATE_VF_TOPOLOGY::length];
  Expect(!packsmith::gfx9::_3DSTATE_VF_TOPOLOGY{}.pack(dw), "packs");
  // Page: unpack
  using packsmith::gfx9::_3DSTATE_VF_TOPOLOGY;
  if (_3DSTATE_VF_TOPOLOGY::matches(dw[0])) {
    const packsmith::error e = _3DSTATE_VF_TOPOLOGY::verify(dw);  // opcodes, reserved bits
    const _3DSTATE_VF_TOPOLOGY topology = _3DSTATE_VF_TOPOLOGY::unpack(dw);
    if (!e) std::fputs(packsmith::to_text(topology).c_str(), stdout);
  }
  // End
  dw[0] ^= 1u << 16;
  Expect(!_3DSTATE_VF_TOPOLOGY::matches(dw[0]), "another opcode");
  const packsmith::error e = _3DSTATE_VF_TOPOLOGY::verify(dw);
  Expect(e.why == packsmith::reason::forced, "verify says so, too");
}

void PrintNames() {
  // Page: printing
  using packsmith::gfx9::_3D_Prim_Topo_Type;
  const char* topology = name(_3D_Prim_Topo_Type::TRILIST);
  const char* type = packsmith::names<packsmith::gfx9::_3DPRIMITIVE>::type;
  // End
  Expect(topology != nullptr && std::string(type) == "3DPRIMITIVE", "names");
}

void Tables() {
  // Page: tables
  const auto place = packsmith::FindFieldPosition("gfx9", "3DSTATE_VS", "Sampler Count");
  if (!place.ok()) return;  // place.status() names what is unknown
  std::printf("bit %u, %u bits\n", place->bit, place->width);  // bit 123, 3 bits
  // End
  Expect(place->bit == 123 && place->width == 3, "positions by name");
}

// Page: generations
template <class Generation>
packsmith::error Draw(uint32_t* dw, unsigned vertices) {
  typename Generation::_3DPRIMITIVE draw;
  draw.primitive_topology_type = Generation::_3D_Prim_Topo_Type::TRILIST;
  draw.vertex_count_per_instance = vertices;
  draw.instance_count = 1;
  if constexpr (Generation::version_x10 >= 125) draw.tbimr_enable = true;  // the others lack it
  return draw.pack(dw);
}
// End

void Generations() {
  uint32_t dw[8] = {};
  // Page: dispatch
  packsmith::error e = Draw<packsmith::gfx9::generation>(dw, 3);
  if (!e) e = Draw<packsmith::gfx125::generation>(dw, 3);
  // End
  Expect(!e && (dw[0] & 1u << 13) != 0, "one template, two generations");
}

}  // namespace

int main() {
  First();
  Names();
  Checks();
  Addresses();
  Variants();
  Tails();
  Unpack();
  PrintNames();
  Tables();
  Generations();
  return failures == 0 ? 0 : 1;
}
