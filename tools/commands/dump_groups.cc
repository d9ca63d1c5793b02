#include "tools/commands/dump_groups.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/progress.h"
#include "runtime/base/unicode.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/names_sink.h"
#include "runtime/decode/sinks/overview_sink.h"
#include "runtime/decode/sinks/stats_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_sink.h"
#include "runtime/hang/report_text.h"
#include "runtime/html/page.h"
#include "runtime/query/query.h"
#include "tools/commands/formats.h"
#include "tools/commands/hang.h"
#include "tools/failures.h"
#include "tools/kernels.h"
#include "tools/output.h"
#include "tools/progress_sink.h"
#include "tools/query_rows.h"

namespace packsmith::commands {
namespace {

using tools::Then;

// Decodes dumps of one GPU after the other, all to one output.
class Groups {
 public:
  Groups(const Arguments& arguments, const Plan& plan, std::vector<std::string> read_files,
         const std::vector<hang::Event>& events, tools::Inputs& inputs, DescribeDump describe)
      : arguments_(arguments),
        options_(plan.options),
        filter_(plan.filter),
        fail_on_(plan.fail_on),
        read_files_(std::move(read_files)),
        events_(events),
        inputs_(inputs),
        describe_(std::move(describe)),
        format_(FactsOf(arguments.format)),
        text_(format_.format == Format::kText),
        color_(text_ && tools::UseColor(arguments.color, arguments.output)),
        disassembler_(arguments.disassembler) {}

  // The exit code.
  int DecodeAll() {
    absl::Status status;
    do {
      gpu_.reset();
      overview_text_.clear();
      any_hang_ = false;
      const bool first_pass = text_ && !arguments_.questions.IsList();
      if ((first_pass || arguments_.questions.IsOne()) && !LookOver()) continue;
      status = Decode();
    } while (status.ok() && inputs_.NextGroup());
    if (status.ok() && arguments_.questions.IsOne() && any_ && output_ == nullptr) {
      Complain(arguments_.questions.Missing(draws_, dispatches_).message());
      return kWrongUsage;
    }
    if (inputs_.failed() || output_ == nullptr) result_ = kNotDecoded;
    for (const std::string& reason : reasons_) Complain(reason);
    if (const std::string failures = disassembler_.Failures(); !failures.empty()) {
      Complain(failures);
    }
    if (status.ok() && kernels_ != nullptr) status = kernels_->status();
    if (page_ != nullptr) page_->Finish();
    if (status.ok() && output_ != nullptr) status = output_->Finish();
    if (status.ok()) return result_;
    Complain(status.message());
    return kNotDecoded;
  }

 private:
  // The sinks that records go through, the last one first.
  struct Sinks {
    std::unique_ptr<decode::Sink> writer, kernels, filtered, reporting, progress;
    decode::UndescribedSeen undescribed;
    decode::Sink* first = nullptr;

    void Put(std::unique_ptr<decode::Sink>& place, std::unique_ptr<decode::Sink> sink) {
      place = std::move(sink);
      first = place.get();
    }
  };

  // Whether the dump is of the same GPU as those before it in the group.
  Then Join(Dump& dump, const std::string& path) {
    const absl::StatusOr<tables::Tables> tables = describe_(dump, path, gpu_ ? gpu_ : before_);
    if (!tables.ok()) return Then::kRefuse;
    if (gpu_ && !gpu_->IsSame(*tables, dump.device)) return Then::kLater;
    if (!gpu_) gpu_ = tools::Gpu{*tables, dump.device};
    before_ = gpu_;
    return Then::kGoOn;
  }

  // The first pass collects the overview and the places of the draws. False: nothing of the group
  // is shown.
  bool LookOver() {
    decode::OverviewSink overview;
    arguments_.questions.Ask(draws_, dispatches_, overview);
    decode::Options brief = options_;
    brief.brief = true;
    std::unique_ptr<decode::Decoder> decoder;
    inputs_.ForEach(true, [&](Dump& dump, const std::string& path) {
      const Then then = Join(dump, path);
      if (then != Then::kGoOn) return then;
      if (decoder == nullptr) {
        decoder = std::make_unique<decode::Decoder>(gpu_->tables, overview, brief);
      }
      decoder->Decode(dump);
      any_hang_ |= dump.error_state != nullptr;
      return Then::kGoOn;
    });
    if (decoder == nullptr) return false;
    any_ = true;
    decoder->Finish();
    overview_text_ = overview.Text(!arguments_.no_offsets);
    if (!arguments_.questions.IsOne()) return true;
    overview.Select(filter_);
    // Earlier packets are shown again, below the draw that was asked for.
    if (!options_.brief) filter_.packets.clear();
    if (filter_.draw) return true;
    draws_ += overview.draws();
    dispatches_ += overview.dispatches();
    return false;
  }

