// SPDX-License-Identifier: MIT
// Builds the `docker run` command line around a worker. The local executor does the rest; only
// cancelling differs, because a container outlives its client.
#include "fleet/executors/docker.h"

#include <fmt/format.h>

#include "fleet/executors/tool.h"

namespace fathom::fleet {
namespace {

// A container bears the work's name: whoever lost sight of the client still finds it.
std::string name_of(const std::string& id) { return "fathom-" + id; }

constexpr char kMostProcesses[] = "4096";

}  // namespace

DockerExecutor::DockerExecutor(std::string fathom, std::size_t at_once, DockerOptions options)
    : LocalExecutor(std::move(fathom), at_once), options_(std::move(options)) {}

std::vector<std::string> DockerExecutor::wrap(const std::string& id,
                                              std::vector<std::string> command) const {
  std::vector<std::string> words = {
      options_.program,   "run",          "--rm",         "--init",    "--name",
      name_of(id),        "--label",      "fathom=suite", "--network", options_.network,
      "--pids-limit",     kMostProcesses, "--cap-drop",   "ALL",       "--security-opt",
      "no-new-privileges"};
  for (const DockerOptions::Mount& mount : options_.mounts) {
    words.emplace_back("--mount");
    words.push_back(fmt::format("type=bind,source={},target={}{}", mount.source, mount.target,
                                mount.write ? "" : ",readonly"));
  }
  for (const auto& [name, value] : options_.environment) {
    words.emplace_back("--env");
    words.push_back(fmt::format("{}={}", name, value));
  }
  if (!options_.memory.empty()) words.insert(words.end(), {"--memory", options_.memory});
  if (!options_.cpus.empty()) words.insert(words.end(), {"--cpus", options_.cpus});
  words.push_back(options_.image);
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Status DockerExecutor::check() const {
  const Result<std::string> version =
      run_tool_well({options_.program, "version", "--format", "{{.Server.Version}}"});
  if (version) return {};
  return Error{Code::kUnavailable, version.error().message,
               "start the engine (systemctl start docker), or name another by 'docker.program'"};
}

// The container does not end with its client.
Status DockerExecutor::cancel(const std::string& id) {
  const auto states_now = states();
  const bool runs = states_now && states_now->contains(id) &&
                    states_now->at(id).phase != WorkPhase::kEnded &&
                    states_now->at(id).phase != WorkPhase::kWaiting;
  if (runs) (void)run_tool({options_.program, "rm", "--force", name_of(id)});
  return LocalExecutor::cancel(id);
}

}  // namespace fathom::fleet
