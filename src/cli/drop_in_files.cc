// SPDX-License-Identifier: MIT
#include "cli/drop_in_files.h"

#include <algorithm>
#include <memory>

#include "cli/alnair_files.h"
#include "cli/dftracer_files.h"

namespace fathom::cli {
namespace {

using session::StreamProcess;

// A process has the files of one tool. A run that is of both is one that FATHOM_OUT names, which is
// kept, so that neither settles anything.
class DropInFiles : public session::StreamTaker {
 public:
  DropInFiles(const std::string& directory, std::int64_t start_ns)
      : dftracer_(dftracer_files(directory, start_ns)),
        alnair_(alnair_files(directory, start_ns)) {}

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
  [[nodiscard]] bool keeps_recording() const override {
    return dftracer_->keeps_recording() && alnair_->keeps_recording();
  }

 private:
  [[nodiscard]] session::StreamTaker& of(const StreamProcess& process) const {
    return process.drop_in == "alnair" ? *alnair_ : *dftracer_;
  }

  std::unique_ptr<session::StreamTaker> dftracer_;
  std::unique_ptr<session::StreamTaker> alnair_;
};

}  // namespace

Result<session::StreamOutcome> write_drop_in_files(const std::string& directory) {
  FATHOM_ASSIGN(const std::int64_t start_ns, session::stream_start(directory));
  DropInFiles files(directory, start_ns);
  return session::stream_rows(directory, files);
}

}  // namespace fathom::cli
