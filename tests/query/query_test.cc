#include "runtime/query/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/dump.h"
#include "runtime/encode/assembler.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"

namespace packsmith::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Each row as a line.
class Lines : public Rows {
 public:
  void OnRow(const Row& row) override {
    rows.push_back(absl::StrCat(row.is_draw ? "draw " : "dispatch ", row.number, ": ", row.record,
                                ".", row.field, " = ", row.value, " ", row.name));
    addresses.push_back(row.address);
  }
  void OnProblem(absl::string_view text) override { problems.emplace_back(text); }

  std::vector<std::string> rows, problems;
  std::vector<uint64_t> addresses;
};

constexpr absl::string_view kBatch = R"(
.gen skl
.org 0x1000
3DSTATE_VF_TOPOLOGY Primitive_Topology_Type=TRILIST
3DSTATE_VS Enable=true
3DPRIMITIVE Vertex_Count_Per_Instance=3
3DPRIMITIVE Vertex_Count_Per_Instance=6
3DSTATE_VF_TOPOLOGY Primitive_Topology_Type=TRISTRIP
3DPRIMITIVE Vertex_Count_Per_Instance=6
)";

Lines Ask(absl::string_view fields, const std::vector<std::string>& conditions = {},
          bool only_changes = false, absl::string_view end = "MI_BATCH_BUFFER_END\n") {
  Lines lines;
  const std::string text = absl::StrCat(kBatch, end);
  const encode::Source source{"batch.asm", text};
  absl::StatusOr<encode::Packed> packed =
      encode::Assemble(source, [](absl::string_view name) { return FindGeneration(name); });
  EXPECT_TRUE(packed.ok()) << packed.status();
  absl::StatusOr<Query> query = ParseQuery(fields, conditions);
  EXPECT_TRUE(query.ok()) << query.status();
  if (!packed.ok() || !query.ok()) return lines;
  query->only_changes = only_changes;
  const tables::Tables tables = *packed->tables;
  const Dump dump = encode::ToDump(*std::move(packed));
  const std::unique_ptr<decode::Sink> sink = MakeQuerySink(lines, *std::move(query));
  decode::Options options;
  options.leads = options.bound.each = true;
  decode::Decoder decoder(tables, *sink, options);
  decoder.Decode(dump);
  decoder.Finish();
  return lines;
}

TEST(Query, ARowIsAFieldThatADrawFindsSet) {
  const Lines lines = Ask("3DSTATE_VF_TOPOLOGY.Primitive*");
  EXPECT_THAT(lines.rows,
              ElementsAre("draw 1: 3DSTATE_VF_TOPOLOGY.Primitive Topology Type = 4 TRILIST",
                          "draw 2: 3DSTATE_VF_TOPOLOGY.Primitive Topology Type = 4 TRILIST",
                          "draw 3: 3DSTATE_VF_TOPOLOGY.Primitive Topology Type = 5 TRISTRIP"));
  // After packets of 8 and 36 bytes; of 28 bytes each, and a packet of 8 between them.
  EXPECT_THAT(lines.addresses, ElementsAre(0x102c, 0x1048, 0x106c));
  EXPECT_THAT(lines.problems, IsEmpty());
}

TEST(Query, OnlyChangesAreRowsIfThatIsAsked) {
  EXPECT_THAT(Ask("3dstate_vf_topology.primitive topology type,vertex count*", {}, true).rows,
              ElementsAre("draw 1: 3DSTATE_VF_TOPOLOGY.Primitive Topology Type = 4 TRILIST",
                          "draw 1: 3DPRIMITIVE.Vertex Count Per Instance = 3 ",
                          "draw 2: 3DPRIMITIVE.Vertex Count Per Instance = 6 ",
                          "draw 3: 3DSTATE_VF_TOPOLOGY.Primitive Topology Type = 5 TRISTRIP"));
}

TEST(Query, AllConditionsHoldInRecordsOfTheSameDraw) {
  const std::vector<std::string> strips = {"3DSTATE_VF_TOPOLOGY.Primitive*=TRISTRIP"};
  EXPECT_THAT(Ask("Vertex Count Per Instance", strips).rows,
              ElementsAre("draw 3: 3DPRIMITIVE.Vertex Count Per Instance = 6 "));
  EXPECT_THAT(Ask("Vertex Count Per Instance",
                  {"Primitive Topology Type=0x4", "Enable=1", "Vertex Count Per Instance=6"})
                  .rows,
              ElementsAre("draw 2: 3DPRIMITIVE.Vertex Count Per Instance = 6 "));
  EXPECT_THAT(Ask("*", {"Primitive Topology Type=TRISTRIP", "Vertex Count Per Instance=3"}).rows,
              IsEmpty());
  // Without fields, those of the conditions.
  EXPECT_THAT(Ask("", strips).rows,
              ElementsAre("draw 3: 3DSTATE_VF_TOPOLOGY.Primitive Topology Type = 5 TRISTRIP"));
}

TEST(Query, ProblemsOfStreamsAreHandedOver) {
  // The batch does not end.
  const Lines lines = Ask("3DSTATE_VF_TOPOLOGY.Primitive*", {}, false, "");
  EXPECT_THAT(lines.rows, SizeIs(3));
  EXPECT_THAT(lines.problems, SizeIs(1));
}

TEST(Query, TextThatIsNoQueryIsRefused) {
  EXPECT_THAT(std::string(ParseQuery(",", {}).status().message()), HasSubstr("names of fields"));
  for (const char* const condition : {"Enable", "=1", "Enable="}) {
    EXPECT_THAT(std::string(ParseQuery("*", {{condition}}).status().message()),
                HasSubstr("FIELD=VALUE"));
  }
}

}  // namespace
}  // namespace packsmith::query
