// SPDX-License-Identifier: MIT
// Work as builds of one job of Jenkins, which is made or brought up to date when it is first
// needed. Each build gets its command and its id as parameters; its files come back as artifacts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/executors/executor.h"
#include "fleet/executors/web.h"

namespace fathom::fleet {

struct JenkinsOptions {
  std::string url;         // "https://ci.example/jenkins"
  std::string user;        // with an API token, or a password
  std::string token_file;  // of this user alone; "": JENKINS_TOKEN of the environment
  std::string job = "fathom-suite";
  std::string label;                              // of machines that may do it; "": any
  std::string artifacts = "**";                   // files of the workspace that come back
  std::int64_t most_silence_ns = 60'000'000'000;  // of a queue item that vanished
};

// One thread at a time, as every Executor; each call waits for Jenkins, as long as `web` does.
// Builds that were not cancelled go on when this is gone.
class JenkinsExecutor : public Executor {
 public:
  JenkinsExecutor(std::unique_ptr<Web> web, std::string token, JenkinsOptions options);

  // Makes the job, or changes it to what it should be.
  Status check();
  Status submit(const std::vector<Work>& works, const std::vector<std::string>& after) override;
  [[nodiscard]] int poll_ms() const override { return 1000; }
  Result<std::map<std::string, WorkState>> states() override;
  Status cancel(const std::string& id) override;
  Result<std::string> log(const std::string& id) override;
  Status fetch(const std::string& id) override;

 private:
  struct Entry {
    std::string place;
    std::string queue_item;  // "/queue/item/7/"; "": none known
    std::int64_t build = 0;  // 0: it waits
    std::int64_t submitted_ns = 0;
    std::int64_t log_read = 0;  // bytes of the log that were taken
    std::string log;
    std::vector<std::string> artifacts;
    WorkState state;
  };
  Result<WebReply> ask(WebRequest request);
  Status take_crumb();
  Status post_build(const Work& work, Entry& entry);
  Status find_build(const std::string& id, Entry& entry);
  Result<bool> search_build(const std::string& id, Entry& entry);
  Status look_at(const std::string& id, Entry& entry);
  Status look_at_build(Entry& entry);
  Status settle_build(Entry& entry, const std::string& result, std::int64_t duration_ms);
  Status take_log(Entry& entry);
  [[nodiscard]] std::string job_path() const;
  [[nodiscard]] std::string build_path(const Entry& entry) const;

  std::unique_ptr<Web> web_;
  std::string token_;
  JenkinsOptions options_;
  std::map<std::string, std::string> crumb_;  // headers that each POST needs
  bool asked_for_crumb_ = false;
  std::map<std::string, Entry> entries_;
};

// The job as Jenkins keeps it.
[[nodiscard]] std::string jenkins_job_xml(const JenkinsOptions& options);

}  // namespace fathom::fleet
