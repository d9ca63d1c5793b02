/*
 * Golden (an invented GPU): packets, descriptors and registers for C11, C++ and OpenCL C.
 * Made by packsmith from golden.xml. Do not edit.
 *
 *   #include "packsmith/c/golden_pack.h"
 *
 *   uint32_t dw[GOLDEN_STORE_DATA_length];
 *   struct GOLDEN_STORE_DATA packet = { GOLDEN_STORE_DATA_header };
 *   packet.Data = 1;
 *   GOLDEN_STORE_DATA_pack(NULL, dw, &packet);
 *
 * Per type T of dwords
 *   T_length, T_length_bias     in dwords; no T_length where it varies
 *   T_header                    packets: initialisers of the members whose default is not zero,
 *                               except arrays
 *   T_num                       registers: the offset in bytes
 *   struct T                    members in the manual's order, including opcodes and lengths
 *   T_pack(data, dst, values)   writes T_length dwords, and those beyond them that the length field
 *                               counts; in OpenCL C T_pack(dst, values)
 * Per record T of bytes
 *   T_LENGTH                    in bytes
 *   T_header                    initialisers of the members whose default is not zero
 *   T_defaults()                a T with these defaults
 *   struct T                    members in the manual's order, without opcodes
 *   T_pack(dst, values)         writes T_LENGTH bytes
 *   T_unpack(file, bytes, values)
 *                               reads T_LENGTH bytes; returns whether forced and reserved bits are
 *                               as described and all other undescribed bits zero; `file` is not
 *                               used
 * Positions of fields are in golden_bits.h.
 *
 * Define before including:
 *   __gen_address_type, __gen_user_data, __gen_combine_address
 *                               how addresses are made; by default uint64_t, void, and
 *                               address + delta
 *   __gen_validate_value(x)     called with every value that debug builds check
 *   PACKSMITH_REPACK            also T_repack(data, dst, origin, values)
 *   PACKSMITH_PREFIXED_VALUES   values only as GOLDEN_<name>: for two generations in one
 *                               file, or this header before the C++ one
 *   PACKSMITH_EXPECT_HEADERS    debug builds assert that opcodes are not zero, to find a forgotten
 *                               T_header; without __gen_address_type they always do
 *   NDEBUG                      disables the assertions that values fit
 */
#ifndef PACKSMITH_GOLDEN_PACK_H_
#define PACKSMITH_GOLDEN_PACK_H_

#define PACKSMITH_WANT_C 1
#if defined(__has_include)
#if __has_include("packsmith/pack.h")
#include "packsmith/pack.h"
#elif __has_include("pack.h")
#include "pack.h"
#elif __has_include("../pack.h")
#include "../pack.h"
#else
#include "../../pack.h"
#endif
#else
#include "packsmith/pack.h"
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

#ifdef PS_NAMES
/* For assertions: each type, then the places (see ps_misfit) and names of its members. */
static inline const char *ps_golden_names(void) {
  return "\
GOLDEN_VERTEX_BUFFER c Pitch;GOLDEN_CACHE_MODE;GOLDEN_3DSTATE_DEPTH 8 DWordLength 903 \
DepthTestFunction 1010 Opcode 4002 TileMode 440b Layer 5003 Format;GOLDEN_SURFACE 8 \
DWordLength 1010 Opcode 600c MinLOD 6c0d LODBias 7907 Threads;GOLDEN_SHADER 8 DWordLength \
1010 Opcode 261a Kernel 4004 ScratchSize;GOLDEN_TABLES 8 DWordLength 1010 Opcode 26004 \
WriteMask[0] 2a004 WriteMask[1] 2e00c Vertices.Pitch 34010 X[0] 35010 Y[0] 38010 X[1] 39010 \
Y[1];GOLDEN_STORE_DATA 8 DWordLength 1010 Opcode;GOLDEN_LOAD_REGISTERS 8 DWordLength 804 \
ByteWriteDisables 1010 Opcode;GOLDEN_VERTEX_BUFFERS 8 DWordLength 1010 Opcode;GOLDEN_END \
1010 Opcode;";
}
#endif
PS_PACKERS(golden)

/* When a test passes. */
enum GOLDEN_CompareFunction {
   GOLDEN_COMPARE_NEVER = 0,
   GOLDEN_COMPARE_LESS = 1,
   GOLDEN_COMPARE_ALWAYS = 7,
#ifndef PACKSMITH_PREFIXED_VALUES
   COMPARE_NEVER = 0,
   COMPARE_LESS = 1,
   COMPARE_ALWAYS = 7,
#endif
};

