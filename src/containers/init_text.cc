// SPDX-License-Identifier: MIT
// Writes the instruction file of `fathom container init`. Values of the image are quoted as JSON,
// which every YAML parser reads back unchanged.
#include "containers/init_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace fathom::containers {
namespace {

// JSON's texts and lists are YAML's, too.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string list(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + quoted(text);
  return "[" + all + "]";
}

std::string variables(const std::vector<std::string>& environment) {
  std::string lines;
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    lines += fmt::format("#   {}: {}\n", quoted(variable.substr(0, equals)),
                         quoted(variable.substr(equals + 1)));
  }
  return lines;
}

std::string or_words(const std::string& value, const char* words) {
  return value.empty() ? words : value;
}

}  // namespace

std::string init_text(const std::string& image, const ImageFacts& facts) {
  std::string text = fmt::format(
      "# Instructions for `fathom container run`: what to run, with what, and how often.\n"
      "# Lines that begin with '#' show the image's own settings, or Fathom's defaults.\n"
      "image: {}\n"
      "# (or, without an engine, a program of this machine: command: [./app, argument])\n\n",
      quoted(image));
  text += fmt::format("# The program, and what it gets; if omitted, the image's own.\n");
  text += fmt::format("# entrypoint: {}\n# arguments: {}\n", list(facts.entrypoint),
                      list(facts.command));
  text += "# environment:  # these and those of the image\n";
  text += facts.environment.empty() ? "#   NAME: value\n" : variables(facts.environment);
  text += fmt::format("# workdir: {}\n", quoted(or_words(facts.workdir, "/")));
  text += fmt::format("# user: {}\n", quoted(or_words(facts.user, "root")));
  text += "# read_only: false  # the container's root\n# tty: false\n\n";
  text += "# Files of this machine. Data cannot be changed, and the profile has its hash.\n";
  text += "# data: {source: ./data, target: /data}\n";
  text += "# mounts:\n#   - {source: ./models, target: /models, write: false}\n";
  text += "# results: /results  # files written there appear in the folder of results\n";
  text += "# outputs: [/app/out.csv]  # files and folders that are copied out after each run\n";
  for (const std::string& volume : facts.volumes)
    text += fmt::format("# (the image keeps data in {})\n", quoted(volume));
  text += "\n# network: none  # or host, bridge, a network of yours\n";
  for (const std::string& port : facts.ports)
    text += fmt::format("# (the image listens on {})\n", quoted(port));
  text += "# runtime: runc  # or another that the engine knows\n";
  text += "# gpus: 0  # or all\n# limits: {cpu: 1.5, memory: 512M, pids: 4096, time: 10m}\n\n";
  text +=
      "# Two kinds of runs: with probes, and only from outside, which shows what probes cost.\n";
  text += "# runs: [probed, plain]\n# layers: +python  # of probed runs\n";
  text += "# count: [page-faults, context-switches]  # events of perf, in probed runs\n";
  text += "# metrics: 9100  # serve live values for Prometheus at this port of 127.0.0.1\n";
  text += "# warmup: 0\n# repetitions: 1\n";
  text += "# duration: 60s  # then SIGINT, SIGTERM and SIGKILL, with this time between them:\n";
  text += "# grace: 10s\n# name: my-application\n\n";
  text += "# When a run is a success: statuses, and a text in stdout (^ and $: a line's ends).\n";
  text += "# success: {exit: [0], output: \"done\"}\n";
  return text;
}

}  // namespace fathom::containers