  // The sink that writes records.
  void MakeWriter(Sinks& sinks) {
    switch (format_.format) {
      case Format::kText:
        sinks.Put(sinks.writer, decode::MakeTextSink(*output_, OptionsOfText(sinks)));
        return;
      case Format::kJsonl:
        sinks.Put(sinks.writer, decode::MakeJsonlSink(
                                    *output_, {arguments_.strict, &sinks.undescribed, next_id_}));
        return;
      case Format::kStats:
        sinks.Put(sinks.writer, decode::MakeStatsSink(*output_));
        return;
      case Format::kNames:
        sinks.Put(sinks.writer, decode::MakeNamesSink(*output_, {!arguments_.no_offsets}));
        return;
      case Format::kHtml:
        if (page_ == nullptr) page_ = html::MakePage(*output_, {NamesOfFiles()});
        sinks.first = page_.get();
        return;
      case Format::kCsv:
      case Format::kMarkdown:
      case Format::kCpp:
      case Format::kC:
        break;  // They have no records.
    }
  }

  // Of the inputs, without their folders. They may hold names that nobody else should read.
  std::vector<std::string> NamesOfFiles() const {
    std::vector<std::string> names;
    if (arguments_.redact) return names;
    for (const std::string& path : arguments_.files) {
      names.push_back(path.substr(path.rfind('/') + 1));
    }
    return names;
  }

  decode::TextOptions OptionsOfText(Sinks& sinks) {
    decode::TextOptions options;
    // For a hang the report comes first, then the overview.
    if (!any_hang_ || !filter_.all()) options.overview = std::exchange(overview_text_, "");
    options.color = color_;
    options.hide_zero_fields = arguments_.hide_zero;
    options.offsets = !arguments_.no_offsets;
    options.undescribed = arguments_.strict;
    options.undescribed_seen = &sinks.undescribed;
    if (!arguments_.disassembler.empty()) {
      options.about_kernel = [this](const decode::Record& record) {
        return disassembler_.Text(record);
      };
    }
    return options;
  }

  void MakeSinks(Sinks& sinks) {
    if (arguments_.questions.IsList()) {
      // Only the list is written.
      if (arguments_.questions.IsQuery() && rows_ == nullptr) {
        rows_ = tools::MakeQueryRows(*output_, arguments_.format);
      }
      sinks.Put(sinks.writer,
                arguments_.questions.MakeSink(*output_, rows_.get(), arguments_.format));
      return;
    }
    MakeWriter(sinks);
    if (!arguments_.kernels.empty()) {
      if (kernels_ == nullptr) {
        kernels_ = std::make_unique<tools::KernelFiles>(arguments_.kernels, read_files_);
      }
      sinks.Put(sinks.kernels, std::make_unique<tools::KernelSink>(*sinks.first, *kernels_));
    }
    if (!filter_.all()) sinks.Put(sinks.filtered, decode::MakeFilterSink(*sinks.first, filter_));
    // The report precedes the rest of a dump's output, unless only a part of the dump was asked
    // for.
    if (format_.report == FormatFacts::Report::kNone || !filter_.all()) return;
    const auto report = [this](const tables::Tables& tables, const Dump& dump) {
      const hang::HangReport report =
          hang::MakeHangReport(tables, dump, EventsOf(arguments_, events_, dump, path_));
      if (format_.report == FormatFacts::Report::kJsonLines) {
        return JsonWithHiddenEscaped(hang::ToJson(tables, report) +
                                     hang::FactsToJson(*dump.error_state));
      }
      return hang::ToText(tables, report, color_) + std::exchange(overview_text_, "") +
             hang::FactsToText(*dump.error_state);
    };
    sinks.Put(sinks.reporting, hang::MakeHangSink(*sinks.first, report));
  }