/* Bits of an index. */
enum GOLDEN_IndexFormat {
   GOLDEN_INDEX_8BITS = 0,
   GOLDEN_INDEX_16BITS = 1,
   GOLDEN_INDEX_32BITS = 2,
#ifndef PACKSMITH_PREFIXED_VALUES
   INDEX_8BITS = 0,
   INDEX_16BITS = 1,
   INDEX_32BITS = 2,
#endif
};

/* Where vertices come from. [Golden manual, 3.1] */
#define GOLDEN_VERTEX_BUFFER_length 3
struct GOLDEN_VERTEX_BUFFER {
   /* From one vertex to the next. Unit: bytes. */
   uint32_t           Pitch;
   bool               Null;
   __gen_address_type StartingAddress;
};

PS_PACK(GOLDEN_VERTEX_BUFFER) {
  ps_dwords dw = (ps_dwords)dst;
  dw[0] = ps_golden_2(0, v->Pitch, v->Null, 0x18002d);
  const uint64_t address1 = ps_combine(&dw[1], v->StartingAddress, 0);
  dw[1] = (uint32_t)address1;
  dw[2] = (uint32_t)(address1 >> 32);
}

/* A record of six bytes. */
#define GOLDEN_Rectangle_LENGTH 6
#define GOLDEN_Rectangle_header \
   .Right = 1, \
   .Bottom = 1
struct GOLDEN_Rectangle {
   uint32_t Left;
   uint32_t Top;
   uint32_t Right;
   uint32_t Bottom;
};
struct golden_rectangle_packed {
   uint32_t opaque[2];
};

PS_DEFAULTS(GOLDEN_Rectangle)
PS_PACK_BYTES(GOLDEN_Rectangle) {
  PS_GLOBAL uint8_t *to = (PS_GLOBAL uint8_t *)dst;
#ifdef PS_CHECKS
  ps_fits(v->Left, 12, "GOLDEN_Rectangle.Left");
  ps_fits(v->Top, 12, "GOLDEN_Rectangle.Top");
  ps_expect(v->Right >= 1, "GOLDEN_Rectangle.Right >= 1");
  ps_fits((v->Right - 1), 12, "GOLDEN_Rectangle.Right");
  ps_expect(v->Bottom >= 1, "GOLDEN_Rectangle.Bottom >= 1");
  ps_fits((v->Bottom - 1), 12, "GOLDEN_Rectangle.Bottom");
#endif
  ps_store(to, v->Left | v->Top << 12 | (v->Right - 1) << 24, 4);
  ps_store(to + 4, ((v->Right - 1) >> 8) | (v->Bottom - 1) << 4, 2);
}
PS_UNPACK_BYTES(GOLDEN_Rectangle) {
  const unsigned size = 6;
  bool described = true;
  v->Left = (uint32_t)ps_get(bytes, size, 0, 12);
  v->Top = (uint32_t)ps_get(bytes, size, 12, 12);
  v->Right = (uint32_t)(ps_get(bytes, size, 24, 12) + 1);
  v->Bottom = (uint32_t)(ps_get(bytes, size, 36, 12) + 1);
  return described;
}

/* How many. */
#define GOLDEN_Count_LENGTH 4
#define GOLDEN_Count_header 0
struct GOLDEN_Count {
   uint32_t Value;
};
struct golden_count_packed {
   uint32_t opaque[1];
};

PS_ZEROS(GOLDEN_Count)
PS_PACK_BYTES(GOLDEN_Count) {
  PS_GLOBAL uint8_t *to = (PS_GLOBAL uint8_t *)dst;
  ps_store(to, v->Value, 4);
}
PS_UNPACK_BYTES(GOLDEN_Count) {
  const unsigned size = 4;
  bool described = true;
  v->Value = (uint32_t)ps_get(bytes, size, 0, 32);
  return described;
}

/* Switches of the caches. */
#define GOLDEN_CACHE_MODE_length 1
#define GOLDEN_CACHE_MODE_num 0x7004
struct GOLDEN_CACHE_MODE {
   bool DepthCacheDisable;
   bool DepthCacheDisableMask;
};

PS_PACK(GOLDEN_CACHE_MODE) {
  ps_dwords dw = (ps_dwords)dst;
  dw[0] = ps_golden_2(29, v->DepthCacheDisable, v->DepthCacheDisableMask, 0x023033);
}

