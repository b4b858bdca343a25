// SPDX-License-Identifier: MIT
// Builds the tables of a server's page: jobs, agents, and the profile of the job that is open. It
// takes a snapshot and asks nobody, so tests give it one.
#include "cli/top/server_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/plural.h"
#include "base/text.h"

namespace fathom::cli::top {
namespace {

using enum Measure;

constexpr std::size_t kFewest = 3;   // agents of a job to be compared
constexpr double kMuchSlower = 0.5;  // rows of one, against those of the one in the middle

std::int64_t whole(double value) { return std::llround(value); }

Table jobs(const ServerNow& server, std::vector<std::string>& ids) {
  Table table{"Jobs",
              {{"job"},
               {"rows", kCount},
               {"count", kCount, 2},
               {"batches", kCount, 3},
               {"agents", kCount, 1},
               {"last", kNanoseconds, 1},
               {"benchmarks", kCount, 4},
               {"info", kNone, 5}},
              {},
              ""};
  std::vector<const JobNow*> order;
  for (const JobNow& job : server.jobs) order.push_back(&job);
  std::ranges::stable_sort(order, std::ranges::greater(), &JobNow::rows);
  for (const JobNow* job : order) {
    table.rows.push_back({job->name, whole(job->rows), whole(job->count), whole(job->batches),
                          job->agents, job->ago_ns ? Value(*job->ago_ns) : Value(), job->benchmarks,
                          job->info});
    ids.push_back(job->name);
  }
  if (table.rows.empty()) table.note = "no job yet; 'fathom job create NAME' makes one";
  return table;
}

// Who sends much less than the others of its job.
std::map<std::pair<std::string, std::string>, std::string> slow_agents(const ServerNow& server) {
  std::map<std::string, std::vector<double>> by_job;
  for (const AgentNow& agent : server.agents) by_job[agent.job].push_back(agent.rows);
  std::map<std::pair<std::string, std::string>, std::string> notes;
  for (const AgentNow& agent : server.agents) {
    std::vector<double> rows = by_job[agent.job];
    if (rows.size() < kFewest) continue;
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
    std::ranges::nth_element(rows, middle);
    if (agent.rows >= *middle * kMuchSlower) continue;
    notes[{agent.client, agent.job}] = fmt::format("straggler: {} rows/s, the others {}",
                                                   human_count(agent.rows), human_count(*middle));
  }
  return notes;
}

Table agents(const ServerNow& server, const std::string& job) {
  Table table{"Agents",
              {{"agent"},
               {"job", kNone, 2},
               {"rows", kCount},
               {"batches", kCount, 3},
               {"total_rows", kCount, 1},
               {"last", kNanoseconds},
               {"note", kNone, 4}},
              {},
              ""};
  const auto notes = slow_agents(server);
  std::vector<const AgentNow*> order;
  for (const AgentNow& agent : server.agents) {
    if (job.empty() || agent.job == job) order.push_back(&agent);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), &AgentNow::rows);
  for (const AgentNow* agent : order) {
    const auto note = notes.find({agent->client, agent->job});
    table.rows.push_back({agent->client, agent->job, whole(agent->rows), whole(agent->batches),
                          agent->total_rows, agent->ago_ns,
                          note == notes.end() ? Value() : Value(note->second)});
  }
  if (table.rows.empty()) table.note = "no agent has sent anything since fathom top started";
  return table;
}

Table profile(const ServerNow& server) {
  Table table{"Hot functions",
              {{"function"},
               {"job", kNone, 3},
               {"exec", kNone, 2},
               {"event", kNone, 1},
               {"rate", kCount},
               {"count", kCount}},
              {},
              ""};
  std::vector<const NodeNow*> order;
  for (const NodeNow& node : server.profile) order.push_back(&node);
  std::ranges::stable_sort(order, [](const NodeNow* a, const NodeNow* b) {
    return std::pair(a->rate, a->count) > std::pair(b->rate, b->count);
  });
  for (const NodeNow* node : order)
    table.rows.push_back(
        {node->node, server.profile_job, node->exec, node->event, whole(node->rate), node->count});
  if (table.rows.empty()) table.note = "the profile of " + server.profile_job + " is empty";
  if (server.nodes_left_out > 0)
    table.note = counted(server.nodes_left_out, "sum") + " of the profile left out";
  return table;
}

std::string title_of(const ServerNow& server) {
  double rows = 0;
  for (const JobNow& job : server.jobs) rows += job.rows;
  std::string text = server.url + ": " + counted(server.jobs.size(), "job") + ", " +
                     counted(server.agents.size(), "agent") + ", " + human_count(rows) + " rows/s";
  if (server.missed > 0) text += ", " + counted(server.missed, "second") + " missed";
  if (server.left_out > 0) text += ", " + counted(server.left_out, "batch") + " without details";
  return text;
}

// For programs: the title's numbers as a table of one row.
Table facts_of(const ServerNow& server) {
  double rows = 0;
  for (const JobNow& job : server.jobs) rows += job.rows;
  return {"Now",
          {{"server"},
           {"jobs", kCount},
           {"agents", kCount},
           {"rows", kCount},
           {"missed", kCount},
           {"left_out", kCount},
           {"trouble"}},
          {{server.url, static_cast<std::int64_t>(server.jobs.size()),
            static_cast<std::int64_t>(server.agents.size()), whole(rows), server.missed,
            server.left_out, server.trouble.empty() ? Value() : Value(server.trouble)}},
          ""};
}

}  // namespace

Page server_page(const ServerNow& server, const std::string& inside) {
  Page page;
  page.title = title_of(server);
  page.facts = facts_of(server);
  if (!server.trouble.empty()) page.head.push_back(server.trouble);
  const auto job = std::ranges::find(server.jobs, inside, &JobNow::name);
  if (inside.empty()) {
    page.tables.push_back(jobs(server, page.ids));
  } else {
    page.head.push_back("job " + inside +
                        (job == server.jobs.end() ? " no longer exists"
                         : job->info.empty()      ? ""
                                                  : ": " + job->info));
  }
  if (!server.profile_job.empty() && (inside.empty() || inside == server.profile_job))
    page.tables.push_back(profile(server));
  page.tables.push_back(agents(server, inside));
  return page;
}

}  // namespace fathom::cli::top
