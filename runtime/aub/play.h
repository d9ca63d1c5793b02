// Makes memory and submissions of a recording: executes its writes, and at each submission to an
// engine walks the page tables of the context.
//
//   absl::StatusOr<Dump> dump = ReadDump("run.aub");
//   Play(description, *dump);
#ifndef PACKSMITH_RUNTIME_AUB_PLAY_H_
#define PACKSMITH_RUNTIME_AUB_PLAY_H_

#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

struct PlayOptions {
  // Also a submission for each context's image, and physical memory, as a space with the page
  // tables: for those who look at these.
  bool images = false;
};

// Adds to a dump of ReadAub() what its recording says; another dump is not changed, nor is one that
// was played before.
//
// A submission is a batch if the ring has only the packet that starts it and no-ops, else the
// ring's piece from head to tail. Its space is that of its context as it is at that moment: space 0
// for the first submission, a new one for each context, and for each later submission that finds
// pages of its context changed, mapped or unmapped since the one before it. The global space is
// that at the end of the file; a ring's piece that was overwritten by then has a space of its own.
// Contexts are numbered in the order in which they appear, by their page tables; `slot` counts the
// images of a context. Recordings of the classic family have one space, which is that of their
// submissions.
//
// Work and memory are bounded by the size of the file. What cannot be played becomes a Problem at
// its offset.
void Play(const tables::Tables& tables, Dump& dump, const PlayOptions& options = {});

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_PLAY_H_
