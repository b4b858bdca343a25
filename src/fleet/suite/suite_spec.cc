// SPDX-License-Identifier: MIT
// A suite of benchmarks: which keys its file has, and what a value must be. What is the same for
// each entry stands above the list and is read by the same table of keys, as what entries begin
// with. yaml-cpp throws; nothing of that leaves this file.
#include "fleet/suite/suite_spec.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "fleet/model.h"
#include "fleet/yaml_keys.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kMostBytes = 1U << 20U;  // nobody writes a larger one by hand
constexpr char kForm[] = "see docs/suite.md for the format";

constexpr YamlRules kRules = {.hint = kForm};

class Reader : YamlKeys {
 public:
  explicit Reader(const std::string& file) : YamlKeys(file, kRules) {}

  Result<SuiteSpec> read(const YAML::Node& document) {
    SuiteSpec spec;
    SuiteEntry shared;  // what entries begin with
    std::string measure;
    YAML::Node entries;
    Keys keys = entry_keys(shared, measure);
    keys.erase("name");
    for (const char* own : {"command", "image", "arguments"}) keys.erase(own);
    keys.erase("after");
    keys["executor"] = [&](const YAML::Node& value) { return read_executor(value, spec); };
    keys["at_once"] = number_into(spec.at_once, 0);
    keys["fathom"] = text_into(spec.fathom);
    keys["benchmarks"] = [&](const YAML::Node& value) -> Status {
      if (!value.IsSequence() || value.size() == 0)
        return wrong(value, "'benchmarks' must be a list of mappings");
      entries = value;
      return {};
    };
    keys["docker"] = [&](const YAML::Node& value) { return read_docker(value, spec.docker); };
    keys["slurm"] = [&](const YAML::Node& value) { return read_slurm(value, spec.slurm); };
    keys["jenkins"] = [&](const YAML::Node& value) { return read_jenkins(value, spec.jenkins); };
    FATHOM_TRY(read_mapping(document, "a suite", keys));
    if (!entries.IsDefined() || entries.IsNull())
      return wrong(document, "'benchmarks' is missing: a list of programs to run");
    for (const auto& one : entries) FATHOM_TRY(read_entry(one, shared, measure, spec));
    FATHOM_TRY(check(document, spec));
    return spec;
  }

 private:
  Read text_into(std::string& place) const {
    return [this, &place](const YAML::Node& value) -> Status {
      FATHOM_ASSIGN(place, text(value));
      return {};
    };
  }
  Read texts_into(std::vector<std::string>& place) const {
    return [this, &place](const YAML::Node& value) -> Status {
      FATHOM_ASSIGN(place, texts(value));
      return {};
    };
  }
  [[nodiscard]] Result<std::vector<std::string>> texts(const YAML::Node& value) const {
    std::vector<std::string> all;
    if (!value.IsSequence()) {
      FATHOM_ASSIGN(std::string one, text(value));
      all.push_back(std::move(one));
      return all;
    }
    for (const auto& one : value) {
      FATHOM_ASSIGN(std::string word, text(one));
      all.push_back(std::move(word));
    }
    if (all.empty()) return wrong(value, "this list is empty");
    return all;
  }
  Read pairs_into(std::map<std::string, std::string>& place) const {
    return [this, &place](const YAML::Node& value) -> Status {
      if (!value.IsMap()) return wrong(value, "this must be a mapping of names to values");
      for (const auto& entry : value) {
        FATHOM_ASSIGN(const std::string name, text(entry.first));
        if (name.empty() || name.find('=') != std::string::npos)
          return wrong(entry.first, "not a valid variable name");
        FATHOM_ASSIGN(place[name], text(entry.second));
      }
      return {};
    };
  }

  Status read_matrix(const YAML::Node& value, Matrix& matrix) const {
    if (!value.IsMap()) return wrong(value, "'matrix' must be a mapping of names to lists");
    matrix.clear();
    std::set<std::string> names;
    for (const auto& entry : value) {
      FATHOM_ASSIGN(std::string name, text(entry.first));
      if (!is_job_name(name))
        return wrong(entry.first, "a parameter's name has letters, digits, '.', '_' and '-'");
      if (!names.insert(name).second) return wrong(entry.first, "'" + name + "' is given twice");
      FATHOM_ASSIGN(std::vector<std::string> values, texts(entry.second));
      matrix.emplace_back(std::move(name), std::move(values));
    }
    return {};
  }

  Status read_command(const YAML::Node& value, SuiteEntry& entry) const {
    FATHOM_ASSIGN(entry.command, texts(value));
    entry.by_shell = !value.IsSequence();
    if (trim(entry.command[0]).empty()) return wrong(value, "'command' is empty");
    return {};
  }

  // An image is a command of ours: `fathom container run` with its name and arguments.
  Status settle_command(const YAML::Node& node, SuiteEntry& entry, std::string& measure) const {
    if (entry.image.empty() && !entry.arguments.empty())
      return wrong(node, "'arguments' belong to an 'image'");
    if (entry.image.empty())
      return entry.command.empty() ? wrong(node, "'command' is missing, or an 'image'") : Status();
    if (!entry.command.empty()) return wrong(node, "'command' and 'image' exclude each other");
    if (!measure.empty() && measure != "nothing")
      return wrong(node, "an 'image' has a profile of its own: 'measure' must be nothing");
    measure = "nothing";
    entry.command = {entry.image};
    entry.command.insert(entry.command.end(), entry.arguments.begin(), entry.arguments.end());
    return {};
  }

