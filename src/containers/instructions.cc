// SPDX-License-Identifier: MIT
// The keys of an instruction file, and what their values must be. Whatever an engine would refuse,
// or understand as something else, is refused here: a file is wrong before anything was started.
// yaml-cpp throws; nothing of that leaves this file.
#include "containers/instructions.h"

#include <fcntl.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>

#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"
#include "containers/safe_mount.h"
#include "containers/second_document.h"
#include "containers/text_finder.h"
#include "fleet/http/listen_address.h"
#include "fleet/yaml_keys.h"
#include "session/event_options.h"
#include "session/layer_plan.h"

namespace fathom::containers {
namespace {

constexpr std::size_t kMostBytes = 1U << 20U;  // of a file; nobody writes a larger one by hand
constexpr std::size_t kMostOutputs = 100;
constexpr std::int64_t kLongest = std::int64_t{365} * 86'400 * 1'000'000'000;  // of a duration
constexpr char kForm[] = "see docs/containers.md for the format";

constexpr KeyName kKeys[] = {
    {"", "image"},      {"", "arguments"},    {"", "entrypoint"},   {"", "environment"},
    {"", "workdir"},    {"", "user"},         {"", "read_only"},    {"", "tty"},
    {"", "mounts"},     {"", "data"},         {"", "results"},      {"", "limits"},
    {"", "network"},    {"", "gpus"},         {"", "name"},         {"", "layers"},
    {"", "runs"},       {"", "warmup"},       {"", "repetitions"},  {"", "duration"},
    {"", "grace"},      {"mounts", "source"}, {"mounts", "target"}, {"mounts", "write"},
    {"data", "source"}, {"data", "target"},   {"limits", "cpu"},    {"limits", "memory"},
    {"limits", "pids"}, {"limits", "time"},   {"", "runtime"},      {"", "success"},
    {"", "outputs"},    {"", "command"},      {"success", "exit"},  {"success", "output"},
    {"", "count"},      {"", "metrics"},
};

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// What engines take for names of containers and networks: no option, no word of theirs with a
// colon.
bool is_plain_name(std::string_view text) {
  constexpr std::size_t kMost = 128;
  return !text.empty() && text.size() <= kMost && is_alnum(text[0]) &&
         std::ranges::all_of(
             text, [](char c) { return is_alnum(c) || c == '_' || c == '.' || c == '-'; });
}

bool is_user(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (!is_plain_name(text.substr(0, colon))) return false;
  return colon == std::string_view::npos || is_plain_name(text.substr(colon + 1));
}

bool is_path(std::string_view text) { return text.starts_with('/'); }

bool is_target(std::string_view text) { return check_target(std::string(text)).has_value(); }

// Instructions may come from somebody else, and what they say goes to an engine and into files.
constexpr fleet::YamlRules kRules = {
    .hint = kForm, .utf8 = true, .values = true, .suggestions = true};

class Reader : fleet::YamlKeys {
 public:
  Reader(const std::string& file, const InstructionOrigin& origin)
      : YamlKeys(file, kRules), origin_(origin) {}

  // What stands behind "---" would be overlooked.
  [[nodiscard]] Error only_one(const YAML::Mark& second) const {
    return wrong(second, "a file has the instructions for one application");
  }

  Result<Instructions> read(const YAML::Node& document) {
    if (!document.IsMap()) return wrong(document, "instructions are a mapping of keys to values");
    Instructions all;
    FATHOM_TRY(read_mapping(document, "", keys_of(all)));
    if (all.image.empty() && all.command.empty())
      return wrong(document, "'image' is missing, or a 'command'");
    FATHOM_TRY(check_command(document, all));
    FATHOM_TRY(check_outputs(document, all));
    return all;
  }

 private:
  // Without an engine there is nobody to do what these ask for.
  Status check_command(const YAML::Node& document, Instructions& all) const {
    if (all.command.empty()) return {};
    constexpr std::string_view kOfAnEngine[] = {"arguments", "entrypoint", "user",   "read_only",
                                                "tty",       "mounts",     "data",   "results",
                                                "network",   "gpus",       "runtime"};
    for (const auto& entry : document) {
      const std::string& key = entry.first.Scalar();
      if (key == "image") return wrong(entry.first, "'command' and 'image' exclude each other");
      if (std::ranges::find(kOfAnEngine, key) != std::end(kOfAnEngine))
        return wrong(entry.first, "'" + key + "' needs an 'image': a 'command' has no engine");
      if (key != "limits") continue;
      for (const auto& limit : entry.second) {
        if (limit.first.Scalar() != "time")
          return wrong(limit.first,
                       "'" + limit.first.Scalar() +
                           "' needs an 'image': a 'command' has a limit of time alone");
      }
    }
    if (all.workdir.empty()) all.workdir = origin_.folder;
    return {};
  }

