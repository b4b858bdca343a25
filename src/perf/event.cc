// SPDX-License-Identifier: MIT
// The grammar of event lists. Who knows a name is asked in this order: the kernel's generic events,
// raw codes, devices and tracepoints as the kernel's files tell them, libpfm4.
#include "perf/event.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "base/suggest.h"
#include "base/text.h"
#include "perf/generic_events.h"
#include "perf/pfm.h"
#include "perf/pmu.h"

namespace fathom::perf {
namespace {

constexpr std::string_view kModifiers = "u, k, h, I, G, H, D, e, p (up to three) or P";

struct Modifiers {
  bool user = false, kernel = false, hypervisor = false;
  bool guest = false, host = false;
};

Error unknown_modifier(std::string_view modifiers, std::string_view event) {
  return usage_error(
      "unknown modifier in '" + escape_control(modifiers) + "' of event " + escape_control(event),
      "known are " + std::string(kModifiers));
}

// Whether the letter says who is counted; then the others are not.
bool take_who(char letter, Modifiers& who) {
  switch (letter) {
    case 'u':
      return who.user = true;
    case 'k':
      return who.kernel = true;
    case 'h':
      return who.hypervisor = true;
    case 'G':
      return who.guest = true;
    case 'H':
      return who.host = true;
    default:
      return false;
  }
}

bool take_how(char letter, Event& event) {
  constexpr std::uint32_t kMostPrecise = 3;
  switch (letter) {
    case 'I':
      return event.exclude_idle = true;
    case 'D':
      return event.pinned = true;
    case 'e':
      return event.exclusive = true;
    case 'p':
      return ++event.precise <= kMostPrecise;
    case 'P':
      event.precise = kMostPrecise;
      return true;
    default:
      return false;
  }
}

Status apply_modifiers(std::string_view modifiers, Event& event) {
  Modifiers who;
  for (const char letter : modifiers) {
    if (!take_who(letter, who) && !take_how(letter, event))
      return unknown_modifier(modifiers, event.name);
  }
  // As perf does: a letter names whom to count, and then nobody else is.
  if (who.user || who.kernel || who.hypervisor) {
    event.exclude_user = !who.user;
    event.exclude_kernel = !who.kernel;
    event.exclude_hv = !who.hypervisor;
  }
  if (who.guest || who.host) {
    event.exclude_host = !who.host;
    event.exclude_guest = !who.guest;
  }
  return {};
}

// "r01c2": a code of the CPU's own manual.
std::optional<Event> raw_event(std::string_view name) {
  if (name.size() < 2 || name[0] != 'r') return std::nullopt;
  Event event;
  event.type = PERF_TYPE_RAW;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, event.config, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return event;
}

Error unknown_event(std::string_view name, const Places& places) {
  std::vector<std::string> known = generic_names();
  const std::size_t colon = name.find(':');
  if (colon != std::string_view::npos) known = tracepoint_names(name.substr(0, colon), places);
  std::string hint = did_you_mean(near_words(name, known));
  if (hint.empty())
    hint =
        "events have perf's names, such as task-clock, page-faults or cycles:u; 'perf list' or "
        "docs/stat.md has them";
  return usage_error("unknown event '" + escape_control(name) + "'", hint);
}

// "device/terms/modifiers".
Result<Event> event_of_device(std::string_view text, const Places& places) {
  const std::size_t first = text.find('/');
  const std::size_t second = text.find('/', first + 1);
  if (second == std::string_view::npos)
    return usage_error("event '" + escape_control(text) + "' lacks its second '/'",
                       "write it as cpu/event=0x3c,umask=0x1/");
  FATHOM_ASSIGN(Event event, device_event(text.substr(0, first),
                                          text.substr(first + 1, second - first - 1), places));
  event.name = text;
  std::string_view modifiers = text.substr(second + 1);
  if (modifiers.starts_with(':')) modifiers.remove_prefix(1);
  FATHOM_TRY(apply_modifiers(modifiers, event));
  return event;
}

// A name that needs no colon of its own.
std::optional<Event> plain_event(std::string_view name, const Places& places) {
  if (std::optional<Event> event = find_generic(name)) return event;
  if (std::optional<Event> event = raw_event(name)) return event;
  return named_event(name, places);
}

// "name:modifiers" or "system:tracepoint:modifiers".
Result<Event> event_by_name(std::string_view text, const Places& places) {
  const std::size_t colon = text.find(':');
  std::string_view modifiers =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  std::optional<Event> event = plain_event(text.substr(0, colon), places);
  if (!event && colon != std::string_view::npos) {
    if (std::optional<Event> native = pfm_event(std::string(text))) return *native;
    const std::size_t second = text.find(':', colon + 1);
    const std::size_t length = second == std::string_view::npos ? second : second - colon - 1;
    event = tracepoint(text.substr(0, colon), text.substr(colon + 1, length), places);
    modifiers = second == std::string_view::npos ? std::string_view() : text.substr(second + 1);
  }
  if (!event) event = pfm_event(std::string(text));
  if (!event) return unknown_event(text, places);
  event->name = text;
  FATHOM_TRY(apply_modifiers(modifiers, *event));
  return *event;
}

// Where the item that begins at `at` ends: at a comma that stands in no device's terms.
std::size_t end_of_item(std::string_view text, std::size_t at) {
  bool in_terms = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '/') in_terms = !in_terms;
    if (text[at] == ',' && !in_terms) break;
  }
  return at;
}

