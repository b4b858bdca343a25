// SPDX-License-Identifier: MIT
// The other end of serve/routes/arrivals.cc. As the standard of server-sent events has it: fields
// in lines, an empty line ends an event, a field that nobody knows is passed over. Bytes come from
// a socket and are cut anywhere, so a line may take several calls; lengths are bounded, and what is
// odd is counted as damaged.
#include "fleet/arrival_events.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/sum.h"
#include "fleet/model.h"

namespace fathom::fleet {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 10'000;  // of one event

std::int64_t number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return 0;
  if (found->is_number_unsigned())
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(found->get<std::uint64_t>(), INT64_MAX));
  return std::max<std::int64_t>(0, found->get<std::int64_t>());
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const json* rows_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_array() && found->size() <= kMostRows ? &*found
                                                                                  : nullptr;
}

// Nothing where it is none of our events.
std::optional<ArrivedSecond> second_of(const json& object) {
  const json* sums = object.is_object() ? rows_of(object, "arrived") : nullptr;
  if (sums == nullptr) return std::nullopt;
  ArrivedSecond second;
  second.time = number(object, "time");
  second.left_out = number(object, "left_out");
  for (const json& row : *sums) {
    const std::string job = row.is_object() ? text(row, "job") : "";
    if (!is_job_name(job)) return std::nullopt;
    second.sums.push_back({job, text(row, "kind"), number(row, "batches"), number(row, "rows"),
                           number(row, "count")});
  }
  const json* clients = rows_of(object, "clients");
  if (clients == nullptr) return second;  // an older server
  for (const json& row : *clients) {
    if (!row.is_object()) return std::nullopt;
    second.clients.push_back(
        {text(row, "client"), text(row, "job"), number(row, "batches"), number(row, "rows")});
  }
  return second;
}

}  // namespace

void ArrivalEvents::take_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") event_ = value;
  if (field == "data" && data_.size() + value.size() <= kLongestLine) data_ += value;
}

void ArrivalEvents::end_event(const std::function<void(const ArrivedSecond&)>& arrived) {
  const std::string event = std::exchange(event_, "");
  const std::string data = std::exchange(data_, "");
  const bool too_long = std::exchange(too_long_, false);
  if (event.empty() && data.empty() && !too_long) return;
  const json object = json::parse(data, nullptr, false);
  if (event == "missed" && object.is_object()) return add_to(missed_, number(object, "seconds"));
  const std::optional<ArrivedSecond> second = event == "arrived" ? second_of(object) : std::nullopt;
  if (second && !too_long) return arrived(*second);
  add_to(damaged_, 1);
}

void ArrivalEvents::take(std::string_view bytes,
                         const std::function<void(const ArrivedSecond&)>& arrived) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() > kLongestLine) {
      too_long_ = true;
    } else {
      line_ += piece;
    }
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(line_, "");
    if (line.empty() || line == "\r") {
      end_event(arrived);
    } else {
      take_line(line.ends_with('\r') ? std::string_view(line).substr(0, line.size() - 1) : line);
    }
  }
}

}  // namespace fathom::fleet
