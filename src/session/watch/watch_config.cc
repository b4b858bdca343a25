// SPDX-License-Identifier: MIT
// The daemon's file of settings. yaml-cpp throws; nothing of that leaves this file.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "session/watch/datacrumbs_probes.h"
#include "session/watch/watch_settings.h"

namespace fathom::session {
namespace {

constexpr std::size_t kMostBytes = 1U << 20U;  // of a file; nobody writes a larger one by hand
// Of DataCrumbs, without a meaning here.
constexpr std::string_view kNotNeeded[] = {"name", "install_dir", "data_dir", "defaults", "hydra"};
constexpr char kForm[] = "see docs/watch.md for the format";

std::size_t line_of(const YAML::Node& node) {
  return static_cast<std::size_t>(std::max(node.Mark().line, 0)) + 1;
}

bool is_of_datacrumbs(std::string_view key) {
  return std::ranges::find(kNotNeeded, key) != std::end(kNotNeeded);
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Result<Settings> read(const YAML::Node& document) {
    if (document.IsNull()) return Settings();
    if (!document.IsMap()) return wrong(1, "the settings must be a mapping of keys to values");
    for (const auto& entry : document) {
      if (!entry.first.IsScalar()) return wrong(line_of(entry.first), "a key must be a word");
      const std::string key = escape_control(entry.first.Scalar());
      if (!keys_.insert(key).second)
        return wrong(line_of(entry.first), "'" + key + "' is given twice");
      FATHOM_TRY(read_key(key, entry.first, entry.second));
    }
    // DataCrumbs' functions are a layer of their own.
    if (has_functions_) add_layer("user");
    for (const std::string& layer : probed_) add_layer(layer + "?");
    return std::move(settings_);
  }

 private:
  [[nodiscard]] Error wrong(std::size_t line, const std::string& what) const {
    return {Code::kInvalid, file_ + ":" + std::to_string(line) + ": " + what, kForm};
  }
  [[nodiscard]] std::string place(const YAML::Node& node) const {
    return file_ + ":" + std::to_string(line_of(node));
  }
  // Beside those of the file; where that names none, beside the default.
  void add_layer(const std::string& layer) {
    const auto [found, fresh] = settings_.try_emplace("layers", Setting{{"syscall"}, file_});
    std::vector<std::string>& values = found->second.values;
    if (std::ranges::find(values, layer) == values.end()) values.push_back(layer);
  }

  Status read_key(const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    if ((key == "user" || key == "io") && value.IsSequence()) return read_functions(value);
    if (key == "capture_probes" || key == "system") return read_probes(key, value);
    if (key == "inclusion_path") return read_inclusion(at, value);
    if (key == "trace_log_dir") return read_trace_folder(at, value);
    if (key == "profile") return read_profile(value);
    if (key == "trace") return read_trace(value);
    if (key == "file") return read_counters(at, value);
    if (is_of_datacrumbs(key)) return {};
    if (key == "categories" && value.IsMap()) return read_categories(value);
    const auto known = std::ranges::find(watch_keys(), key, &SettingKey::name);
    if (known == watch_keys().end()) return wrong(line_of(at), "unknown key '" + key + "'");
    // By DataCrumbs' `user` and `inclusion_path`.
    const bool grows = key == "functions" || key == "categories" || key == "filter";
    if (settings_.contains(key) && !grows)
      return wrong(line_of(at), "'" + key + "' is given twice");
    if (value.IsNull()) return wrong(line_of(at), "'" + key + "' needs a value");
    FATHOM_ASSIGN(const std::vector<std::string> values, values_of(*known, value));
    Setting& setting = settings_[key];
    setting.values.insert(setting.values.end(), values.begin(), values.end());
    setting.where = place(at);
    return {};
  }

  [[nodiscard]] Result<std::string> word(const std::string& key, const YAML::Node& value) const {
    if (value.IsScalar() && !trim(value.Scalar()).empty()) return value.Scalar();
    return wrong(line_of(value), "'" + key + "' needs a value, and it must be text");
  }

  [[nodiscard]] Result<std::vector<std::string>> values_of(const SettingKey& key,
                                                           const YAML::Node& value) const {
    const std::string name(key.name);
    std::vector<std::string> values;
    if (key.kind == SettingKey::Kind::kList && value.IsSequence()) {
      for (const auto& one : value) {
        FATHOM_ASSIGN(std::string text, word(name, one));
        values.push_back(std::move(text));
      }
      if (values.empty()) return wrong(line_of(value), "'" + name + "' is empty");
      return values;
    }
    FATHOM_ASSIGN(const std::string text, word(name, value));
    if (key.kind == SettingKey::Kind::kFlag && text != "true" && text != "false")
      return wrong(line_of(value), "'" + name + "' must be true or false");
    if (key.kind != SettingKey::Kind::kList || name == "functions" || name == "categories")
      return std::vector{text};
    for (const std::string_view part : split(text, ',')) values.emplace_back(trim(part));
    return values;
  }

  // A mapping of categories to one function or a list of them.
  Status read_categories(const YAML::Node& mapping) {
    for (const auto& entry : mapping) {
      FATHOM_ASSIGN(const std::string category, word("categories", entry.first));
      const SettingKey list{"categories", SettingKey::Kind::kList, "", ""};
      FATHOM_ASSIGN(const std::vector<std::string> functions, values_of(list, entry.second));
      for (const std::string& function : functions) add_category(category, function, entry.first);
    }
    return {};
  }

  void add_category(const std::string& name, const std::string& function, const YAML::Node& at) {
    Setting& categories = settings_["categories"];
    categories.values.push_back(name + "=" + function);
    categories.where = place(at);
  }

  // DataCrumbs': {name, link, regex} each. The name is their category.
  Status read_functions(const YAML::Node& list) {
    for (const auto& one : list) {
      if (!one.IsMap())
        return wrong(line_of(one), "a function must be a mapping of name, link and regex");
      std::string name;
      std::string link;
      std::string regex = ".*";
      for (const auto& entry : one) {
        const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
        if (key != "name" && key != "link" && key != "regex")
          return wrong(line_of(entry.first), "unknown key '" + escape_control(key) + "'");
        FATHOM_ASSIGN(const std::string text, word(key, entry.second));
        if (key == "name") name = text;
        if (key == "link") link = text;
        if (key == "regex") regex = text;
      }
      if (link.empty()) return wrong(line_of(one), "'link' is missing: the file of the functions");
      if (link.find('/') != std::string::npos && !path_exists(link)) {
        settings_["absent"].values.push_back(link);  // lists are written for other machines, too
        settings_["absent"].where = place(one);
        continue;
      }
      Setting& functions = settings_["functions"];
      functions.values.push_back(link.append(":").append(regex));
      if (!name.empty()) add_category(name, functions.values.back(), one);
      functions.where = place(one);
      has_functions_ = true;
    }
    return {};
  }

  Status read_profile(const YAML::Node& value) {
    if (!value.IsMap()) return wrong(line_of(value), "'profile' must be a mapping");
    for (const auto& entry : value) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (key != "interval_sec")
        return wrong(line_of(entry.first), "unknown key 'profile." + escape_control(key) + "'");
      if (settings_.contains("interval"))
        return wrong(line_of(entry.first), "'interval' is given twice");
      FATHOM_ASSIGN(const std::string text, word(key, entry.second));
      settings_["interval"] = {{interval_of(text)}, place(entry.first)};
    }
    return {};
  }

