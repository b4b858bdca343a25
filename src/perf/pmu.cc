// SPDX-License-Identifier: MIT
// Reads sysfs and tracefs. Their files are the kernel's, but a container may show others: what does
// not parse is an error, never a guess.
#include "perf/pmu.h"

#include <unistd.h>
#include <cerrno>
#include <charconv>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/privilege.h"
#include "base/suggest.h"
#include "base/text.h"

namespace fathom::perf {
namespace {

Result<std::uint64_t> number_of(std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return usage_error("'" + escape_control(text) + "' is not a number");
  return value;
}

// A name in a path of ours: nothing that leads elsewhere.
bool is_plain(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

std::string read_line(const std::string& path) {
  const Result<std::string> text = read_file(path);
  return text ? std::string(trim(*text)) : std::string();
}

// Puts the bits of a value where a format ("config1:0-7,32-35") wants them.
// A value may be spread over several ranges, lowest bits first.
Status place_bits(std::string_view format, std::uint64_t value, Event& event) {
  const std::size_t colon = format.find(':');
  const std::string_view field = format.substr(0, colon);
  std::uint64_t* const target = field == "config"    ? &event.config
                                : field == "config1" ? &event.config1
                                : field == "config2" ? &event.config2
                                                     : nullptr;
  if (target == nullptr || colon == std::string_view::npos)
    return Error{Code::kUnsupported, "the kernel's format '" + escape_control(format) + "' is new",
                 ""};
  for (const std::string_view range : split(format.substr(colon + 1), ',')) {
    const std::size_t dash = range.find('-');
    FATHOM_ASSIGN(const std::uint64_t first, number_of(range.substr(0, dash)));
    std::uint64_t last = first;
    if (dash != std::string_view::npos) {
      FATHOM_ASSIGN(last, number_of(range.substr(dash + 1)));
    }
    if (last > 63 || first > last) return Error{Code::kCorrupt, "a format of bits is damaged", ""};
    const std::uint64_t width = last - first + 1;
    const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    *target = (*target & ~(mask << first)) | (value & mask) << first;
    value = width == 64 ? 0 : value >> width;
  }
  // Cut silently it would be another event.
  if (value != 0) return usage_error("the value has more bits than the term takes");
  return {};
}

// One folder of /sys/bus/event_source/devices: `format` says where the bits of a term go, `events`
// gives names to lists of terms.
class Device {
 public:
  Device(std::string name, std::string path) : name_(std::move(name)), path_(std::move(path)) {}

  Status apply(std::string_view terms, Event& event, int depth = 0) const {
    for (const std::string_view term : split(terms, ',')) {
      const std::string_view word = trim(term);
      if (word.empty()) return usage_error("there is an empty term in " + name_ + "/…/");
      if (Status done = apply_one(word, event, depth); !done)
        return std::move(done).error().with("event of " + name_);
    }
    return {};
  }

 private:
  // A term with a value, or the name of an event that stands for several terms.
  Status apply_one(std::string_view term, Event& event, int depth) const {
    const std::size_t equals = term.find('=');
    const std::string_view name = term.substr(0, equals);
    std::uint64_t value = 1;
    if (name == "name") return {};  // the name stays as it was typed
    if (!is_plain(name)) return usage_error("'" + escape_control(term) + "' is no term");
    const std::string alias = path_ + "/events/" + std::string(name);
    // An alias may not be made of aliases: a damaged file would go round for ever.
    if (equals == std::string_view::npos && depth == 0 && path_exists(alias)) {
      FATHOM_TRY(apply(read_line(alias), event, depth + 1));
      event.unit = read_line(alias + ".unit");
      if (const std::string scale = read_line(alias + ".scale"); !scale.empty())
        event.scale = std::strtod(scale.c_str(), nullptr);
      return {};
    }
    if (equals != std::string_view::npos) {
      FATHOM_ASSIGN(value, number_of(term.substr(equals + 1)));
    }
    for (const std::string_view whole : {"config", "config1", "config2"}) {
      if (name == whole) return place_bits(std::string(whole) + ":0-63", value, event);
    }
    const std::string format = read_line(path_ + "/format/" + std::string(name));
    if (format.empty()) return unknown_term(name);
    return place_bits(format, value, event);
  }

  [[nodiscard]] Error unknown_term(std::string_view name) const {
    std::vector<std::string> known;
    for (const char* const folder : {"/format", "/events"}) {
      const Result<std::vector<std::string>> names = list_dir(path_ + folder);
      if (names) known.insert(known.end(), names->begin(), names->end());
    }
    return usage_error("no term or event '" + escape_control(name) + "'",
                       did_you_mean(near_words(name, known)));
  }

  std::string name_;
  std::string path_;
};

// A CPU's own devices, which a virtual machine may lack: their absence is no mistyped name.
bool is_cpu_device(std::string_view name) {
  return name == "cpu" || name == "cpu_core" || name == "cpu_atom" || name.starts_with("armv");
}

}  // namespace

Result<Event> device_event(std::string_view device, std::string_view terms, const Places& places) {
  Event event;
  event.type = PERF_TYPE_RAW;
  const std::string path = places.devices + "/" + std::string(device);
  const std::string type = is_plain(device) ? read_line(path + "/type") : std::string();
  if (type.empty() && is_cpu_device(device)) {
    event.reason = "this machine has no hardware counters";
    return event;
  }
  if (type.empty())
    return usage_error("no device '" + escape_control(device) + "' counts events here",
                       did_you_mean(near_words(device, device_names(places))));
  FATHOM_ASSIGN(const std::uint64_t number, number_of(type));
  event.type = static_cast<std::uint32_t>(number);
  FATHOM_TRY(Device(std::string(device), path).apply(terms, event));
  return event;
}

std::optional<Event> named_event(std::string_view name, const Places& places) {
  if (!is_plain(name)) return std::nullopt;
  for (const std::string& device : device_names(places)) {
    if (!path_exists(places.devices + "/" + device + "/events/" + std::string(name))) continue;
    Result<Event> event = device_event(device, name, places);
    if (event) return std::move(event).value();
  }
  return std::nullopt;
}

namespace {

// The first place that has events; "": none.
std::string tracing_events(const Places& places) {
  for (const std::string& place : places.tracing) {
    if (is_directory(place + "/events")) return place + "/events";
  }
  return "";
}

Event missing_tracepoint(std::string reason, std::string fix) {
  Event event;
  event.type = PERF_TYPE_TRACEPOINT;
  event.reason = std::move(reason);
  event.fix = std::move(fix);
  return event;
}

}  // namespace

std::optional<Event> tracepoint(std::string_view system, std::string_view name,
                                const Places& places) {
  if (!is_plain(system) || !is_plain(name)) return std::nullopt;
  const std::string events = tracing_events(places);
  if (events.empty()) {
    const std::string& place = places.tracing.front();
    // Whether it is not mounted or hidden from this user looks the same from here.
    if (geteuid() != 0)
      return missing_tracepoint(
          "tracefs cannot be read by this user",
          as_root("fathom stat -e " + std::string(system) + ":" + std::string(name) + " -- …"));
    return missing_tracepoint("tracefs is not mounted", "mount -t tracefs tracefs " + place);
  }
  const std::string path = join_path(join_path(events, system), name) + "/id";
  if (!path_exists(path)) return std::nullopt;
  const Result<std::string> text = read_file(path);
  const Result<std::uint64_t> id = text ? number_of(trim(*text)) : Result<std::uint64_t>(Error{});
  if (!id) return missing_tracepoint(path + " cannot be read", as_root("chmod a+r " + path));
  Event event;
  event.type = PERF_TYPE_TRACEPOINT;
  event.config = *id;
  return event;
}

std::vector<std::string> tracepoint_names(std::string_view system, const Places& places) {
  std::vector<std::string> all;
  const std::string events = tracing_events(places);
  if (events.empty()) return all;
  std::vector<std::string> systems = {std::string(system)};
  const bool is_known = is_plain(system) && is_directory(join_path(events, system));
  if (!is_known) systems = list_dir(events).has_value() ? list_dir(events).value() : systems;
  for (const std::string& one : systems) {
    const Result<std::vector<std::string>> names = list_dir(join_path(events, one));
    if (!names) continue;
    for (const std::string& name : *names) all.push_back(std::string(one).append(":").append(name));
  }
  return all;
}

std::vector<std::string> device_names(const Places& places) {
  const Result<std::vector<std::string>> names = list_dir(places.devices);
  return names ? *names : std::vector<std::string>();
}

bool has_hardware_counters(const Places& places) {
  return std::ranges::any_of(device_names(places), is_cpu_device);
}

}  // namespace fathom::perf
