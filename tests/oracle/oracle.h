#ifndef PACKSMITH_TESTS_ORACLE_ORACLE_H_
#define PACKSMITH_TESTS_ORACLE_ORACLE_H_

// The text that an independent decoder (Mesa's) prints for a capture, as data.
//
// The indentation does not follow the structure: a nested structure's fields have the same column
// as those of the packet around it, and only the "Dword n" lines tell where one ends. What the text
// alone does not tell is left to the caller: see OracleField::parent.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith {

// One "name: value" line.
struct OracleField {
  absl::string_view name;
  // As printed: "true", "false", "17", "0x00000040", "0.500000". Empty for a nested structure.
  absl::string_view value;
  // The text in brackets after a number: the value's name. Empty if there is none.
  absl::string_view enum_name;
  // Type of a nested structure, empty for an ordinary field.
  absl::string_view struct_name;
  // The innermost structure that may still be open: index in OracleItem::fields, -1 for the item
  // itself. A structure that does not end at a dword's end leaves no trace of its end, so the
  // field may belong further out, never further in.
  int parent = -1;
};

enum class OracleKind {
  kPacket,        // a command in the stream
  kStruct,        // a descriptor that a pointer led to
  kRegister,      // a register that a packet wrote; address is the register's offset
  kPointerTable,  // binding table: fields named by index ("0", "1", …), enum_name holds a remark
  kData,          // vertex, constant or index data; `name` says which, each value is a nameless
                  // field: real with two digits, decimal, or hexadecimal
  kReference,     // a shader that was not disassembled
  kUnavailable,   // "… unavailable": a pointer to memory that the capture does not have
  kUnknown,       // a dword that no packet matches
};

const char* OracleKindName(OracleKind kind);

struct OracleItem {
  OracleKind kind = OracleKind::kPacket;
  // Packets, structures and registers: the XML's name; empty for a structure that the oracle prints
  // without a heading. Others: the text of the line.
  absl::string_view name;
  // Ordinal within its kind where the text has one ("CC_VIEWPORT 2"), otherwise -1.
  int index = -1;
  // False for a heading that no dword follows.
  bool has_address = false;
  uint64_t address = 0;
  // Packet that this was printed after: index in OracleBatch::items, -1 before the first.
  int packet = -1;
  // Line of the text, from 1.
  int line = 0;
  // kRegister and kUnknown: the dword printed in the heading. kData: the size in bytes, if it has
  // a heading.
  uint64_t heading_value = 0;
  // In order from `address`; without those of nested structures, which repeat them.
  std::vector<uint32_t> dwords;
  std::vector<OracleField> fields;
};

// One submission.
struct OracleBatch {
  int number = 0;
  uint64_t address = 0;
  std::vector<OracleItem> items;
};

struct OracleUnparsed {
  int line = 0;
  absl::string_view text;
  const char* why = "";
};

struct Oracle {
  std::vector<OracleBatch> batches;
  // Lines of no known kind. Everything else in the text is accounted for in `batches`.
  std::vector<OracleUnparsed> unparsed;
  int lines = 0;
};

// Views in the result point into `text`, which must outlive it. One pass, no copy of the text.
// Never fails: what it does not understand is in `unparsed`.
Oracle ParseOracle(absl::string_view text);

// "Outer[0].Inner" for a field whose parent is `parent` (-1 gives the bare name).
std::string OracleFieldPath(const OracleItem& item, absl::string_view name, int parent);

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_ORACLE_ORACLE_H_