/* The depth test, and where depth is. [Golden manual, 5.2] */
#define GOLDEN_3DSTATE_DEPTH_length 3
#define GOLDEN_3DSTATE_DEPTH_length_bias 2
#define GOLDEN_3DSTATE_DEPTH_header \
   .DWordLength = 1, \
   .DepthTestEnable = 1, \
   .DepthTestFunction = (enum GOLDEN_CompareFunction)1, \
   .Opcode = 30977, \
   .TileMode = 2, \
   .Format = 1
#define GOLDEN_TILE_MODE_Linear 0
#define GOLDEN_TILE_MODE_XMajor 2
#define GOLDEN_TILE_MODE_YMajor 3
struct GOLDEN_3DSTATE_DEPTH {
   uint32_t                    DWordLength;
   bool                        DepthTestEnable;
   /* New against old. */
   enum GOLDEN_CompareFunction DepthTestFunction;
   uint32_t                    Opcode;
   float                       BiasConstant;
   /* How depth values lie in memory. */
   uint32_t                    TileMode;
   int32_t                     Layer;
   uint32_t                    Format;
};

PS_PACK(GOLDEN_3DSTATE_DEPTH) {
  ps_dwords dw = (ps_dwords)dst;
#ifdef PS_CHECKS
  ps_expect(v->TileMode != 3, "GOLDEN_3DSTATE_DEPTH.TileMode != 3");
#endif
  dw[0] =
      ps_golden_4(47, v->DWordLength, v->DepthTestEnable, v->DepthTestFunction, v->Opcode,
                  0x100028069610);
  dw[1] = ps_float(v->BiasConstant);
  dw[2] = 0x80000000 | ps_golden_2(0x20002f, v->TileMode, v->Format, 0x040070) |
          ps_golden_sint(47, v->Layer, 0x440b) << 4;
}

/* Values that are stored as something else. */
#define GOLDEN_SURFACE_length 4
#define GOLDEN_SURFACE_length_bias 2
#define GOLDEN_SURFACE_header \
   .DWordLength = 2, \
   .Opcode = 30978, \
   .Width = 1, \
   .Height = 1, \
   .Samples = 1, \
   .Registers = 128, \
   .Threads = 1
struct GOLDEN_SURFACE {
   uint32_t DWordLength;
   uint32_t Opcode;
   /* Unit: px. */
   uint32_t Width;
   /* Unit: px. */
   uint32_t Height;
   /* Unit: bytes. */
   uint32_t RowPitch;
   uint32_t Samples;
   uint32_t Registers;
   float    MinLOD;
   float    LODBias;
   uint32_t Threads;
};

PS_PACK(GOLDEN_SURFACE) {
  ps_dwords dw = (ps_dwords)dst;
#ifdef PS_CHECKS
  ps_expect(v->Width >= 1, "GOLDEN_SURFACE.Width >= 1");
  ps_fits((v->Width - 1), 14, "GOLDEN_SURFACE.Width");
  ps_expect(v->Height >= 1, "GOLDEN_SURFACE.Height >= 1");
  ps_fits((v->Height - 1), 14, "GOLDEN_SURFACE.Height");
  ps_expect(((v->RowPitch) & 15) == 0, "((GOLDEN_SURFACE.RowPitch) & 15) == 0");
  ps_fits((v->RowPitch >> 4), 16, "GOLDEN_SURFACE.RowPitch");
  ps_expect(ps_is_power_of_two(v->Samples), "ps_is_power_of_two(GOLDEN_SURFACE.Samples)");
  ps_expect(v->Registers <= 128u, "GOLDEN_SURFACE.Registers <= 128u");
#endif
  dw[0] = ps_golden_2(153, v->DWordLength, v->Opcode, 0x100610);
  dw[1] = (v->Width - 1) | (v->Height - 1) << 16;
  dw[2] = (v->RowPitch >> 4) | ps_log2(v->Samples) << 16 | ps_groups(v->Registers, 8, 4) << 19;
  dw[3] = ps_golden_1(0x300099, v->Threads, 0x8f9) | ps_golden_ufixed(153, v->MinLOD, 0x600c, 8) |
          ps_golden_sfixed(153, v->LODBias, 0x6c0d, 8) << 12;
}

/* A program and the memory it uses. */
#define GOLDEN_SHADER_length 6
#define GOLDEN_SHADER_length_bias 2
#define GOLDEN_SHADER_header \
   .DWordLength = 4, \
   .Opcode = 30979
struct GOLDEN_SHADER {
   uint32_t           DWordLength;
   uint32_t           Opcode;
   uint64_t           Kernel;
   /* Unit: KB a thread. */
   uint32_t           ScratchSize;
   __gen_address_type Scratch;
   __gen_address_type Descriptors;
};

