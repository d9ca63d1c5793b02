// Prints the facts of a description, one per line, for comparison with another description's.
#include <cstdio>

#include "gen/model/load.h"
#include "tests/generations/facts.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: print_facts FILE.xml\n", stderr);
    return 2;
  }
  const packsmith::model::LoadResult result =
      packsmith::model::Load(argv[1], packsmith::model::ReadFileFromDisk);
  if (result.diagnostics.has_errors()) {
    std::fputs(packsmith::model::FormatAll(result.diagnostics, result.sources).c_str(), stderr);
    return 1;
  }
  for (const packsmith::Fact& fact : packsmith::FactsOf(result.model)) {
    std::printf("%s\n", fact.text.c_str());
  }
  return 0;
}