  // The output is opened when there is something to write.
  absl::Status Start(const std::string& path) {
    if (output_ == nullptr) {
      absl::StatusOr<std::unique_ptr<tools::CliOutput>> output = Open(arguments_);
      if (!output.ok()) return output.status();
      output_ = *std::move(output);
      return absl::OkStatus();
    }
    Complain(absl::StrCat("note: ", path, " is from another GPU (", gpu_->tables.title(),
                          ") than the files before it, and is decoded separately"));
    if (!format_.names_device) {
      output_->Append(absl::StrCat("\ndevice  ", decode::Harmless(gpu_->tables.title()), "\n"));
    } else if (text_) {
      output_->Append("\n");
    }
    return absl::OkStatus();
  }

  // Writes the group to the output.
  absl::Status Decode() {
    Sinks sinks;
    std::unique_ptr<decode::Decoder> decoder;
    tools::IndexOrder order;
    absl::Status status;
    inputs_.ForEach(false, [&](Dump& dump, const std::string& path) {
      const Then then = Join(dump, path);
      if (then != Then::kGoOn) return then;
      if (decoder == nullptr) {
        status = Start(path);
        if (!status.ok()) return Then::kStop;
        MakeSinks(sinks);
        decode::Options options = options_;
        options.first_id = next_id_;
        options.draws_before = draws_;
        options.dispatches_before = dispatches_;
        arguments_.questions.Set(options);
        if (ShowsProgress()) {
          sinks.Put(sinks.progress, std::make_unique<tools::ProgressSink>(*sinks.first));
        }
        options.leads |= format_.format == Format::kHtml;
        decoder = std::make_unique<decode::Decoder>(gpu_->tables, *sinks.first, options);
      }
      // A path may hold names that nobody else should read.
      const std::string name =
          arguments_.redact ? absl::StrCat("file ", ++files_) : std::string(path);
      if (const std::string note = order.Add(dump, name); !note.empty()) {
        Complain("note: " + note);
        sinks.first->OnRemark(note, false);
      }
      if (const std::string remark = inputs_.RemarkOf(path); !remark.empty()) {
        sinks.first->OnRemark(remark, false);
      }
      path_ = path;
      decoder->Decode(dump);
      return Then::kGoOn;
    });
    if (!status.ok() || decoder == nullptr) return status;
    // The summary is the last record of a GPU, and the second to last line of its text.
    if (format_.format == Format::kJsonl) {
      const auto failures = tools::FailuresOf(decoder->summary(), sinks.undescribed, fail_on_);
      sinks.writer->OnInsert(tools::FailuresJson(failures));
    }
    const decode::Summary summary = decoder->Finish();
    next_id_ = decoder->next_id();
    draws_ += summary.draws;
    dispatches_ += summary.dispatches;
    const auto failures = tools::FailuresOf(summary, sinks.undescribed, fail_on_);
    if (failures.empty()) return absl::OkStatus();
    result_ = kNotDecoded;
    reasons_.push_back(tools::FailuresText(failures, !arguments_.no_offsets));
    if (text_) output_->Append(reasons_.back() + "\n");
    return absl::OkStatus();
  }

  const Arguments& arguments_;
  const decode::Options options_;
  decode::Filter filter_;
  const tools::FailOn fail_on_;
  const std::vector<std::string> read_files_;
  const std::vector<hang::Event>& events_;
  tools::Inputs& inputs_;
  const DescribeDump describe_;
  const FormatFacts& format_;
  const bool text_, color_;
  tools::Disassembler disassembler_;
  std::unique_ptr<tools::KernelFiles> kernels_;
  std::unique_ptr<tools::CliOutput> output_;
  // Of all groups; they write to the output.
  std::unique_ptr<html::Page> page_;
  std::unique_ptr<query::Rows> rows_;
  std::vector<std::string> reasons_;  // for exit code 1
  int result_ = kGood;
  bool any_ = false;    // whether a first pass decoded anything
  uint64_t draws_ = 0;  // of the groups so far
  uint64_t dispatches_ = 0;
  uint64_t next_id_ = 0;              // of the next group's first record
  uint64_t files_ = 0;                // that have been decoded
  std::optional<tools::Gpu> before_;  // of the previous dump

  // Of the current group.
  std::optional<tools::Gpu> gpu_;
  std::string overview_text_;
  std::string path_;  // of the dump that is decoded
  bool any_hang_ = false;
};

}  // namespace

int DecodeGroups(const Arguments& arguments, const Plan& plan, std::vector<std::string> read_files,
                 const std::vector<hang::Event>& events, tools::Inputs& inputs,
                 DescribeDump describe) {
  return Groups(arguments, plan, std::move(read_files), events, inputs, std::move(describe))
      .DecodeAll();
}

}  // namespace packsmith::commands
