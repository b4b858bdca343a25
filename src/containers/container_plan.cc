// SPDX-License-Identifier: MIT
// The one place where instructions become words of the engine's API: mounts, network, limits,
// devices. Structured from end to end, so that no text of a file can become an option of the
// engine. engine.cc sends it, engine_answers.cc reads what comes back.
#include "containers/container_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "containers/owner.h"
#include "containers/private_mount.h"

namespace fathom::containers {
namespace {

using nlohmann::json;

// As a structure and not as "SOURCE:TARGET:ro": a path may hold a colon. rprivate: what the
// application mounts there stays its own.
json bind_mount(const std::string& source, const std::string& target, bool write) {
  return {{"Type", "bind"},
          {"Source", source},
          {"Target", target},
          {"ReadOnly", !write},
          {"BindOptions", {{"Propagation", "rprivate"}}}};
}

json mounts_of(const ContainerPlan& plan) {
  json mounts = json::array();
  for (const Mount& mount : plan.wanted.mounts)
    mounts.push_back(bind_mount(mount.source, mount.target, mount.write));
  const Mount& data = plan.wanted.data;
  if (!data.source.empty()) mounts.push_back(bind_mount(data.source, data.target, false));
  if (!plan.results.empty()) mounts.push_back(bind_mount(plan.results, plan.wanted.results, true));
  if (!plan.gate.empty()) mounts.push_back(bind_mount(plan.gate, kPrivateTarget, false));
  return mounts;
}

// No log of the engine's own: the output comes to us, and the engine would keep all of it a second
// time on its disk.
json host_config(const ContainerPlan& plan) {
  constexpr double kNano = 1e9;
  const Instructions& wanted = plan.wanted;
  json host = {{"NetworkMode", wanted.network},
               {"Mounts", mounts_of(plan)},
               {"ReadonlyRootfs", wanted.read_only},
               {"PidsLimit", wanted.limits.pids},
               {"LogConfig", {{"Type", "none"}}}};
  if (wanted.limits.cpus > 0) host["NanoCpus"] = std::llround(wanted.limits.cpus * kNano);
  if (wanted.limits.memory > 0) host["Memory"] = wanted.limits.memory;
  if (!wanted.runtime.empty()) host["Runtime"] = wanted.runtime;
  if (wanted.gpus != 0)
    host["DeviceRequests"] = {{{"Driver", ""},
                               {"Count", wanted.gpus},
                               {"Capabilities", json::array({json::array({"gpu"})})}}};
  return host;
}

}  // namespace

// As engines do it: an entrypoint of one's own makes the image's arguments void, since they were
// meant for the image's entrypoint.
std::vector<std::string> command_of(const Instructions& wanted, const ImageFacts& image) {
  const bool own_entry = !wanted.entrypoint.empty();
  std::vector<std::string> words = own_entry ? wanted.entrypoint : image.entrypoint;
  const std::vector<std::string>& arguments =
      own_entry || !wanted.arguments.empty() ? wanted.arguments : image.command;
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::vector<std::string> environment_of(const Instructions& wanted, const ImageFacts& image) {
  std::vector<std::string> all = image.environment;
  for (const auto& [name, value] : wanted.environment) {
    const std::string prefix = name + "=";
    const auto known =
        std::ranges::find_if(all, [&](const std::string& one) { return one.starts_with(prefix); });
    if (known != all.end()) {
      *known = prefix + value;
    } else {
      all.push_back(prefix + value);
    }
  }
  return all;
}

// By the image's id, not its name: all runs are of one image, even if the name means another one by
// now. With a gate, the gate is the first process, and the application its arguments.
std::string create_body(const ContainerPlan& plan) {
  const Instructions& wanted = plan.wanted;
  json environment = json::array();
  for (const auto& [name, value] : wanted.environment)
    environment.push_back(fmt::format("{}={}", name, value));
  json body = {{"Image", plan.image.id},
               {"Env", std::move(environment)},
               {"Tty", wanted.tty},
               {"AttachStdout", true},
               {"AttachStderr", true},
               {"OpenStdin", false},
               {"Labels", {{kOwnerLabel, own_mark()}}},
               {"HostConfig", host_config(plan)}};
  if (!wanted.workdir.empty()) body["WorkingDir"] = wanted.workdir;
  if (!wanted.user.empty()) body["User"] = wanted.user;
  if (!plan.gate.empty()) {
    body["Entrypoint"] = {join_path(kPrivateTarget, "gate"), join_path(kPrivateTarget, "door")};
    body["Cmd"] = command_of(wanted, plan.image);
  } else {
    if (!wanted.entrypoint.empty()) body["Entrypoint"] = wanted.entrypoint;
    if (!wanted.arguments.empty()) body["Cmd"] = wanted.arguments;
  }
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace fathom::containers