Result<std::vector<Event>> parse_items(std::string_view text, const Places& places) {
  std::vector<Event> events;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = end_of_item(text, at);
    FATHOM_ASSIGN(Event event, parse_event(text.substr(at, end - at), places));
    events.push_back(std::move(event));
    at = end + 1;
  }
  return events;
}

// "{a,b}:modifiers" at the beginning of `text`, which is taken away.
Result<EventGroup> take_group(std::string_view& text, const Places& places) {
  const std::size_t close = text.find('}');
  if (close == std::string_view::npos)
    return usage_error("the group '" + escape_control(text) + "' lacks its '}'",
                       "write it as {instructions,cycles}");
  FATHOM_ASSIGN(std::vector<Event> events, parse_items(text.substr(1, close - 1), places));
  const std::string_view rest = text.substr(close + 1);
  const std::size_t end = std::min(rest.find(','), rest.size());
  std::string_view modifiers = rest.substr(0, end);
  text = rest.substr(end);
  if (modifiers.empty()) return EventGroup{std::move(events)};
  if (!modifiers.starts_with(':')) return unknown_modifier(modifiers, "group");
  modifiers.remove_prefix(1);
  for (Event& event : events) {
    FATHOM_TRY(apply_modifiers(modifiers, event));
    event.name.append(event.name.ends_with('/') ? "" : ":").append(modifiers);
  }
  return EventGroup{std::move(events)};
}

Status check_names(const std::vector<EventGroup>& groups) {
  std::vector<std::string_view> seen;
  for (const EventGroup& group : groups) {
    for (const Event& event : group.events) {
      if (std::ranges::find(seen, event.name) != seen.end())
        return usage_error("event " + escape_control(event.name) + " is named twice");
      seen.push_back(event.name);
    }
  }
  return {};
}

}  // namespace

bool Event::is_hardware() const {
  return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

bool Event::happens_in_kernel() const {
  if (!is_software()) return false;
  return config == PERF_COUNT_SW_CONTEXT_SWITCHES || config == PERF_COUNT_SW_CPU_MIGRATIONS ||
         config == PERF_COUNT_SW_CGROUP_SWITCHES;
}

bool Event::is_clock() const {
  return is_software() && (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

perf_event_attr Event::attr() const {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = type;
  attr.config = config;
  attr.config1 = config1;
  attr.config2 = config2;
  attr.exclude_user = exclude_user ? 1 : 0;
  attr.exclude_kernel = exclude_kernel ? 1 : 0;
  attr.exclude_hv = exclude_hv ? 1 : 0;
  attr.exclude_idle = exclude_idle ? 1 : 0;
  attr.exclude_host = exclude_host ? 1 : 0;
  attr.exclude_guest = exclude_guest ? 1 : 0;
  attr.pinned = pinned ? 1 : 0;
  attr.exclusive = exclusive ? 1 : 0;
  attr.precise_ip = precise & 3U;
  return attr;
}

Result<std::vector<Event>> parse_each(std::string_view text, const Places& places) {
  std::vector<Event> events;
  if (text.empty()) return events;
  FATHOM_ASSIGN(std::vector<EventGroup> groups, parse_events(text, places));
  for (EventGroup& group : groups) std::ranges::move(group.events, std::back_inserter(events));
  return events;
}

Result<Event> parse_event(std::string_view text, const Places& places) {
  text = trim(text);
  if (text.empty())
    return usage_error("there is an empty name among the events",
                       "name events as perf does, separated by commas");
  if (text.find_first_of("{}") != std::string_view::npos)
    return usage_error("misplaced brace in '" + escape_control(text) + "'",
                       "write a group as {instructions,cycles}");
  if (text.find('/') != std::string_view::npos) return event_of_device(text, places);
  return event_by_name(text, places);
}

Result<std::vector<EventGroup>> parse_events(std::string_view text, const Places& places) {
  std::vector<EventGroup> groups;
  for (bool more = true; more;) {
    text = trim(text);
    if (text.starts_with('{')) {
      FATHOM_ASSIGN(EventGroup group, take_group(text, places));
      groups.push_back(std::move(group));
    } else {
      const std::size_t end = end_of_item(text, 0);
      FATHOM_ASSIGN(Event event, parse_event(text.substr(0, end), places));
      groups.push_back({{std::move(event)}});
      text.remove_prefix(end);
    }
    more = !text.empty();
    if (more) text.remove_prefix(1);  // the comma
  }
  FATHOM_TRY(check_names(groups));
  return groups;
}

}  // namespace fathom::perf