PS_PACK(GOLDEN_SHADER) {
  ps_dwords dw = (ps_dwords)dst;
  dw[0] = ps_golden_2(232, v->DWordLength, v->Opcode, 0x100610);
  dw[1] = ps_golden_offset(232, v->Kernel, 0x261a, 6);
  const uint64_t address2 =
      ps_combine(&dw[2], v->Scratch, ps_golden_1(0x2000e8, v->ScratchSize, 0x080));
  dw[2] = (uint32_t)address2;
  dw[3] = (uint32_t)(address2 >> 32);
  const uint64_t address4 = ps_combine(&dw[4], v->Descriptors, 0);
  dw[4] = (uint32_t)address4;
  dw[5] = (uint32_t)(address4 >> 32);
}

/* What repeats. */
#define GOLDEN_TABLES_length 30
#define GOLDEN_TABLES_length_bias 2
#define GOLDEN_TABLES_header \
   .DWordLength = 28, \
   .Opcode = 30980
struct GOLDEN_TABLES {
   uint32_t                    DWordLength;
   uint32_t                    Opcode;
   float                       Half[2];
   uint32_t                    Row[16];
   bool                        Enable[32];
   uint32_t                    WriteMask[2];
   float                       Color[2];
   struct GOLDEN_VERTEX_BUFFER Vertices;
   int32_t                     X[2];
   int32_t                     Y[2];
   float                       Depth[2];
   uint32_t                    DepthBits[2];
};

PS_PACK(GOLDEN_TABLES) {
  ps_dwords dw = (ps_dwords)dst;
  dw[0] = ps_golden_2(301, v->DWordLength, v->Opcode, 0x100610);
  dw[1] = ps_half(v->Half[0]) | ps_half(v->Half[1]) << 16;
  dw[2] = v->Row[0];
  dw[3] = v->Row[1];
  dw[4] = v->Row[2];
  dw[5] = v->Row[3];
  dw[6] = v->Row[4];
  dw[7] = v->Row[5];
  dw[8] = v->Row[6];
  dw[9] = v->Row[7];
  dw[10] = v->Row[8];
  dw[11] = v->Row[9];
  dw[12] = v->Row[10];
  dw[13] = v->Row[11];
  dw[14] = v->Row[12];
  dw[15] = v->Row[13];
  dw[16] = v->Row[14];
  dw[17] = v->Row[15];
  dw[19] = ps_golden_1(0x130012d, v->WriteMask[0], 0x080);
  dw[20] = ps_float(v->Color[0]);
  dw[21] = ps_golden_1(0x150012d, v->WriteMask[1], 0x080);
  dw[22] = ps_float(v->Color[1]);
  dw[23] = ps_golden_2(0x170012d, v->Vertices.Pitch, v->Vertices.Null, 0x18002d);
  const uint64_t address24 = ps_combine(&dw[24], v->Vertices.StartingAddress, 0);
  dw[24] = (uint32_t)address24;
  dw[25] = (uint32_t)(address24 >> 32);
  dw[26] = ps_golden_sint(301, v->X[0], 0x34010) | (uint32_t)v->Y[0] << 16;
  dw[27] = ps_float(v->Depth[0]) | v->DepthBits[0];
  dw[28] = ps_golden_sint(301, v->X[1], 0x38010) | (uint32_t)v->Y[1] << 16;
  dw[29] = ps_float(v->Depth[1]) | v->DepthBits[1];
  {
    uint32_t ps_w[1] = {0};
    for (unsigned i0 = 0; i0 < 32; ++i0) {
      ps_put(ps_w, i0, 1, v->Enable[i0]);
    }
    dw[18] = ps_w[0];
  }
}

/* Writes one dword or two. */
#define GOLDEN_STORE_DATA_length 4
#define GOLDEN_STORE_DATA_length_bias 2
#define GOLDEN_STORE_DATA_header \
   .DWordLength = 2, \
   .Opcode = 30981
struct GOLDEN_STORE_DATA {
   uint32_t           DWordLength;
   bool               StoreQword;
   uint32_t           Opcode;
   __gen_address_type Address;
   uint64_t           Data;
};

PS_PACK(GOLDEN_STORE_DATA) {
  ps_dwords dw = (ps_dwords)dst;
  const unsigned ps_n = v->DWordLength + 2u;
  dw[0] = ps_golden_3(444, v->DWordLength, v->StoreQword, v->Opcode, 0x100028610);
  const uint64_t address1 = ps_combine(&dw[1], v->Address, 0);
  dw[1] = (uint32_t)address1;
  dw[2] = ((uint32_t)(address1 >> 32) & 0xffff);
  dw[3] = (uint32_t)v->Data;
  if (ps_n > 4) dw[4] = (uint32_t)(v->Data >> 32);
}

