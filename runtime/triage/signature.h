// What hangs of one cause have in common: the fields by which `unpack triage` groups dumps.
//
//   Dump dump = *ReadDump(path);
//   AddRings(tables, dump);
//   Signature signature = MakeSignature(tables, dump, MakeHangReport(tables, dump));
//   std::string group = IdOf(signature, *FieldsNamed("engine,command,reason"));
//
// The kernel's own `ecode` is not part of it: that is IPEHR xor INSTDONE, which differs between two
// hangs of one cause, and is the same for hangs that have nothing in common.
#ifndef PACKSMITH_RUNTIME_TRIAGE_SIGNATURE_H_
#define PACKSMITH_RUNTIME_TRIAGE_SIGNATURE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/hang/report.h"
#include "runtime/tables/tables.h"

namespace packsmith::triage {

// No member has an address, a process or a time. Empty: the dump does not say. Strings come from
// the input; see dump.h.
struct Signature {
  std::string generation;  // "gfx9"
  std::string engine;      // its class: "render"
  std::string reason;      // the kernel's words without numbers: "Timedout job"
  std::string verdict;     // "page-fault", "semaphore-wait": VerdictOf()
  std::string command;     // the packet that it stopped in: "PIPE_CONTROL"
  std::string fields;      // of that command, those that are neither zero nor addresses
  std::string state_hash;  // 16 hexadecimal digits: of the state set for the last draw or dispatch
  std::string firmware;    // the GuC's version: "70.6.3"
  std::string kernel;      // "6.11.0-26-generic"

  friend bool operator==(const Signature&, const Signature&) = default;
};

// A member, and its name in rules, options and JSON.
struct SignatureField {
  absl::string_view name;
  std::string Signature::*member;
};
inline constexpr std::array<SignatureField, 9> kSignatureFields = {{
    {"generation", &Signature::generation},
    {"engine", &Signature::engine},
    {"reason", &Signature::reason},
    {"verdict", &Signature::verdict},
    {"command", &Signature::command},
    {"fields", &Signature::fields},
    {"state_hash", &Signature::state_hash},
    {"firmware", &Signature::firmware},
    {"kernel", &Signature::kernel},
}};

// Bit i: kSignatureFields[i].
using FieldSet = uint32_t;
inline constexpr FieldSet kAllFields = (FieldSet{1} << kSignatureFields.size()) - 1;

// Of names separated by commas. InvalidArgument for others, or none; the message lists them all.
absl::StatusOr<FieldSet> FieldsNamed(absl::string_view names);

// The signature with the fields outside the set made empty.
Signature Only(const Signature& signature, FieldSet fields);

// The fields of the set as one text: two signatures agree in them exactly if their keys are equal.
std::string KeyOf(const Signature& signature, FieldSet fields);
// 16 hexadecimal digits, made of the key. The same on every machine.
std::string IdOf(const Signature& signature, FieldSet fields);

// `report` is of this dump, made with these tables. Of several engines the first one counts that
// the kernel blames.
Signature MakeSignature(const tables::Tables& tables, const Dump& dump,
                        const hang::HangReport& report);

// The report's first verdict, by its name (hang/verdict.h). Without one, "in-batch", "in-ring",
// "outside-memory": where the engine stopped, the last one at an address of which the dump has no
// memory; without registers, from the firmware's queues, "not-ended", "ended". Empty: nothing of
// this is known.
std::string VerdictOf(const hang::HangReport& report);

// The kernel's reason without what differs from hang to hang: codes, numbers, processes.
// "Timedout job - seqno=7, lrc_seqno=8, guc_id=5, flags=0x0": "Timedout job".
std::string ReasonOf(absl::string_view title);

// The code in "GPU HANG: ecode 9:1:0x85dffffb, in X [1]": "9:1:0x85dffffb"; empty if there is none.
std::string EcodeOf(absl::string_view title);

// Seconds since 1970 of a report's time, as kernels write it; 0: it has none.
int64_t SecondsOf(absl::string_view time);

}  // namespace packsmith::triage

#endif  // PACKSMITH_RUNTIME_TRIAGE_SIGNATURE_H_
