// SPDX-License-Identifier: MIT
// Uses simdjson's DOM on one object at a time. Unknown fields are ignored: each producer of this
// format adds some.
#include "analysis/import/chrome_event.h"

#include <simdjson.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "analysis/contract.h"
#include "analysis/import/json_events.h"
#include "analysis/import/pfw_facts.h"
#include "analysis/import/pfw_line.h"

namespace fathom::analysis {
namespace {

namespace dom = simdjson::dom;

constexpr std::int64_t kNsPerUs = 1000;

// What is no text is kept as its JSON: arguments of any shape come through.
std::string_view text_of(dom::element value, std::deque<std::string>& kept) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return text;
  if (value.is_null()) return {};
  return kept.emplace_back(simdjson::minify(value));
}

// A number as such or in quotes; anything else is a name.
void read_id(dom::element value, std::deque<std::string>& kept, std::optional<std::int64_t>& number,
             std::string_view& text) {
  const std::string_view found = text_of(value, kept);
  number = number_of(found);
  const bool possible =
      number && *number >= 0 && *number <= std::numeric_limits<std::int32_t>::max();
  if (possible) return;
  number.reset();
  text = found;
}

bool read_args(dom::element value, std::deque<std::string>& kept, std::vector<ChromeArg>& args) {
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return value.is_null();
  for (const auto field : object) {
    if (field.value.is_null()) continue;
    args.push_back({field.key, text_of(field.value, kept), field.value.is_number()});
  }
  return true;
}

}  // namespace

std::string_view ChromeEvent::arg(std::string_view key) const {
  const auto found = std::ranges::find(args, key, &ChromeArg::key);
  return found == args.end() ? std::string_view() : found->text;
}

class ChromeParser::State {
 public:
  dom::parser parser;
  std::deque<std::string> kept;
};

ChromeParser::ChromeParser() : state_(std::make_unique<State>()) {}
ChromeParser::~ChromeParser() = default;

bool ChromeParser::parse(std::string_view text, ChromeEvent& out) {
  out.phase = 0;
  out.name = out.category = out.id = out.pid_text = out.tid_text = {};
  out.pid = out.tid = out.ts = {};
  out.dur = 0;
  out.args.clear();
  state_->kept.clear();
  dom::object object;
  constexpr bool kCopy = false;  // the padding is there
  if (state_->parser.parse(text.data(), text.size(), kCopy).get(object) != simdjson::SUCCESS)
    return false;
  for (const auto field : object) {
    const std::string_view key = field.key;
    if (key == "name") out.name = text_of(field.value, state_->kept);
    if (key == "cat") out.category = text_of(field.value, state_->kept);
    if (key == "id" || key == "id2") out.id = text_of(field.value, state_->kept);
    if (key == "pid") read_id(field.value, state_->kept, out.pid, out.pid_text);
    if (key == "tid") read_id(field.value, state_->kept, out.tid, out.tid_text);
    if (key == "args" && !read_args(field.value, state_->kept, out.args)) return false;
    if (key == "ph") {
      const std::string_view phase = text_of(field.value, state_->kept);
      if (phase.size() == 1) out.phase = phase[0];
    }
  }
  const RawTimes times = raw_times(text);
  out.ts = scaled(times.ts, kNsPerUs);
  const std::optional<std::int64_t> dur = times.dur.empty() ? 0 : scaled(times.dur, kNsPerUs);
  if (!dur || (out.ts && *out.ts > std::numeric_limits<std::int64_t>::max() / 4 - *dur))
    return false;
  out.dur = *dur;
  return out.phase != 0;
}

ChromePlace place_of(std::string_view category) {
  static constexpr std::pair<std::string_view, std::string_view> kKineto[] = {
      {"kernel", "gpu"},
      {"gpu_memcpy", "gpu"},
      {"gpu_memset", "gpu"},
      {"gpu_user_annotation", "gpu"},
      {"cuda_runtime", "cuda"},
      {"cuda_driver", "cuda"},
      {"python_function", "python"}};
  for (const auto& [name, layer] : kKineto) {
    if (category == name) return {layer, category};
  }
  const std::size_t comma = category.find(',');
  const std::string_view first = category.substr(0, comma);
  const auto layers = layer_names();
  const auto layer = std::ranges::find(layers, first);
  if (layer == layers.end()) return {"app", category};
  return {*layer,
          comma == std::string_view::npos ? std::string_view() : category.substr(comma + 1)};
}

}  // namespace fathom::analysis