  // DataCrumbs has shorter intervals than there are here.
  static std::string interval_of(const std::string& seconds) {
    constexpr std::int64_t kShortest = 1'000'000;
    const Result<std::int64_t> ns = parse_duration(seconds + "s");
    return ns && *ns > 0 && *ns < kShortest ? "1ms" : seconds + "s";
  }

  // DataCrumbs' probes: what is not on this machine, or cannot be recorded here, is left out.
  Status read_probes(const std::string& key, const YAML::Node& list) {
    if (!list.IsSequence()) return wrong(line_of(list), "'" + key + "' must be a list");
    for (const auto& one : list) {
      if (!one.IsMap()) return wrong(line_of(one), "a probe must be a mapping");
      DatacrumbsProbe probe;
      if (key == "system") probe.probe = "kprobe", probe.type = "header";
      for (const auto& entry : one) FATHOM_TRY(read_probe_key(entry.first, entry.second, probe));
      add_probe(probe, one);
    }
    return {};
  }

  Status read_probe_key(const YAML::Node& key, const YAML::Node& value,
                        DatacrumbsProbe& probe) const {
    constexpr std::string_view kIdle[] = {"include_offsets", "enable_explorer", "probes",
                                          "process_header",  "start_event_id",  "event_type"};
    const std::string name = key.IsScalar() ? key.Scalar() : "";
    if (std::ranges::find(kIdle, name) != std::end(kIdle)) return {};
    std::string* const place = name == "name"       ? &probe.name
                               : name == "probe"    ? &probe.probe
                               : name == "type"     ? &probe.type
                               : name == "regex"    ? &probe.regex
                               : name == "provider" ? &probe.provider
                               : name == "file" || name == "header" || name == "binary_path"
                                   ? &probe.file
                                   : nullptr;
    if (place == nullptr)
      return wrong(line_of(key), "unknown key '" + escape_control(name) + "' of a probe");
    FATHOM_ASSIGN(*place, word(name, value));
    return {};
  }