  // Inside a container they are absolute; of a command they lie below its folder.
  Status check_outputs(const YAML::Node& document, Instructions& all) const {
    for (std::size_t i = 0; i < all.outputs.size(); ++i) {
      const YAML::Node at = document["outputs"][i];
      std::string& path = all.outputs[i];
      FATHOM_ASSIGN(const std::string plain,
                    absolute_path(all.command.empty() ? path : "/" + path));
      if (all.command.empty() && !check_target(path))
        return wrong(at, "this must be a path inside the container");
      if (!all.command.empty() && (path.starts_with('/') || plain == "/" || leads_up(path)))
        return wrong(at, "this must be a path below 'workdir'");
      path = all.command.empty() ? plain : plain.substr(1);
      if (std::find(all.outputs.begin(), all.outputs.begin() + static_cast<std::ptrdiff_t>(i),
                    path) != all.outputs.begin() + static_cast<std::ptrdiff_t>(i))
        return wrong(at, "this path is given twice");
    }
    return {};
  }

  static bool leads_up(std::string_view path) {
    return std::ranges::any_of(split(path, '/'),
                               [](std::string_view part) { return part == ".."; });
  }

  Status read_command(const YAML::Node& value, Instructions& all) const {
    FATHOM_TRY(texts_into(all.command)(value));
    if (all.command.empty() || all.command[0].empty())
      return wrong(value, "'command' must be a list that begins with a program");
    return {};
  }

  // A text that `fits`; else the words.
  Read text_into(std::string& place, std::function<bool(std::string_view)> fits,
                 std::string words) const {
    return [this, &place, fits = std::move(fits),
            words = std::move(words)](const YAML::Node& value) -> Status {
      FATHOM_ASSIGN(place, text(value));
      return fits(place) ? Status() : wrong(value, words);
    };
  }

  Read texts_into(std::vector<std::string>& place) const {
    return [this, &place](const YAML::Node& value) -> Status {
      if (!value.IsSequence()) return wrong(value, "this must be a list of texts");
      for (const auto& one : value) {
        FATHOM_ASSIGN(std::string word, text(one));
        place.push_back(std::move(word));
      }
      return {};
    };
  }

  Read cores_into(double& place) const {
    return [this, &place](const YAML::Node& value) -> Status {
      constexpr double kLeast = 0.01;
      constexpr double kMost = 10'000;
      FATHOM_ASSIGN(const std::string word, text(value));
      const char* const end = word.data() + word.size();
      const auto [at, failed] = std::from_chars(word.data(), end, place);
      if (failed != std::errc() || at != end || !(place >= kLeast && place <= kMost))
        return wrong(value, "this must be a number of cores, such as 0.5");
      return {};
    };
  }

  Read size_into(std::uint64_t& place) const {
    return [this, &place](const YAML::Node& value) -> Status {
      constexpr std::uint64_t kLeast = std::uint64_t{6} << 20U;  // the engine's own
      constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
      FATHOM_ASSIGN(const std::string word, text(value));
      const Result<std::uint64_t> bytes = parse_bytes(word);
      if (!bytes || *bytes < kLeast || *bytes > kMost)
        return wrong(value, "this must be a size of at least 6M, such as 512M or 2G");
      place = *bytes;
      return {};
    };
  }

  Status read_environment(const YAML::Node& value, Instructions& all) const {
    if (!value.IsMap()) return wrong(value, "'environment' must be a mapping of names to texts");
    std::set<std::string> seen;
    for (const auto& entry : value) {
      FATHOM_ASSIGN(std::string name, text(entry.first));
      const bool fits = !name.empty() && std::ranges::none_of(name, [](char c) {
        return c == '=' || c == ' ' || static_cast<unsigned char>(c) < ' ' || c == '\x7f';
      });
      if (!fits) return wrong(entry.first, "not a valid variable name");
      if (!seen.insert(name).second)
        return wrong(entry.first, "'" + escape_control(name) + "' is given twice");
      FATHOM_ASSIGN(std::string content, text(entry.second));
      all.environment.emplace_back(std::move(name), std::move(content));
    }
    return {};
  }

  // `at` bears the line that is told for all of it.
  Status settle_mount(const YAML::Node& at, Mount& mount) const {
    if (mount.source.empty()) return wrong(at, "'source' is missing");
    if (mount.target.empty()) return wrong(at, "'target' is missing");
    const bool is_absolute = mount.source.starts_with('/');
    const std::string path = is_absolute ? mount.source : join_path(origin_.folder, mount.source);
    Result<std::string> source = safe_source(path, origin_.engine_socket);
    if (!source) return wrong(at, source.error().message);
    const Status target = check_target(mount.target);
    if (!target) return wrong(at, target.error().message);
    mount.source = std::move(*source);
    return {};
  }

