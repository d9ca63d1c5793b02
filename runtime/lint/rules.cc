#include "runtime/lint/rules.h"

#include <iterator>
#include <map>
#include <utility>

namespace packsmith::lint {
namespace {

constexpr Severity kNote = Severity::kNote, kWarning = Severity::kWarning,
                   kError = Severity::kError;

constexpr RuleInfo kRules[] = {
    {"L101", kWarning, "reserved bits are set",
     "The manual reserves these bits: hardware, or a later generation, may give them a meaning.",
     "XML: <reserved>; PRMs: reserved fields, format MBZ"},
    {"L102", kError, "fixed bits have another value",
     "The manual gives one value for these bits; the packet's meaning is undefined with another.",
     "XML: forced=\"…\""},
    {"L103", kError, "value outside its range",
     "The manual gives the range; the hardware's behaviour is undefined outside it.",
     "XML: min=\"…\", max=\"…\", nonzero=\"true\", <group max=\"…\">"},
    {"L104", kError, "value is not a multiple",
     "The manual allows only multiples of a number here.", "XML: multiple=\"…\""},
    {"L105", kWarning, "value without a name",
     "The field's values are enumerated, and this one is not among them.",
     "XML: type=\"ENUM\" or names=\"ENUM\""},
    {"L106", kWarning, "value that must not be used",
     "The hardware has this value, but the manual says not to use it.",
     "XML: <value avoid=\"true\">"},
    {"L107", kError, "packet is too short for its fields",
     "The length field ends the packet inside fields that the hardware reads: it takes the next "
     "packet's dwords for them.",
     "XML: dwords=\"…\", length=\"…\", bias=\"…\""},
    {"L108", kError, "packet is cut off",
     "The memory, or the batch, ends inside the packet: the GPU reads what comes after it.",
     "XML: dwords=\"…\", length=\"…\""},
    {"L109", kWarning, "packet is longer than described",
     "The length field covers dwords that no form of the packet has: the hardware takes the next "
     "packet for a part of this one.",
     "XML: dwords=\"…\", <variant>"},
    {"L110", kNote, "bits that are not described are set",
     "Nothing is known of these bits: they are a mistake, or the description lacks a field.",
     "XML: no <field> has them"},
    {"L111", kError, "unknown command",
     "No packet of the stream begins like this: the hardware stops, or takes data for commands.",
     "XML: the opcodes of the stream's packets"},
    {"L112", kError, "packet of another engine",
     "The engine that reads the batch does not have this packet.", "XML: engines=\"…\""},
    {"L113", kWarning, "value is not a finite number",
     "Infinity or NaN in a field of state makes everything that is computed of it infinite or NaN.",
     "XML: type=\"float\" or type=\"half\""},
    {"L114", kError, "address is not canonical",
     "The bits above an address repeat its highest bit; with other bits the access faults.",
     "XML: address-bits=\"…\""},
    {"L115", kError, "stream cannot be followed", "Commands could not be read to their end.",
     "docs/records.md: problems"},

    {"L201", kError, "pointer to memory that is not there",
     "The dump does not have the memory that the packet needs: the GPU's access faults, or the "
     "dump "
     "is incomplete.",
     "XML: <points>"},
    {"L202", kWarning, "pointer leaves its buffer",
     "What the pointer covers ends after the end of the buffer that it begins in.",
     "XML: <points size=\"…\">, <points count=\"…\">; the dump's list of buffers"},
    {"L203", kError, "table entry outside its heap",
     "The hardware keeps offsets below the size that was set with the base: others read zeros.",
     "XML: <sets size=\"…\">"},
    {"L204", kError, "misaligned address",
     "The manual requires a multiple of this number of bytes; the low bits are ignored, or the "
     "access fails.",
     "XML: <points align=\"…\">"},
    {"L205", kError, "offset from a base that was not set",
     "No packet of the context has set the base that the offset counts from.",
     "XML: <points base=\"…\">, <sets base=\"…\">"},
    {"L206", kError, "pointer leaves its driver's zone",
     "The driver keeps these addresses for other memory: the offset has wrapped, or its base is "
     "not the one that it was made for.",
     "the driver's list of zones: --zones"},

    {"L301", kError, "state that the draw or dispatch requires is missing",
     "A new context says nothing of this state, and no packet has set it.",
     "XML: <relation kind=\"requires\"> of draws and dispatches"},
    {"L302", kWarning, "wait that a packet requires is missing",
     "The manual requires a packet that waits or flushes between the last draw or dispatch and "
     "this one.",
     "XML: <relation kind=\"requires\"> to a packet with <operation kind=\"fence\">"},
    {"L303", kWarning, "state is not committed",
     "The packet takes effect with another one that did not follow before the draw.",
     "XML: <relation kind=\"commits\">"},
    {"L304", kError, "invalidated state is not set again",
     "A packet has invalidated this state, and the draw or dispatch uses it.",
     "XML: <relation kind=\"invalidates\">"},
    {"L305", kWarning, "vertex element reads past the pitch",
     "The element ends in the next vertex's row.", "XML: <element>, <points stride=\"…\">"},
    {"L306", kError, "vertex element of a buffer that was not set",
     "No packet of the context has set the vertex buffer that the element is read from.",
     "XML: <element slot=\"…\">, <points slot=\"…\">"},
    {"L307", kWarning, "draw reads past the end of the index buffer",
     "The hardware takes zero for indices after the end.", "XML: <draws>, <points size=\"…\">"},
    {"L308", kWarning, "draw reads past the end of a vertex buffer",
     "The hardware takes zeros for vertices after the end.",
     "XML: <draws>, <element>, <points size=\"…\">"},
    {"L309", kNote, "packet that another one requires is missing",
     "The manual wants both before the same draw or dispatch: what one of them sets may not take "
     "effect alone.",
     "XML: <relation kind=\"requires\"> to a packet that is no wait"},

    {"L401", kError, "base moved without the invalidation that its readers need",
     "Caches hold what was read through the old base, and the draw may read that.",
     "XML: <client invalidate=\"…\">, <sets base=\"…\">"},

    {"L501", kWarning, "workaround: packet before is missing", "", "XML: <workaround>"},
    {"L502", kWarning, "workaround: packet after is missing", "", "XML: <workaround>"},
    {"L503", kWarning, "workaround: packet before or after is missing", "", "XML: <workaround>"},
    {"L504", kWarning, "workaround: packet is not repeated", "", "XML: <workaround>"},
    {"L505", kWarning, "workaround: stall is missing", "", "XML: <workaround>"},
    {"L506", kWarning, "workaround: field has another value", "", "XML: <workaround>"},
    {"L507", kWarning, "workaround: value is too large", "", "XML: <workaround>"},
    {"L508", kWarning, "workaround: what must be avoided is used", "", "XML: <workaround>"},

    {"L601", kNote, "packet is overwritten before any use",
     "A later packet sets all that this one did, and no draw or dispatch came between.",
     "XML: <packet>, <operation>, role=\"…\""},
    {"L602", kNote, "draw or dispatch of nothing",
     "A count that the packet states is zero: it costs time, and has no effect.",
     "XML: <draws>, means=\"groups\""},
    {"L603", kNote, "empty batch",
     "The submission ends before any command: it costs a submission, and has no effect.",
     "XML: <flow kind=\"end\">"},
};
static_assert(std::size(kRules) == static_cast<size_t>(RuleId::kEmptyBatch) + 1);

constexpr const char* kWorkaroundWhy =
    "Products of this generation have a flaw, and the workaround asks for this; the alarm names "
    "it.";

}  // namespace

absl::Span<const RuleInfo> BuiltInRules() { return kRules; }

std::vector<ListedRule> ListRules(absl::Span<const tables::Tables> generations) {
  std::map<std::string, ListedRule> all;
  for (const RuleInfo& rule : kRules) {
    ListedRule& listed = all[std::string(rule.number)];
    listed.number = std::string(rule.number);
    listed.severity = rule.severity;
    listed.title = std::string(rule.title);
    listed.why = std::string(rule.why.empty() ? kWorkaroundWhy : rule.why);
    listed.source = std::string(rule.source);
  }
  for (const tables::Tables& tables : generations) {
    for (const tables::Container& container : tables.containers()) {
      for (const tables::Rule& rule : tables.rules(container.rules)) {
        ListedRule listed;
        listed.number = std::string(tables.string(rule.number));
        listed.severity = rule.severity;
        listed.title = std::string(tables.string(container.name));
        listed.why = std::string(tables.string(rule.doc));
        listed.source = std::string(tables.string(rule.source));
        listed.declared = true;
        std::string number = listed.number;
        all.try_emplace(std::move(number), std::move(listed));
      }
    }
  }
  std::vector<ListedRule> rules;
  for (auto& [number, rule] : all) rules.push_back(std::move(rule));
  return rules;
}

absl::string_view NameOf(Severity severity) {
  constexpr absl::string_view kNames[tables::kSeverities] = {"note", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

}  // namespace packsmith::lint
