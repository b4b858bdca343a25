// SPDX-License-Identifier: MIT
// A thread listens to the server's events; looks ask for the list of jobs, and for the profile of
// the job that is looked into or, where all are shown, of the busiest. Nothing is asked again where
// no event said that something came.
#include "cli/top/top_server.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "cli/top/server_page.h"
#include "fleet/arrival_events.h"
#include "fleet/http/http_client.h"
#include "fleet/stores/find_store.h"
#include "fleet/stores/server_note.h"

namespace fathom::cli::top {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kWindow = 5;                       // seconds that rates are of
constexpr std::int64_t kJobsEveryNs = 10 * kNsPerSecond;  // where nothing came
constexpr std::int64_t kMostSilenceNs = 30 * kNsPerSecond;
constexpr std::int64_t kRestByWork = 9;  // a profile takes a tenth of the time at most
constexpr std::int64_t kFirstLooks = 2;  // a second is told when it has passed
constexpr std::size_t kMostSeconds = 600;
constexpr std::size_t kMostAgents = 10'000;
constexpr std::size_t kMostNodes = 100'000;
constexpr auto kBetweenAttempts = std::chrono::milliseconds(500);

// Listens in a thread of its own, and connects again where the server went.
class Listener {
 public:
  explicit Listener(fleet::StorePlace place)
      : place_(std::move(place)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

  struct Received {
    std::vector<fleet::ArrivedSecond> seconds;
    std::int64_t missed = 0;
    std::int64_t left_out = 0;
    std::string trouble;
    std::int64_t last_ns = 0;  // when the server said something, by now_monotonic_ns
  };
  Received take() {
    const std::scoped_lock lock(mutex_);
    Received heard = heard_;
    heard_.seconds.clear();
    return heard;
  }

 private:
  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Status ended = listen(stop);
      {
        const std::scoped_lock lock(mutex_);
        heard_.trouble = ended ? place_.url + " closed the connection" : ended.error().message;
      }
      if (!stop.stop_requested()) std::this_thread::sleep_for(kBetweenAttempts);
    }
  }

  Status listen(const std::stop_token& stop) {
    fleet::HttpOptions options{.url = place_.url};
    options.fingerprint = place_.fingerprint;
    if (!place_.token.empty())
      options.headers.push_back({"Authorization", "Bearer " + place_.token});
    FATHOM_ASSIGN(fleet::HttpClient client, fleet::HttpClient::make(options));
    fleet::ArrivalEvents events;
    std::int64_t missed = 0;
    const auto take = [&](std::string_view bytes) {
      const std::scoped_lock lock(mutex_);
      events.take(bytes, [this](const fleet::ArrivedSecond& second) {
        heard_.left_out += second.left_out;
        if (heard_.seconds.size() >= kMostSeconds) {  // nobody looks: it is paused
          heard_.seconds.erase(heard_.seconds.begin());
          heard_.missed++;
        }
        heard_.seconds.push_back(second);
      });
      heard_.missed += events.missed() + events.damaged() - missed;
      missed = events.missed() + events.damaged();
      heard_.trouble.clear();
      heard_.last_ns = now_monotonic_ns();
      return !stop.stop_requested();
    };
    FATHOM_ASSIGN(const fleet::HttpAnswer answer,
                  client.stream({.target = "/api/v1/events"}, take));
    if (answer.status == 200) return {};
    return Error{Code::kDenied,
                 place_.url + " answers " + std::to_string(answer.status) + " to /api/v1/events",
                 ""};
  }

  fleet::StorePlace place_;
  std::mutex mutex_;
  Received heard_;  // guarded by mutex_
  std::jthread thread_;
};

struct Sent {
  std::int64_t rows = 0;
  std::int64_t last = 0;  // second
};

// Looks come from the thread that draws, once a second; what arrives meanwhile waits in the
// listener.
class ServerSource : public TopSource {
 public:
  ServerSource(fleet::StorePlace place, std::unique_ptr<fleet::JobStore> store)
      : url_(place.url), store_(std::move(store)), listener_(std::move(place)) {}