  Keys entry_keys(SuiteEntry& entry, std::string& measure) const {
    Keys keys;
    keys["image"] = text_into(entry.image);
    keys["arguments"] = texts_into(entry.arguments);
    keys["name"] = text_into(entry.name);
    keys["command"] = [this, &entry](const YAML::Node& value) {
      return read_command(value, entry);
    };
    keys["job"] = [this, &entry](const YAML::Node& value) -> Status {
      FATHOM_ASSIGN(entry.job, text(value));
      return is_job_name(entry.job) ? Status() : wrong(value, "not a valid job name");
    };
    keys["measure"] = [this, &measure](const YAML::Node& value) -> Status {
      FATHOM_ASSIGN(measure, text(value));
      return measure == "bench" || measure == "profile" || measure == "nothing"
                 ? Status()
                 : wrong(value, "'measure' must be bench, profile or nothing");
    };
    keys["repetitions"] = number_into(entry.repetitions, 1);
    keys["matrix"] = [this, &entry](const YAML::Node& value) {
      return read_matrix(value, entry.matrix);
    };
    keys["after"] = texts_into(entry.after);
    keys["environment"] = pairs_into(entry.environment);
    keys["directory"] = text_into(entry.directory);
    keys["timeout"] = duration_into(entry.timeout_ns);
    return keys;
  }

  Status read_entry(const YAML::Node& node, const SuiteEntry& shared, std::string measure,
                    SuiteSpec& spec) const {
    SuiteEntry entry = shared;
    FATHOM_TRY(read_mapping(node, "a benchmark", entry_keys(entry, measure)));
    FATHOM_TRY(settle_command(node, entry, measure));
    if (entry.name.empty()) entry.name = "benchmark-" + std::to_string(spec.entries.size() + 1);
    const auto earlier = [&](const std::string& name) {
      return std::ranges::find(spec.entries, name, &SuiteEntry::name) != spec.entries.end();
    };
    if (earlier(entry.name))
      return wrong(node, "two benchmarks have the name '" + escape_control(entry.name) + "'");
    for (const std::string& name : entry.after) {
      if (!earlier(name))
        return wrong(node, "'" + escape_control(name) + "' of 'after' does not come before this");
    }
    entry.measure = measure == "bench" || (measure.empty() && !entry.job.empty())
                        ? SuiteMeasure::kBench
                    : measure == "profile" ? SuiteMeasure::kProfile
                                           : SuiteMeasure::kNothing;
    if (entry.measure != SuiteMeasure::kNothing && entry.job.empty())
      return wrong(node, "'job' is missing: where to keep what is measured");
    spec.entries.push_back(std::move(entry));
    return {};
  }

  Status read_executor(const YAML::Node& value, SuiteSpec& spec) const {
    FATHOM_ASSIGN(const std::string name, text(value));
    if (name == "local")
      spec.executor = SuiteExecutor::kLocal;
    else if (name == "docker")
      spec.executor = SuiteExecutor::kDocker;
    else if (name == "slurm")
      spec.executor = SuiteExecutor::kSlurm;
    else if (name == "jenkins")
      spec.executor = SuiteExecutor::kJenkins;
    else
      return wrong(value, "'executor' must be local, docker, slurm or jenkins");
    return {};
  }

  Status read_docker(const YAML::Node& node, DockerOptions& docker) const {
    Keys keys;
    keys["program"] = text_into(docker.program);
    keys["image"] = text_into(docker.image);
    keys["network"] = text_into(docker.network);
    keys["memory"] = text_into(docker.memory);
    keys["cpus"] = text_into(docker.cpus);
    keys["mounts"] = [&](const YAML::Node& value) -> Status {
      if (!value.IsSequence()) return wrong(value, "'mounts' must be a list of mappings");
      for (const auto& one : value) FATHOM_TRY(read_mount(one, docker));
      return {};
    };
    return read_mapping(node, "'docker'", keys);
  }

  Status read_mount(const YAML::Node& node, DockerOptions& docker) const {
    DockerOptions::Mount mount;
    Keys keys;
    keys["source"] = text_into(mount.source);
    keys["target"] = text_into(mount.target);
    keys["write"] = flag_into(mount.write);
    FATHOM_TRY(read_mapping(node, "a mount", keys));
    constexpr std::string_view kUnsafe[] = {
        "/", "/proc", "/sys", "/dev", "/var/run/docker.sock", "/run/docker.sock"};
    for (const std::string* path : {&mount.source, &mount.target}) {
      if (path->empty() || path->front() != '/' || path->find(',') != std::string::npos)
        return wrong(node, "'source' and 'target' must be absolute paths without a comma");
    }
    if (std::ranges::find(kUnsafe, mount.source) != std::end(kUnsafe) || mount.target == "/")
      return wrong(node, "a container must not have " + escape_control(mount.source));
    docker.mounts.push_back(std::move(mount));
    return {};
  }