/* Writes registers. */
#define GOLDEN_LOAD_REGISTERS_length_bias 2
#define GOLDEN_LOAD_REGISTERS_header \
   .Opcode = 30982
struct GOLDEN_LOAD_REGISTERS {
   uint32_t DWordLength;
   uint32_t ByteWriteDisables;
   uint32_t Opcode;
};

PS_PACK(GOLDEN_LOAD_REGISTERS) {
  ps_dwords dw = (ps_dwords)dst;
  dw[0] = ps_golden_3(488, v->DWordLength, v->ByteWriteDisables, v->Opcode, 0x100088610);
}

/* Binds vertex buffers. */
#define GOLDEN_VERTEX_BUFFERS_length_bias 2
#define GOLDEN_VERTEX_BUFFERS_header \
   .Opcode = 30983
struct GOLDEN_VERTEX_BUFFERS {
   uint32_t DWordLength;
   uint32_t Opcode;
};

PS_PACK(GOLDEN_VERTEX_BUFFERS) {
  ps_dwords dw = (ps_dwords)dst;
  dw[0] = ps_golden_2(558, v->DWordLength, v->Opcode, 0x100610);
}

/* Ends the batch. */
#define GOLDEN_END_length 1
#define GOLDEN_END_header \
   .Opcode = 30976
struct GOLDEN_END {
   uint32_t Opcode;
};

PS_PACK(GOLDEN_END) {
  ps_dwords dw = (ps_dwords)dst;
  dw[0] = ps_golden_1(606, v->Opcode, 0x610);
}

/* Draws; whatever has its bit set follows. */
#define GOLDEN_Draw_LENGTH 4
#define GOLDEN_Draw_header \
   .IndexFormat = (enum GOLDEN_IndexFormat)1, \
   .ScissorCount = 1
struct GOLDEN_Draw {
   enum GOLDEN_IndexFormat IndexFormat;
   bool                    InstancesPresent;
   bool                    ScissorsPresent;
   uint32_t                ScissorCount;
};
struct golden_draw_packed {
   uint32_t opaque[1];
};

PS_DEFAULTS(GOLDEN_Draw)
PS_PACK_BYTES(GOLDEN_Draw) {
  PS_GLOBAL uint8_t *to = (PS_GLOBAL uint8_t *)dst;
#ifdef PS_CHECKS
  ps_fits(v->IndexFormat, 2, "GOLDEN_Draw.IndexFormat");
  ps_expect(v->IndexFormat != 0, "GOLDEN_Draw.IndexFormat != 0");
  ps_expect(v->ScissorCount >= 1, "GOLDEN_Draw.ScissorCount >= 1");
  ps_fits((v->ScissorCount - 1), 4, "GOLDEN_Draw.ScissorCount");
#endif
  ps_store(to, 0x79100000 | (uint32_t)v->IndexFormat | v->InstancesPresent << 2 |
               v->ScissorsPresent << 3 | (v->ScissorCount - 1) << 4, 4);
}
PS_UNPACK_BYTES(GOLDEN_Draw) {
  const unsigned size = 4;
  bool described = true;
  v->IndexFormat = (enum GOLDEN_IndexFormat)ps_get(bytes, size, 0, 2);
  v->InstancesPresent = ps_get(bytes, size, 2, 1) != 0;
  v->ScissorsPresent = ps_get(bytes, size, 3, 1) != 0;
  v->ScissorCount = (uint32_t)(ps_get(bytes, size, 4, 4) + 1);
  described = described && ps_get(bytes, size, 16, 16) == 0x7910;
  described = described && ps_zero(bytes, size, 8, 8);
  return described;
}

#ifndef PACKSMITH_PREFIXED_VALUES
#define TILE_MODE_Linear 0
#define TILE_MODE_XMajor 2
#define TILE_MODE_YMajor 3
#endif

#ifdef PACKSMITH_REPACK
PS_REPACK(GOLDEN_VERTEX_BUFFER, 3)
PS_REPACK(GOLDEN_CACHE_MODE, 1)
PS_REPACK(GOLDEN_3DSTATE_DEPTH, 3)
PS_REPACK(GOLDEN_SURFACE, 4)
PS_REPACK(GOLDEN_SHADER, 6)
PS_REPACK(GOLDEN_TABLES, 30)
PS_REPACK(GOLDEN_STORE_DATA, 4)
PS_REPACK(GOLDEN_END, 1)
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif /* PACKSMITH_GOLDEN_PACK_H_ */