  Status look(const std::string& inside) override {
    const Listener::Received heard = listener_.take();
    take(heard);
    if (arrived_ || now_monotonic_ns() >= jobs_due_) {
      Result<std::vector<fleet::Job>> jobs = store_->jobs();
      if (!jobs && jobs.error().code != Code::kUnavailable) return std::move(jobs).error();
      if (jobs) jobs_ = std::move(jobs).value();
      jobs_due_ = now_monotonic_ns() + kJobsEveryNs;
    }
    tell(heard);
    profile_changed_ |= arrived_;
    arrived_ = false;
    read_profile(inside.empty() ? busiest() : inside);
    return check_alive(heard);
  }

  [[nodiscard]] bool has_rates() const override { return looks_ > kFirstLooks; }
  [[nodiscard]] Page page(const std::string& inside) const override {
    return server_page(now_, inside);
  }

 private:
  void take(const Listener::Received& heard) {
    looks_++;
    for (const fleet::ArrivedSecond& second : heard.seconds) {
      arrived_ = true;
      for (const fleet::ClientSum& client : second.clients) {
        const std::pair key(client.client, client.job);
        if (sent_.size() >= kMostAgents && !sent_.contains(key)) {
          left_out_ += client.batches;
          continue;
        }
        Sent& sent = sent_[key];
        sent.rows += client.rows;
        sent.last = second.time;
      }
      for (const fleet::ArrivedSum& sum : second.sums) last_[sum.job] = second.time;
      seconds_.push_back(second);
    }
    while (seconds_.size() > kWindow) seconds_.pop_front();
  }

  static std::int64_t now_second() { return now_realtime_ns() / kNsPerSecond; }
  static std::int64_t ago_ns(std::int64_t second) {
    return std::max<std::int64_t>(0, now_second() - second) * kNsPerSecond;
  }
  // A second is told when it has passed.
  [[nodiscard]] bool is_recent(std::int64_t second) const {
    return second + kWindow >= now_second() - 1;
  }

  void tell(const Listener::Received& heard) {
    ServerNow now;
    now.url = url_;
    now.trouble = heard.trouble;
    now.missed = heard.missed;
    now.left_out = heard.left_out + left_out_;
    std::map<std::string, JobNow> jobs;
    for (const fleet::Job& job : jobs_) {
      JobNow& to = jobs[job.name];
      to.name = job.name;
      to.info = job.info;
      to.benchmarks = job.benchmarks;
      if (last_.contains(job.name)) to.ago_ns = ago_ns(last_.at(job.name));
    }
    std::map<std::pair<std::string, std::string>, AgentNow> agents;
    for (const auto& [key, sent] : sent_)
      agents[key] = {key.first, key.second, 0, 0, sent.rows, ago_ns(sent.last)};
    add_rates(jobs, agents);
    for (auto& [key, agent] : agents) {
      const auto job = jobs.find(agent.job);
      if (job != jobs.end() && agent.batches > 0) job->second.agents++;
      now.agents.push_back(std::move(agent));
    }
    for (auto& [name, job] : jobs) now.jobs.push_back(std::move(job));
    now.profile_job = std::move(now_.profile_job);
    now.profile = std::move(now_.profile);
    now.nodes_left_out = now_.nodes_left_out;
    now_ = std::move(now);
  }

  void add_rates(std::map<std::string, JobNow>& jobs,
                 std::map<std::pair<std::string, std::string>, AgentNow>& agents) const {
    constexpr double kPerSecond = 1.0 / kWindow;
    for (const fleet::ArrivedSecond& second : seconds_) {
      if (!is_recent(second.time)) continue;
      for (const fleet::ArrivedSum& sum : second.sums) {
        const auto job = jobs.find(sum.job);
        if (job == jobs.end()) continue;
        job->second.batches += static_cast<double>(sum.batches) * kPerSecond;
        job->second.rows += static_cast<double>(sum.rows) * kPerSecond;
        job->second.count += static_cast<double>(sum.count) * kPerSecond;
      }
      for (const fleet::ClientSum& client : second.clients) {
        const auto agent = agents.find({client.client, client.job});
        if (agent == agents.end()) continue;
        agent->second.batches += static_cast<double>(client.batches) * kPerSecond;
        agent->second.rows += static_cast<double>(client.rows) * kPerSecond;
      }
    }
  }

