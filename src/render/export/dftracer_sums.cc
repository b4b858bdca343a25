// SPDX-License-Identifier: MIT
// Sums as DFTracer writes them: a number that came once stands alone, others have the endings of
// least, most and sum. Readers of the format take an argument's name for what it means, so the
// layout is DFTracer's to the letter.
#include "render/export/dftracer_sums.h"

#include <algorithm>
#include <cmath>

#include "render/export/json_fields.h"

namespace fathom::render {
namespace {

constexpr int kAggregated = 3;  // the value of "ph"
constexpr double kExact = 9007199254740992.0;

void put(JsonFields& args, const std::string& key, double value) {
  if (std::trunc(value) == value && std::abs(value) < kExact) {
    args.number(key, static_cast<std::int64_t>(value));
  } else {
    append_real(args.key(key), value);
  }
}

}  // namespace

void DftracerSum::add_event(std::int64_t duration) {
  events_++;
  add("dur", static_cast<double>(duration));
}

void DftracerSum::add(std::string_view key, double value) {
  auto found = numbers_.find(key);
  if (found == numbers_.end()) found = numbers_.emplace(key, Numbers()).first;
  Numbers& numbers = found->second;
  numbers.least = numbers.count == 0 ? value : std::min(numbers.least, value);
  numbers.most = numbers.count == 0 ? value : std::max(numbers.most, value);
  numbers.sum += value;
  numbers.count++;
}

void DftracerSum::write(std::string& text) const {
  JsonFields args(text);
  for (const auto& [key, numbers] : numbers_) {
    if (events_ == 1) {
      put(args, key, numbers.sum);
      continue;
    }
    put(args, key + "_min", numbers.least);
    put(args, key + "_max", numbers.most);
    put(args, key + "_sum", numbers.sum);
  }
  args.number("dft_cnt", events_);
}

void DftracerSums::write(std::string& text, const DftracerOrigin& origin) {
  for (const auto& [key, sum] : sums_) {
    text += '{';
    JsonFields fields(text);
    fields.text("name", key.name);
    fields.text("cat", key.category);
    fields.number("type", key.type);
    fields.number("ts", key.ts);
    fields.number("ph", kAggregated);
    fields.number("pid", origin.pid);
    fields.number("tid", key.tid);
    fields.key("args") += '{';
    JsonFields args(text);
    args.text("hhash", origin.host_hash);
    text += ',';
    sum.write(text);
    text += "}}\n";
  }
  sums_.clear();
}

}  // namespace fathom::render
