#include "tools/commands/simulate.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/output.h"
#include "tools/run.h"

namespace packsmith::commands {
using tools::Then;

int Simulate(const Arguments& arguments, tools::Inputs& inputs, const DescribeDump& describe) {
  tools::RunOptions options;
  options.jsonl = arguments.format == "jsonl";
  options.draw = arguments.questions.draw;
  options.dispatch = arguments.questions.dispatch;
  options.draw_vertices = arguments.draw_vertices;
  options.text.color = tools::UseColor(arguments.color, arguments.output);
  options.text.hide_zero_fields = arguments.hide_zero;
  options.registers = arguments.registers;
  options.max_commands = arguments.max_commands;
  options.max_seconds = arguments.max_seconds;
  for (const auto& [name, text, address] :
       {std::make_tuple("--until", &arguments.until, &options.until),
        std::make_tuple("--watch", &arguments.watch, &options.watch)}) {
    uint64_t value = 0;
    if (text->empty()) continue;
    if (!absl::SimpleHexAtoi(*text, &value)) {
      Complain(absl::StrCat(name, "=", *text, " is not a hexadecimal number"));
      return kWrongUsage;
    }
    *address = value;
  }
  absl::StatusOr<std::unique_ptr<tools::CliOutput>> output = Open(arguments);
  absl::Status status = output.status();
  int result = kGood;
  bool any = false;
  do {
    std::unique_ptr<tools::SimulatedRun> run;
    std::optional<tools::Gpu> gpu, before;
    inputs.ForEach(false, [&](Dump& dump, const std::string& path) {
      if (!status.ok()) return Then::kStop;
      const absl::StatusOr<tables::Tables> tables = describe(dump, path, gpu);
      if (!tables.ok()) return Then::kRefuse;
      if (gpu && !gpu->IsSame(*tables, dump.device)) return Then::kLater;
      gpu = tools::Gpu{*tables, dump.device};
      status = tools::SimulatedRun::Check(*tables);
      if (!status.ok()) return Then::kStop;
      if (run == nullptr) run = std::make_unique<tools::SimulatedRun>(*tables, options, **output);
      run->Add(dump, path);
      return Then::kGoOn;
    });
    if (run != nullptr && !run->Finish()) result = kNotDecoded;
    any = any || run != nullptr;
  } while (status.ok() && inputs.NextGroup());
  if (inputs.failed() || !any) result = kNotDecoded;
  if (status.ok()) status = (*output)->Finish();
  if (status.ok()) return result;
  Complain(status.message());
  return kNotDecoded;
}

}  // namespace packsmith::commands
