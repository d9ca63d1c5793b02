#include "tools/descriptions.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gen/model/load.h"
#include "gen/model/write/tables.h"
#include "runtime/generations/generations.h"

namespace packsmith::tools {
namespace {

// For a PCI id that is new or missing: the tables that follow from what else the kernel wrote.
// `note` must be shown.
absl::StatusOr<tables::Tables> LikelyTablesOf(const Device& device, std::string& note) {
  absl::StatusOr<LikelyGeneration> likely =
      FindLikelyGeneration(device.family, device.platform, device.kernel_verx10);
  if (!likely.ok()) return likely.status();
  note = absl::StrCat(
      device.pci_id ? absl::StrFormat("no built-in generation has a device with the PCI id 0x%04x",
                                      *device.pci_id)
                    : std::string("the input has no PCI id"),
      "; decoded as ", likely->tables.generation(), ", since the input says ", likely->by,
      "; --gen selects another");
  return likely->tables;
}

}  // namespace

Described ReadXml(const std::string& path) {
  Described described;
  const model::LoadResult loaded = model::Load(path, model::ReadFileFromDisk);
  const absl::Status status = model::ToStatus(loaded);
  described.inputs = loaded.model.inputs;
  if (!status.ok()) {
    described.tables = status;
    return described;
  }
  described.block = model::WriteTables(loaded.model);
  described.tables = tables::Tables::Open(
      {reinterpret_cast<const uint8_t*>(described.block.data()), described.block.size() * 8});
  return described;
}

Described ReadTables(const std::string& path) {
  Described described;
  described.inputs = {path};
  const absl::StatusOr<std::string> bytes = model::ReadFileFromDisk(path);
  if (!bytes.ok()) {
    described.tables = absl::InvalidArgumentError(
        absl::StrCat("cannot read \"", path, "\": ", bytes.status().message()));
    return described;
  }
  described.block.resize((bytes->size() + 7) / 8);
  bytes->copy(reinterpret_cast<char*>(described.block.data()), bytes->size());
  described.tables = tables::Tables::Open(
      {reinterpret_cast<const uint8_t*>(described.block.data()), bytes->size()});
  return described;
}

absl::StatusOr<tables::Tables> TablesOf(absl::string_view generation, const Dump& dump,
                                        std::string& note) {
  const Device& device = dump.device;
  // A chip id is more specific than a generation's name, and may be newer than the descriptions.
  if (generation.empty() && device.chip_id) {
    absl::StatusOr<tables::Tables> found = FindGenerationOfChipId(*device.chip_id);
    if (found.ok() || device.generation.empty()) return found;
  }
  const absl::string_view name = !generation.empty()          ? generation
                                 : !device.generation.empty() ? device.generation
                                 : !device.pci_id             ? device.family
                                                              : device.generation;
  if (generation.empty() && device.generation.empty()) {
    absl::StatusOr<tables::Tables> of_id = absl::NotFoundError("no id");
    if (device.pci_id) of_id = FindGenerationOfPciId(*device.pci_id);
    if (of_id.ok()) return of_id;
    absl::StatusOr<tables::Tables> likely = LikelyTablesOf(device, note);
    if (likely.ok()) return likely;
    if (device.pci_id) return of_id;
  }
  if (name.empty()) {
    return absl::InvalidArgumentError(
        "the input does not say which GPU it is from; name a generation, such as --gen=gfx9");
  }
  absl::StatusOr<tables::Tables> found = FindGeneration(name);
  if (!found.ok() && generation.empty() && device.generation.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the input is from a GPU of the family ", name,
                     ", but does not say which; name a generation, such as --gen=gfx9"));
  }
  return found;
}

}  // namespace packsmith::tools