  [[nodiscard]] Keys mount_keys(Mount& mount) const {
    const auto any = [](std::string_view) { return true; };
    Keys keys;
    keys["source"] = text_into(mount.source, any, "");
    keys["target"] = text_into(mount.target, any, "");
    return keys;
  }

  Status read_mounts(const YAML::Node& value, Instructions& all) const {
    if (!value.IsSequence()) return wrong(value, "'mounts' must be a list of mappings");
    for (const auto& one : value) {
      Mount mount;
      Keys keys = mount_keys(mount);
      keys["write"] = flag_into(mount.write);
      FATHOM_TRY(read_mapping(one, "'mounts'", keys));
      FATHOM_TRY(settle_mount(one, mount));
      all.mounts.push_back(std::move(mount));
    }
    return {};
  }

  Status read_data(const YAML::Node& value, Instructions& all) const {
    FATHOM_TRY(read_mapping(value, "'data'", mount_keys(all.data)));
    return settle_mount(value, all.data);
  }

  Status read_limits(const YAML::Node& value, Instructions& all) const {
    Keys keys;
    keys["cpu"] = cores_into(all.limits.cpus);
    keys["memory"] = size_into(all.limits.memory);
    keys["pids"] = number_into(all.limits.pids, 1);
    keys["time"] = duration_into(all.limits.time_ns, kLongest);
    return read_mapping(value, "'limits'", keys);
  }

  Status read_exits(const YAML::Node& value, Instructions& all) const {
    constexpr std::int64_t kHighest = 255;
    if (!value.IsSequence() || value.size() == 0)
      return wrong(value, "'exit' must be a list of exit statuses, such as [0, 3]");
    for (const auto& one : value) {
      FATHOM_ASSIGN(const std::string word, text(one));
      const Result<std::int64_t> status = parse_int(word);
      if (!status || *status < 0 || *status > kHighest)
        return wrong(one, "an exit status is a whole number from 0 to 255");
      all.success.exits.push_back(static_cast<int>(*status));
    }
    return {};
  }

  Status read_success(const YAML::Node& value, Instructions& all) const {
    Keys keys;
    keys["exit"] = [this, &all](const YAML::Node& at) { return read_exits(at, all); };
    keys["output"] = text_into(all.success.output, is_findable,
                               "'output' must be a text of 1 to 1024 bytes beside '^' and '$'");
    FATHOM_TRY(read_mapping(value, "'success'", keys));
    if (!all.success.is_asked_for()) return wrong(value, "'success' has 'exit', 'output' or both");
    return {};
  }

  Status read_layers(const YAML::Node& value, Instructions& all) const {
    FATHOM_ASSIGN(all.layers, text(value));
    const auto anything = [](std::string_view) { return sources::Availability(); };
    const Result<session::LayerPlan> plan = session::plan_layers(all.layers, anything);
    return plan ? Status() : wrong(value, plan.error().message);
  }

  Status read_runs(const YAML::Node& value, Instructions& all) const {
    std::vector<std::string> words;
    FATHOM_TRY(texts_into(words)(value));
    all.runs.clear();
    for (const std::string& word : words) {
      const RunKind kind = word == "probed" ? RunKind::kProbed : RunKind::kPlain;
      if ((word != "probed" && word != "plain") ||
          std::ranges::find(all.runs, kind) != all.runs.end())
        return wrong(value, "'runs' has 'probed', 'plain' or both");
      all.runs.push_back(kind);
    }
    std::ranges::sort(all.runs);
    return all.runs.empty() ? wrong(value, "'runs' is empty") : Status();
  }

  Status read_gpus(const YAML::Node& value, Instructions& all) const {
    if (value.IsScalar() && value.Scalar() == "all") {
      all.gpus = kAllGpus;
      return {};
    }
    return number_into(all.gpus, 0)(value);
  }

  // A list of 1 to `most` texts; else the words.
  Read some_texts_into(std::vector<std::string>& place, std::size_t most, std::string words) const {
    return [this, &place, most, words = std::move(words)](const YAML::Node& value) -> Status {
      if (!value.IsSequence() || value.size() == 0 || value.size() > most)
        return wrong(value, words);
      return texts_into(place)(value);
    };
  }

  Status read_count(const YAML::Node& value, Instructions& all) const {
    constexpr std::size_t kMost = 32;
    FATHOM_TRY(some_texts_into(all.count, kMost,
                               "'count' must be a list of 1 to 32 events of perf")(value));
    for (std::size_t i = 0; i < all.count.size(); ++i) {
      const Status known = session::check_counted(all.count[i]);
      if (all.count[i].empty()) return wrong(value[i], "an event needs a name");
      if (!known) return wrong(value[i], escape_control(known.error().message));
    }
    return {};
  }