  Status read_slurm(const YAML::Node& node, SlurmOptions& slurm) const {
    Keys keys;
    keys["partition"] = text_into(slurm.partition);
    keys["account"] = text_into(slurm.account);
    keys["time"] = text_into(slurm.time);
    keys["memory"] = text_into(slurm.memory);
    keys["cpus"] = number_into(slurm.cpus, 1);
    keys["exclusive"] = flag_into(slurm.exclusive);
    keys["requeue"] = flag_into(slurm.requeue);
    keys["lease"] = duration_into(slurm.lease_ns);
    return read_mapping(node, "'slurm'", keys);
  }

  Status read_jenkins(const YAML::Node& node, JenkinsOptions& jenkins) const {
    Keys keys;
    keys["url"] = text_into(jenkins.url);
    keys["user"] = text_into(jenkins.user);
    keys["token_file"] = text_into(jenkins.token_file);
    keys["job"] = text_into(jenkins.job);
    keys["label"] = text_into(jenkins.label);
    keys["artifacts"] = text_into(jenkins.artifacts);
    return read_mapping(node, "'jenkins'", keys);
  }

  Status check(const YAML::Node& document, SuiteSpec& spec) const {
    if (spec.executor == SuiteExecutor::kDocker && spec.docker.image.empty())
      return wrong(document, "'docker.image' is missing");
    const bool has_image =
        std::ranges::any_of(spec.entries, [](const auto& entry) { return !entry.image.empty(); });
    if (spec.executor == SuiteExecutor::kDocker && has_image)
      return wrong(document,
                   "a benchmark with an 'image' needs executor local, slurm or jenkins: it is "
                   "profiled from outside of its container");
    if (spec.executor == SuiteExecutor::kJenkins && spec.jenkins.url.empty())
      return wrong(document, "'jenkins.url' is missing");
    if (spec.executor != SuiteExecutor::kSlurm)
      spec.at_once = std::max<std::int64_t>(spec.at_once, 1);
    spec.slurm.at_once = spec.at_once;
    return {};
  }
};

// "{size}" becomes the value; what is no parameter stays.
std::string filled(std::string_view text, const Parameters& parameters, bool for_shell) {
  std::string out;
  while (!text.empty()) {
    const std::size_t brace = text.find('{');
    out += text.substr(0, brace);
    if (brace == std::string_view::npos) break;
    text.remove_prefix(brace);
    const auto named = std::ranges::find_if(parameters, [&](const auto& parameter) {
      return text.substr(1).starts_with(parameter.first + "}");
    });
    if (named == parameters.end()) {
      out += '{';
      text.remove_prefix(1);
    } else {
      out += for_shell ? shell_quote(named->second) : named->second;
      text.remove_prefix(named->first.size() + 2);
    }
  }
  return out;
}

std::vector<std::string> command_of(const SuiteEntry& entry, const Parameters& parameters) {
  if (entry.by_shell) return {"/bin/sh", "-c", filled(entry.command[0], parameters, true)};
  std::vector<std::string> words;
  for (const std::string& word : entry.command) words.push_back(filled(word, parameters, false));
  return words;
}

// All choices of one value for each name, the last name's values changing first. Empty: too many.
std::vector<Parameters> choices_of(const Matrix& matrix) {
  std::vector<Parameters> choices = {{}};
  for (const auto& [name, values] : matrix) {
    if (choices.size() * values.size() > kMostItems) return {};
    std::vector<Parameters> longer;
    for (const Parameters& choice : choices) {
      for (const std::string& value : values) {
        longer.push_back(choice);
        longer.back().emplace_back(name, value);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

}  // namespace

Result<SuiteSpec> parse_suite(std::string_view text, const std::string& where) {
  if (text.size() > kMostBytes) return Error{Code::kInvalid, where + " is not a suite", kForm};
  try {
    return Reader(where).read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    return yaml_error(where, error.mark, escape_control(error.msg), kForm);
  }
}

Result<std::vector<SuiteItem>> items_of(const SuiteSpec& spec) {
  std::vector<SuiteItem> items;
  for (std::size_t i = 0; i < spec.entries.size(); ++i) {
    const SuiteEntry& entry = spec.entries[i];
    // A benchmark's repetitions are runs of one record.
    const std::int64_t times = entry.measure == SuiteMeasure::kBench ? 1 : entry.repetitions;
    const std::vector<Parameters> choices = choices_of(entry.matrix);
    if (choices.empty() ||
        items.size() + choices.size() * static_cast<std::size_t>(times) > kMostItems)
      return Error{Code::kInvalid,
                   "the suite has more than " + std::to_string(kMostItems) + " runs",
                   "shorten a list of 'matrix', or 'repetitions'"};
    for (const Parameters& choice : choices) {
      for (std::int64_t time = 0; time < times; ++time)
        items.push_back({i, choice, time, command_of(entry, choice)});
    }
  }
  return items;
}

}  // namespace fathom::fleet