  void add_probe(const DatacrumbsProbe& probe, const YAML::Node& at) {
    const ProbeMeaning meaning = meaning_of(probe);
    if (meaning.layer.empty()) {
      settings_["absent"].values.push_back(meaning.absent.empty() ? probe.name : meaning.absent);
      settings_["absent"].where = place(at);
      return;
    }
    if (meaning.layer != "syscall") probed_.insert(meaning.layer);
    if (meaning.function.empty()) return;
    Setting& functions = settings_["functions"];
    functions.values.push_back(meaning.function);
    functions.where = place(at);
    if (meaning.has_category) add_category(probe.name, meaning.function, at);
  }

  Status read_inclusion(const YAML::Node& at, const YAML::Node& value) {
    FATHOM_ASSIGN(const std::string path, word("inclusion_path", value));
    Setting& filters = settings_["filter"];
    filters.values.push_back("path=" + path);
    filters.where = place(at);
    return {};
  }

  Status read_trace_folder(const YAML::Node& at, const YAML::Node& value) {
    FATHOM_ASSIGN(const std::string folder, word("trace_log_dir", value));
    settings_.try_emplace("pfw", Setting{{join_path(folder, "profile.pfw")}, place(at)});
    return {};
  }

  // How DataCrumbs' events come out of the kernel: not needed here.
  Status read_trace(const YAML::Node& value) {
    if (!value.IsMap()) return wrong(line_of(value), "'trace' must be a mapping");
    for (const auto& entry : value) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (key != "args" && key != "type")
        return wrong(line_of(entry.first), "unknown key 'trace." + escape_control(key) + "'");
    }
    return {};
  }

  // Where DataCrumbs writes its lines.
  Status read_counters(const YAML::Node& at, const YAML::Node& value) {
    if (keys_.contains("pfw")) return wrong(line_of(at), "'pfw' is given twice");
    FATHOM_ASSIGN(const std::string file, word("file", value));
    settings_["pfw"] = {{file}, place(at)};
    return {};
  }

  const std::string& file_;
  Settings settings_;
  std::set<std::string> keys_;
  std::set<std::string> probed_;  // layers that probes mean
  bool has_functions_ = false;
};

}  // namespace

Result<Settings> parse_watch_settings(std::string_view text, const std::string& where) {
  if (text.size() > kMostBytes)
    return Error{Code::kInvalid, where + " is not a settings file", kForm};
  try {
    return Reader(where).read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    const int line = std::max(error.mark.line, 0) + 1;
    return Error{Code::kInvalid,
                 where + ":" + std::to_string(line) + ": " + escape_control(error.msg), kForm};
  }
}

}  // namespace fathom::session
