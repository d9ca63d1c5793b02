// Packets as dwords, for tests.
#ifndef PACKSMITH_TESTS_INTEL_PIPELINE_PACKED_H_
#define PACKSMITH_TESTS_INTEL_PIPELINE_PACKED_H_

#include "gtest/gtest.h"
#include "packsmith/pack.h"
#include "tests/intel/pipeline/capture.h"

namespace packsmith::intel {

template <class P>
Dwords DwordsOf(const P& packet) {
  Dwords dwords(P::length);
  EXPECT_FALSE(packet.pack(dwords.data()));
  return dwords;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_PIPELINE_PACKED_H_
