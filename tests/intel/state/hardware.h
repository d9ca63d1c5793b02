// A GPU's state by the XML's relations: the packets that are in effect when it draws.
#ifndef PACKSMITH_TESTS_INTEL_STATE_HARDWARE_H_
#define PACKSMITH_TESTS_INTEL_STATE_HARDWARE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/tables/tables.h"
#include "tests/intel/batch/built.h"

namespace packsmith::intel {

class Hardware {
 public:
  // Of each packet that sets something, the dwords that count.
  using State = std::map<std::string, std::vector<uint32_t>>;

  explicit Hardware(const tables::Tables& tables);

  // Executes a batch's packets.
  void Run(const std::vector<Met>& packets);
  // The context is lost.
  void Lose();

  // At each draw so far.
  const std::vector<State>& draws() const { return draws_; }

 private:
  struct Relations {
    std::vector<std::string> commits, invalidates;
  };

  std::map<std::string, Relations> relations_;
  std::set<std::string> committed_by_others_;
  State waiting_;  // set, and to be committed
  State now_;
  std::vector<State> draws_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_STATE_HARDWARE_H_
