// SPDX-License-Identifier: MIT
// A recording that is being made as what `top` watches.
#include <utility>

#include "analysis/live/live_recording.h"
#include "cli/top/activity_page.h"
#include "cli/top/top_source.h"
#include "sources/function_names.h"

namespace fathom::cli::top {
namespace {

class RecordingSource : public TopSource {
 public:
  RecordingSource(std::string name, analysis::LiveRecording recording)
      : name_(std::move(name)), recording_(std::move(recording)) {}

  Status look(const std::string& /*inside*/) override {
    FATHOM_ASSIGN(activity_, recording_.look());
    return {};
  }
  [[nodiscard]] bool has_rates() const override { return activity_.has_rates; }
  [[nodiscard]] Page page(const std::string& inside) const override {
    return activity_page(activity_, name_, inside);
  }

 private:
  std::string name_;
  analysis::LiveRecording recording_;
  analysis::Activity activity_;
};

}  // namespace

Result<std::unique_ptr<TopSource>> watch_recording(const std::string& directory) {
  FATHOM_ASSIGN(analysis::LiveRecording recording,
                analysis::LiveRecording::open(directory, sources::function_names()));
  return std::unique_ptr<TopSource>(
      std::make_unique<RecordingSource>(directory, std::move(recording)));
}

}  // namespace fathom::cli::top
