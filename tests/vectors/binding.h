/* How a test reaches the members of generated types: as data, so that the checks are compiled once
 * and not once a type. bind.py writes the tables. For C11 and C++. */
#ifndef PACKSMITH_TESTS_VECTORS_BINDING_H_
#define PACKSMITH_TESTS_VECTORS_BINDING_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a member is in the language. Enumerations are numbers, addresses uint64_t. */
enum binding_kind {
  BINDING_BOOL,
  BINDING_U32,
  BINDING_U64,
  BINDING_I32,
  BINDING_I64,
  BINDING_FLOAT,
  BINDING_DOUBLE,
};

struct binding_member {
  const char* part; /* the part that it belongs to, or "" */
  const char* name; /* as the IR has it */
  const char* path; /* as the language writes it */
  unsigned bit;     /* from the start of the container, the part or the item */
  unsigned width;
  unsigned offset; /* bytes, in the object */
  int kind;
};

/* A type of the C header. */
struct binding_c_type {
  const char* name;
  size_t size;
  long length, length_bias, num; /* -1: there is no such macro */
  const void* header;            /* an object made from T_header, NULL: there is no such macro */
  const struct binding_member* members;
  unsigned member_count;
  void (*pack)(void* dst, const void* values);
  /* Records of bytes: whether all reads as described. Otherwise NULL. */
  int (*unpack)(const uint8_t* bytes, void* values);
};

/* A field's T_F_start and T_F_bits. */
struct binding_c_position {
  const char* container;
  const char* field;
  unsigned start, bits;
};

/* An enumerator or a #define. */
struct binding_c_value {
  const char* name;
  long long value;
  long long expected;
};

struct binding_c {
  const struct binding_c_type* types;
  unsigned type_count;
  const struct binding_c_position* positions;
  unsigned position_count;
  const struct binding_c_value* values;
  unsigned value_count;
};

/* Defined by the generated file. */
extern const struct binding_c bound_c;

#ifdef __cplusplus
}
#endif

#endif /* PACKSMITH_TESTS_VECTORS_BINDING_H_ */
