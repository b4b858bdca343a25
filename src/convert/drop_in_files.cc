// SPDX-License-Identifier: MIT
// Chooses between DFTracer's and Alnair's writers for each process, and decides whether the
// recording is needed any longer.
#include "convert/drop_in_files.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "convert/alnair_files.h"
#include "convert/dftracer_files.h"

namespace fathom::convert {
namespace {

using session::StreamProcess;

// What a process says in the spool, as lines `key=value`.
// The settings are any bytes of a spool: the first such line counts.
std::string_view told_log(std::string_view settings) {
  constexpr std::string_view kKey = "log=";
  for (const std::string_view line : split(settings, '\n')) {
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  }
  return {};
}

// A process has the files of one tool. A run that is of both is one that FATHOM_OUT names, which is
// kept, so that neither settles anything.
class DropInFiles : public session::RowConsumer {
 public:
  DropInFiles(session::DropInWishes wishes, DropInOptions options, std::int64_t start_ns)
      : wishes_(std::move(wishes)), options_(std::move(options)) {
    const auto place = [this](const StreamProcess& process) { return place_of(process); };
    dftracer_ = dftracer_files(wishes_.path_for("dftracer"), start_ns, place);
    alnair_ = alnair_files(wishes_.path_for("alnair"), start_ns, place);
  }

  Status take(const StreamProcess& process, const trace::EventBatch& events,
              const std::vector<std::size_t>& rows, const trace::Strings& strings) override {
    return of(process).take(process, events, rows, strings);
  }
  Status settle(std::uint64_t n, const std::string& ahead) override {
    FATHOM_TRY(dftracer_->settle(n, ahead));
    return alnair_->settle(n, ahead);
  }
  [[nodiscard]] std::string ahead() const override { return alnair_->ahead(); }
  [[nodiscard]] std::uint64_t first_log() const override {
    return std::max(dftracer_->first_log(), alnair_->first_log());
  }
  Status complete(const StreamProcess& process, bool in_order) override {
    return of(process).complete(process, in_order);
  }
  [[nodiscard]] std::int64_t wants_every(const StreamProcess& process) const override {
    return of(process).wants_every(process);
  }
  Status refresh() override { return alnair_->refresh(); }
  [[nodiscard]] bool keeps_recording() const override { return !wishes_.hidden() || missing_; }
  void over() override { wishes_.remove(); }

  [[nodiscard]] bool some_missing() const { return missing_; }

 private:
  [[nodiscard]] session::RowConsumer& of(const StreamProcess& process) const {
    return process.drop_in == "alnair" ? *alnair_ : *dftracer_;
  }

  // What the spool says is believed where the process has said the same to its own user.
  std::optional<DropInPlace> place_of(const StreamProcess& process) {
    const std::string& named = process.drop_in == "alnair" ? options_.alnair : options_.dftracer;
    if (!named.empty()) return DropInPlace{.log = named, .by_hand = true};
    const std::string_view told = told_log(process.settings);
    if (wishes_.holds(process.drop_in, told)) return DropInPlace{.log = std::string(told)};
    missing_ = true;
    return std::nullopt;
  }

  session::DropInWishes wishes_;
  DropInOptions options_;
  bool missing_ = false;
  std::unique_ptr<session::RowConsumer> dftracer_;
  std::unique_ptr<session::RowConsumer> alnair_;
};

}  // namespace

Result<DropInOutcome> write_drop_in_files(const std::string& directory,
                                          const session::DropInWishes& wishes,
                                          const DropInOptions& options) {
  FATHOM_ASSIGN(const std::int64_t start_ns, session::stream_start(directory));
  DropInFiles files(wishes, options, start_ns);
  FATHOM_ASSIGN(const session::StreamOutcome outcome,
                session::stream_rows(directory, files, options.ended));
  return DropInOutcome{.stream = outcome, .some_missing = files.some_missing()};
}

}  // namespace fathom::convert
