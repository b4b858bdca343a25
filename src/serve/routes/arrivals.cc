// SPDX-License-Identifier: MIT
// Sums of the last seconds, kept once for all who watch. A second that has not passed is never
// told: its sums may still grow. Everything here is bounded, since jobs and clients are words of
// whoever sends: what does not fit is counted, in its second.
#include "serve/routes/arrivals.h"

#include <algorithm>
#include <limits>

#include "render/json_writer.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kMostSeconds = 30;
constexpr std::size_t kMostJobs = 1000;     // in one second
constexpr std::size_t kMostClients = 1000;  // the same
constexpr std::size_t kMostHeard = 10'000;  // clients and jobs, of all times

void write_sums(render::JsonWriter& json, const std::string& job, const std::string& kind,
                const Arrived& sums) {
  json.begin_object().key("job").value(job).key("kind").value(kind);
  json.key("batches").value(sums.batches).key("rows").value(sums.rows);
  json.key("count").value(sums.count).end_object();
}

void write_clients(render::JsonWriter& json,
                   const std::map<std::pair<std::string, std::string>, Arrived>& clients,
                   const std::string& job) {
  json.key("clients").begin_array();
  for (const auto& [key, sent] : clients) {
    if (!job.empty() && key.second != job) continue;
    json.begin_object().key("client").value(key.first).key("job").value(key.second);
    json.key("batches").value(sent.batches).key("rows").value(sent.rows).end_object();
  }
  json.end_array();
}

std::string event(std::string_view name, std::int64_t id, const std::string& data) {
  return "event: " + std::string(name) + "\nid: " + std::to_string(id) + "\ndata: " + data + "\n\n";
}

}  // namespace

Arrivals::Arrivals(Clock clock) : clock_(std::move(clock)) {}

void Arrivals::add(const std::string& job, const std::string& kind, const std::string& client,
                   std::uint64_t rows, std::int64_t count) {
  const std::int64_t number = clock_();
  const std::scoped_lock guard(mutex_);
  if (seconds_.empty() || seconds_.back().number < number) seconds_.emplace_back().number = number;
  if (seconds_.size() > kMostSeconds) {
    forgotten_ = seconds_.front().number;
    seconds_.pop_front();
  }
  Second& second = seconds_.back();
  const std::pair sender(client, job);
  hear(sender, number);
  if (second.clients.size() >= kMostClients && !second.clients.contains(sender)) {
    ++second.clients_left_out;
  } else {
    Arrived& sent = second.clients[sender];
    ++sent.batches;
    sent.rows += rows;
  }
  const std::pair key(job, kind);
  if (second.sums.size() >= kMostJobs && !second.sums.contains(key)) {
    ++second.left_out;
    return;
  }
  Arrived& sums = second.sums[key];
  ++sums.batches;
  sums.rows += rows;
  if (__builtin_add_overflow(sums.count, count, &sums.count))
    sums.count = std::numeric_limits<std::int64_t>::max();
}

void Arrivals::hear(const std::pair<std::string, std::string>& sender, std::int64_t second) {
  if (heard_.size() >= kMostHeard && !heard_.contains(sender)) {
    const auto last = [](const auto& one) { return one.second.last; };
    heard_.erase(std::ranges::min_element(heard_, {}, last));
  }
  ClientArrivals& one = heard_[sender];
  one.client = sender.first;
  one.job = sender.second;
  one.last = second;
  ++one.batches;
}

std::vector<ClientArrivals> Arrivals::heard() const {
  const std::scoped_lock guard(mutex_);
  std::vector<ClientArrivals> all;
  all.reserve(heard_.size());
  for (const auto& [sender, one] : heard_) all.push_back(one);
  return all;
}

// Seconds without anything for this job are left out. A comment keeps the connection from looking
// dead to proxies.
std::string Arrivals::since(Place& place, const std::string& job) {
  const std::int64_t now = clock_();
  const std::scoped_lock guard(mutex_);
  std::string out;
  if (forgotten_ >= place.next)
    out += event("missed", forgotten_,
                 "{\"seconds\":" + std::to_string(forgotten_ - place.next + 1) + "}");
  for (const Second& second : seconds_) {
    if (second.number < place.next || second.number >= now) continue;
    std::string data;
    render::JsonWriter json(data);
    json.begin_object().key("time").value(second.number).key("arrived").begin_array();
    bool any = false;
    for (const auto& [key, sums] : second.sums) {
      if (!job.empty() && key.first != job) continue;
      any = true;
      write_sums(json, key.first, key.second, sums);
    }
    json.end_array().key("left_out").value(second.left_out);
    write_clients(json, second.clients, job);
    json.key("clients_left_out").value(second.clients_left_out).end_object();
    if (any || second.left_out > 0) out += event("arrived", second.number, data);
  }
  place.next = std::max(place.next, now);
  return out.empty() ? ": nothing\n\n" : out;
}

}  // namespace fathom::serve