  // The one that is shown stays until another gets more.
  [[nodiscard]] std::string busiest() const {
    const auto most = std::ranges::max_element(now_.jobs, {}, &JobNow::rows);
    if (most == now_.jobs.end()) return "";
    const auto shown = std::ranges::find(now_.jobs, now_.profile_job, &JobNow::name);
    return shown != now_.jobs.end() && shown->rows >= most->rows ? shown->name : most->name;
  }

  void read_profile(const std::string& job) {
    const bool other = job != profile_job_;
    const bool due = profile_changed_ && now_monotonic_ns() >= profile_due_;
    if (job.empty() || (!other && !due)) return;
    const std::int64_t begin = now_monotonic_ns();
    Counts counts;
    std::int64_t left_out = 0;
    const Status read = store_->profile(job, [&](const fleet::ProfileRow& row) {
      if (counts.size() < kMostNodes) {
        counts[{row.node, row.exec, row.event}] = row.count;
      } else {
        left_out++;
      }
      return true;
    });
    if (!read) return;
    const double seconds = static_cast<double>(begin - profile_ns_) / kNsPerSecond;
    now_.profile.clear();
    for (const auto& [key, count] : counts) {
      const auto before = counts_.find(key);
      const std::int64_t more = other ? 0 : count - (before == counts_.end() ? 0 : before->second);
      now_.profile.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key),
                              static_cast<double>(std::max<std::int64_t>(0, more)) / seconds,
                              count});
    }
    now_.profile_job = job;
    now_.nodes_left_out = left_out;
    profile_job_ = job;
    counts_ = std::move(counts);
    profile_ns_ = begin;
    profile_changed_ = false;
    profile_due_ = now_monotonic_ns() + (now_monotonic_ns() - begin) * kRestByWork;
  }

  // A server that went may come back: for a while.
  [[nodiscard]] Status check_alive(const Listener::Received& heard) const {
    if (heard.trouble.empty() || now_monotonic_ns() - heard.last_ns < kMostSilenceNs) return {};
    return Error{Code::kUnavailable, heard.trouble, "is the server running?"};
  }

  using Counts = std::map<std::tuple<std::string, std::string, std::string>, std::int64_t>;
  std::string url_;
  std::unique_ptr<fleet::JobStore> store_;
  std::vector<fleet::Job> jobs_;
  std::int64_t jobs_due_ = 0;
  std::deque<fleet::ArrivedSecond> seconds_;
  std::map<std::pair<std::string, std::string>, Sent> sent_;  // by client and job
  std::map<std::string, std::int64_t> last_;                  // second, by job
  bool arrived_ = false;                                      // since the last look
  std::int64_t looks_ = 0;
  std::int64_t left_out_ = 0;  // batches of agents beyond those that are told apart
  std::string profile_job_;
  Counts counts_;
  std::int64_t profile_ns_ = 0;
  std::int64_t profile_due_ = 0;
  bool profile_changed_ = false;  // something came since it was read
  ServerNow now_;
  Listener listener_;  // the last: it ends first
};

}  // namespace

Result<std::unique_ptr<TopSource>> watch_server(const ServerChoice& choice) {
  FATHOM_ASSIGN(fleet::StorePlace place, fleet::find_store({choice.url, choice.token_file}));
  if (!place.url.starts_with("http"))
    return usage_error("'" + place.url + "' is not a server",
                       "give the URL that 'fathom server' printed");
  FATHOM_ASSIGN(std::unique_ptr<fleet::JobStore> store, fleet::open_place(place));
  FATHOM_TRY(store->jobs());
  return std::unique_ptr<TopSource>(
      std::make_unique<ServerSource>(std::move(place), std::move(store)));
}

bool has_server() {
  const char* const named = std::getenv("FATHOM_SERVER");  // NOLINT(concurrency-mt-unsafe)
  return (named != nullptr && std::string_view(named).starts_with("http")) ||
         fleet::find_server_note().has_value();
}

}  // namespace fathom::cli::top