  Keys keys_of(Instructions& all) const {
    Keys keys;
    keys["image"] = text_into(all.image, is_image_name, "not a valid image name");
    keys["command"] = [this, &all](const YAML::Node& at) { return read_command(at, all); };
    keys["arguments"] = texts_into(all.arguments);
    keys["entrypoint"] = texts_into(all.entrypoint);
    keys["environment"] = [this, &all](const YAML::Node& at) { return read_environment(at, all); };
    keys["workdir"] = text_into(all.workdir, is_path, "'workdir' must be an absolute path");
    keys["user"] = text_into(all.user, is_user, "not a valid user: a name or number, [:GROUP]");
    keys["read_only"] = flag_into(all.read_only);
    keys["tty"] = flag_into(all.tty);
    keys["mounts"] = [this, &all](const YAML::Node& at) { return read_mounts(at, all); };
    keys["data"] = [this, &all](const YAML::Node& at) { return read_data(at, all); };
    keys["results"] =
        text_into(all.results, is_target, "'results' must be a path inside the container");
    keys["outputs"] =
        some_texts_into(all.outputs, kMostOutputs, "'outputs' must be a list of 1 to 100 paths");
    keys["limits"] = [this, &all](const YAML::Node& at) { return read_limits(at, all); };
    keys["network"] = text_into(all.network, is_plain_name,
                                "not a valid network name: none, host, bridge or one of yours");
    keys["gpus"] = [this, &all](const YAML::Node& at) { return read_gpus(at, all); };
    keys["runtime"] =
        text_into(all.runtime, is_plain_name,
                  "not a valid runtime name: one that the engine knows, such as runc or crun");
    keys["success"] = [this, &all](const YAML::Node& at) { return read_success(at, all); };
    keys["name"] = text_into(
        all.name, is_plain_name,
        "a name has letters, digits, '.', '_' and '-', and begins with one of the first two");
    keys["layers"] = [this, &all](const YAML::Node& at) { return read_layers(at, all); };
    keys["count"] = [this, &all](const YAML::Node& at) { return read_count(at, all); };
    keys["metrics"] = text_into(all.metrics, is_metrics_place,
                                "'metrics' must be a port, or an address and a port");
    keys["runs"] = [this, &all](const YAML::Node& at) { return read_runs(at, all); };
    keys["warmup"] = number_into(all.warmup, 0);
    keys["repetitions"] = number_into(all.repetitions, 1);
    keys["duration"] = duration_into(all.duration_ns, kLongest);
    keys["grace"] = duration_into(all.grace_ns, kLongest);
    return keys;
  }

  const InstructionOrigin& origin_;
};

}  // namespace

std::span<const KeyName> instruction_keys() { return kKeys; }

bool is_image_name(std::string_view name) {
  constexpr std::size_t kMost = 512;
  return !name.empty() && name.size() <= kMost && is_alnum(name[0]) &&
         std::ranges::all_of(name, [](char c) {
           return is_alnum(c) || c == '.' || c == '_' || c == '-' || c == '/' || c == ':' ||
                  c == '@';
         });
}

bool is_metrics_place(std::string_view text) {
  return fleet::parse_address(std::string(text), "'metrics'").has_value();
}

bool has_usual_results(const Instructions& wanted) {
  const auto is_it = [](const Mount& mount) { return mount.target == kUsualResults; };
  return wanted.results.empty() && std::ranges::none_of(wanted.mounts, is_it) &&
         std::ranges::find(wanted.outputs, kUsualResults) == wanted.outputs.end();
}

Result<std::string> read_instruction_file(const std::string& path) {
  FATHOM_ASSIGN(const File file, File::open(path, O_RDONLY));
  std::string text;
  std::array<char, std::size_t{64} << 10> piece;
  while (text.size() <= kMostBytes) {  // one more than it may have is told by who parses it
    const ssize_t got = ::read(file.fd(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error(errno, "read " + path);
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Result<Instructions> parse_instructions(std::string_view text, const std::string& where,
                                        const InstructionOrigin& origin) {
  const std::string file = escape_control(where);
  if (text.size() > kMostBytes)
    return Error{Code::kInvalid, file + ":1:1: this is too long for instructions", kForm};
  try {
    const std::string all(text);
    const YAML::Node document = YAML::Load(all);
    Reader reader(file, origin);
    if (const auto second = second_document(all)) return reader.only_one(*second);
    FATHOM_ASSIGN(Instructions wanted, reader.read(document));
    wanted.text = all;
    return wanted;
  } catch (const YAML::Exception& error) {
    return fleet::yaml_error(file, error.mark, escape_control(error.msg), kForm);
  }
}

}  // namespace fathom::containers
