#include "tests/intel/state/hardware.h"

#include <string>

namespace packsmith::intel {
namespace {

// Commands and draws set no state of a draw. 3DSTATE_CONSTANT_ALL has nothing of its
// own: what others have set is gone.
bool SetsState(const std::string& name) {
  return name.rfind("3DSTATE_", 0) == 0 && name != "3DSTATE_CONSTANT_ALL";
}

bool Draws(const std::string& name) {
  return name == "3DPRIMITIVE" || name.rfind("3DMESH_", 0) == 0;
}

// The GPU keeps several of some packets, told apart by a number in the dword after the header.
std::string KeyOf(const Met& packet) {
  if (packet.name == "3DSTATE_VF_INSTANCING") {
    return packet.name + " " + std::to_string(packet.dwords[1]);
  }
  if (packet.name == "3DSTATE_SO_BUFFER") {
    return packet.name + " " + std::to_string(packet.dwords[1] >> 29 & 3);
  }
  return packet.name;
}

}  // namespace

Hardware::Hardware(const tables::Tables& tables) {
  for (const tables::Container& container : tables.containers()) {
    for (const tables::Relation& relation : tables.relations(container.relations)) {
      const std::string name(tables.string(container.name));
      const std::string other(tables.string(tables.container(relation.container).name));
      if (relation.kind == tables::RelationKind::kCommits) {
        relations_[name].commits.push_back(other);
        committed_by_others_.insert(other);
      } else if (relation.kind == tables::RelationKind::kInvalidates) {
        relations_[name].invalidates.push_back(other);
      }
    }
  }
}

void Hardware::Run(const std::vector<Met>& packets) {
  for (const Met& packet : packets) {
    if (Draws(packet.name)) draws_.push_back(now_);
    if (SetsState(packet.name)) {
      const std::string key = KeyOf(packet);
      (committed_by_others_.count(key) != 0 ? waiting_ : now_)[key] = packet.dwords;
    }
    const auto found = relations_.find(packet.name);
    if (found == relations_.end()) continue;
    for (const std::string& other : found->second.commits) {
      const auto waiting = waiting_.find(other);
      if (waiting != waiting_.end()) now_[other] = waiting->second;
    }
    for (const std::string& other : found->second.invalidates) {
      now_.erase(other);
      waiting_.erase(other);
    }
  }
}

void Hardware::Lose() {
  now_.clear();
  waiting_.clear();
}

}  // namespace packsmith::intel
