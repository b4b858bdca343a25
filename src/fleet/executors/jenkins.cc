// SPDX-License-Identifier: MIT
// Jenkins may lose what it was told (a queue item goes some minutes after it left the queue, a
// restart forgets it), and a POST whose answer is lost may have been obeyed. So each build bears
// its work's id as a parameter, and is looked for by it before anything is done twice.
#include "fleet/executors/jenkins.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/private_files.h"
#include "base/text.h"
#include "fleet/executors/work_place.h"
#include "fleet/http/encodings.h"

namespace fathom::fleet {
namespace {

using nlohmann::json;

constexpr char kForm[] = "application/x-www-form-urlencoded";
constexpr double kSecondsOfMs = 1e-3;
// The status of `timeout` (kScript) where it had to end the program.
constexpr int kTimedOut = 124;
constexpr int kOk = 200, kCreated = 201, kFound = 302, kForbidden = 403, kNotFound = 404;
// Of a work that prints or leaves without end: the log's last part, and the first files.
constexpr std::size_t kMostLog = 1U << 20U;
constexpr std::size_t kMostArtifacts = 10'000;

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string parameter_xml(std::string_view name) {
  return "<hudson.model.StringParameterDefinition><name>" + std::string(name) +
         "</name><defaultValue/><trim>false</trim></hudson.model.StringParameterDefinition>";
}

// The work has a folder of its own, in whatever state another build left the workspace.
constexpr char kScript[] =
    "#!/bin/sh\n"
    "rm -rf work && mkdir work && cd work || exit 125\n"
    "if [ -n \"$FATHOM_TIMEOUT\" ]; then timeout -k 5 \"$FATHOM_TIMEOUT\" sh -c "
    "\"$FATHOM_COMMAND\"\n"
    "else sh -c \"$FATHOM_COMMAND\"; fi\n"
    "status=$?\n"
    "printf '{\"exit\": %d}\\n' \"$status\" > fathom-exit.json\n"
    "exit \"$status\"\n";

json parsed(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() ? value : json::object();
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

// ".../queue/item/17/" of an absolute or relative Location.
std::string queue_item_in(std::string_view location) {
  constexpr std::string_view kItem = "/queue/item/";
  const std::size_t at = location.find(kItem);
  if (at == std::string_view::npos) return "";
  const std::string_view number = location.substr(at + kItem.size());
  const std::size_t end = std::min(number.find_first_not_of("0123456789"), number.size());
  return end == 0 ? "" : std::string(number.substr(0, end));
}

bool has_id(const json& holder, const std::string& id) {
  const json actions = holder.value("actions", json::array());
  for (const json& action : actions) {
    if (!action.is_object()) continue;
    for (const json& parameter : action.value("parameters", json::array())) {
      if (parameter.is_object() && text_at(parameter, "name") == "FATHOM_ID" &&
          text_at(parameter, "value") == id)
        return true;
    }
  }
  return false;
}

// A server's word for a file: below the place, or not at all.
bool is_plain_path(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  return std::ranges::all_of(split(path, '/'), [](std::string_view part) {
    return !part.empty() && part != "." && part != ".." && part.find('\0') == std::string::npos;
  });
}

std::string encoded_path(std::string_view path) {
  std::string out;
  for (const std::string_view part : split(path, '/'))
    out += (out.empty() ? "" : "/") + encode_segment(part);
  return out;
}

// Files that came out of a build, by their paths in its workspace.
std::vector<std::string> artifacts_of(const json& build) {
  std::vector<std::string> paths;
  for (const json& artifact : build.value("artifacts", json::array())) {
    if (artifact.is_object() && paths.size() < kMostArtifacts)
      paths.push_back(text_at(artifact, "relativePath"));
  }
  return paths;
}

// What is of the URL behind the host, without a stroke at its end.
std::string root_of(const std::string& url) {
  const std::size_t host = url.find("://");
  const std::size_t path = url.find('/', host == std::string::npos ? 0 : host + 3);
  std::string root = path == std::string::npos ? "" : url.substr(path);
  while (root.ends_with('/')) root.pop_back();
  return root;
}

Error refused(const std::string& what, const WebReply& reply) {
  const Code code = reply.status == kForbidden || reply.status == 401 ? Code::kDenied
                    : reply.status == kNotFound                       ? Code::kNotFound
                    : reply.status >= 500                             ? Code::kUnavailable
                                                                      : Code::kInvalid;
  return {code, "Jenkins: " + what + ": status " + std::to_string(reply.status),
          code == Code::kDenied ? "check 'jenkins.user' and the token" : ""};
}

}  // namespace

std::string jenkins_job_xml(const JenkinsOptions& options) {
  std::string parameters;
  for (const std::string_view name : {"FATHOM_ID", "FATHOM_COMMAND", "FATHOM_TIMEOUT"})
    parameters += parameter_xml(name);
  const std::string where = options.label.empty() ? "<canRoam>true</canRoam>"
                                                  : "<assignedNode>" + xml_text(options.label) +
                                                        "</assignedNode><canRoam>false</canRoam>";
  return "<?xml version='1.1' encoding='UTF-8'?>\n<project>"
         "<description>Runs works of fathom suites</description>"
         "<keepDependencies>false</keepDependencies><properties>"
         "<hudson.model.ParametersDefinitionProperty><parameterDefinitions>" +
         parameters +
         "</parameterDefinitions></hudson.model.ParametersDefinitionProperty></properties>"
         "<scm class=\"hudson.scm.NullSCM\"/>" +
         where +
         "<disabled>false</disabled><concurrentBuild>true</concurrentBuild><triggers/>"
         "<builders><hudson.tasks.Shell><command>" +
         xml_text(kScript) +
         "</command></hudson.tasks.Shell></builders>"
         "<publishers><hudson.tasks.ArtifactArchiver><artifacts>work/fathom-exit.json,work/" +
         xml_text(options.artifacts) +
         "</artifacts><allowEmptyArchive>true</allowEmptyArchive><onlyIfSuccessful>false"
         "</onlyIfSuccessful></hudson.tasks.ArtifactArchiver></publishers><buildWrappers/>"
         "</project>\n";
}

JenkinsExecutor::JenkinsExecutor(std::unique_ptr<Web> web, std::string token,
                                 JenkinsOptions options)
    : web_(std::move(web)), token_(std::move(token)), options_(std::move(options)) {}

std::string JenkinsExecutor::job_path() const {
  std::string path;
  for (const std::string_view part : split(options_.job, '/'))
    path += "/job/" + encode_segment(part);
  return path;
}

std::string JenkinsExecutor::build_path(const Entry& entry) const {
  return job_path() + "/" + std::to_string(entry.build);
}

// A crumb is needed with a password, and not with an API token: the server says so.
Result<WebReply> JenkinsExecutor::ask(WebRequest request) {
  request.path = root_of(options_.url) + request.path;
  if (!options_.user.empty())
    request.headers["Authorization"] = "Basic " + base64(options_.user + ":" + token_);
  for (const auto& [name, value] : crumb_) request.headers[name] = value;
  FATHOM_ASSIGN(WebReply reply, web_->ask(request));
  if (reply.status != kForbidden || request.method != "POST" || asked_for_crumb_) return reply;
  FATHOM_TRY(take_crumb());
  for (const auto& [name, value] : crumb_) request.headers[name] = value;
  return web_->ask(request);
}

// Jenkins ties a crumb to the session that it was given in: the cookie goes with it.
Status JenkinsExecutor::take_crumb() {
  asked_for_crumb_ = true;
  FATHOM_ASSIGN(const WebReply reply, ask({"GET", "/crumbIssuer/api/json", {}, ""}));
  if (reply.status == kNotFound) return {};  // it asks for none
  if (reply.status != kOk) return refused("ask for a crumb", reply);
  const json crumb = parsed(reply.body);
  const std::string field = text_at(crumb, "crumbRequestField");
  if (field.empty()) return Error{Code::kCorrupt, "Jenkins: the crumb has no name", ""};
  crumb_[field] = text_at(crumb, "crumb");
  const auto cookie = reply.headers.find("set-cookie");
  if (cookie != reply.headers.end())
    crumb_["Cookie"] = cookie->second.substr(0, cookie->second.find(';'));
  return {};
}

Status JenkinsExecutor::check() {
  const std::string xml = jenkins_job_xml(options_);
  FATHOM_ASSIGN(const WebReply now, ask({"GET", job_path() + "/config.xml", {}, ""}));
  if (now.status == kOk && now.body == xml) return {};
  if (now.status != kOk && now.status != kNotFound) return refused("read the job", now);
  std::string path = job_path() + "/config.xml";
  if (now.status == kNotFound) {
    const std::size_t stroke = options_.job.rfind('/');
    std::string folder;
    if (stroke != std::string::npos) {
      for (const std::string_view part : split(options_.job.substr(0, stroke), '/'))
        folder += "/job/" + encode_segment(part);
    }
    path = folder + "/createItem?name=" +
           encode_segment(stroke == std::string::npos ? options_.job
                                                      : options_.job.substr(stroke + 1));
  }
  FATHOM_ASSIGN(const WebReply made,
                ask({"POST", path, {{"Content-Type", "application/xml"}}, xml}));
  if (made.status != kOk && made.status != kFound) return refused("write the job", made);
  return {};
}

Status JenkinsExecutor::post_build(const Work& work, Entry& entry) {
  std::vector<std::string> words = {"env"};
  for (const auto& [name, value] : work.environment)
    words.push_back(fmt::format("{}={}", name, value));
  words.insert(words.end(), work.command.begin(), work.command.end());
  std::string command = shell_join(words);
  if (!work.directory.empty()) command = "cd " + shell_quote(work.directory) + " && " + command;
  std::string form =
      "FATHOM_ID=" + encode_segment(work.id) + "&FATHOM_COMMAND=" + encode_segment(command);
  if (work.timeout_ns > 0)
    form += "&FATHOM_TIMEOUT=" + std::to_string((work.timeout_ns + 999'999'999) / 1'000'000'000);
  entry.submitted_ns = now_monotonic_ns();
  const Result<WebReply> reply =
      ask({"POST", job_path() + "/buildWithParameters", {{"Content-Type", kForm}}, form});
  if (!reply) {
    // Nobody knows whether it was heard: states() looks for a build with this id.
    return reply.error().code == Code::kUnavailable ? Status() : reply.error();
  }
  if (reply->status != kCreated && reply->status != kFound && reply->status != kOk)
    return refused("start a build", *reply);
  const auto location = reply->headers.find("location");
  if (location != reply->headers.end()) entry.queue_item = queue_item_in(location->second);
  return {};
}

Status JenkinsExecutor::submit(const std::vector<Work>& works,
                               const std::vector<std::string>& /*after*/) {
  for (const Work& work : works) {
    FATHOM_TRY(prepare_place(work));
    Entry& entry = entries_[work.id];
    entry.place = work.place;
    FATHOM_TRY(post_build(work, entry));
  }
  return {};
}

// By its id, among the builds and in the queue. false: it is nowhere.
Result<bool> JenkinsExecutor::search_build(const std::string& id, Entry& entry) {
  FATHOM_ASSIGN(const WebReply builds,
                ask({"GET",
                     job_path() + "/api/json?tree=" +
                         encode_segment("builds[number,actions[parameters[name,value]]]{0,1000}"),
                     {},
                     ""}));
  if (builds.status != kOk) return refused("list builds", builds);
  const json of_job = parsed(builds.body);
  for (const json& build : of_job.value("builds", json::array())) {
    if (!build.is_object() || !has_id(build, id)) continue;
    entry.build = number_at(build, "number");
    return entry.build > 0;
  }
  FATHOM_ASSIGN(
      const WebReply queue,
      ask({"GET",
           "/queue/api/json?tree=" + encode_segment("items[id,actions[parameters[name,value]]]"),
           {},
           ""}));
  if (queue.status != kOk) return refused("list the queue", queue);
  const json of_queue = parsed(queue.body);
  for (const json& item : of_queue.value("items", json::array())) {
    if (!item.is_object() || !has_id(item, id)) continue;
    entry.queue_item = std::to_string(number_at(item, "id"));
    return true;
  }
  return false;
}

Status JenkinsExecutor::find_build(const std::string& id, Entry& entry) {
  if (!entry.queue_item.empty()) {
    FATHOM_ASSIGN(const WebReply reply,
                  ask({"GET",
                       "/queue/item/" + entry.queue_item + "/api/json?tree=cancelled,why," +
                           encode_segment("executable[number]"),
                       {},
                       ""}));
    if (reply.status == kOk) {
      const json item = parsed(reply.body);
      entry.state.why = text_at(item, "why");
      if (item.value("cancelled", json(false)) == true) {
        entry.state.phase = WorkPhase::kLost;
        entry.state.why = "it was cancelled in the queue";
      }
      entry.build = number_at(item.value("executable", json::object()), "number");
      return {};
    }
    if (reply.status != kNotFound) return refused("ask for a queue item", reply);
    entry.queue_item.clear();
  }
  FATHOM_ASSIGN(const bool found, search_build(id, entry));
  if (!found && now_monotonic_ns() - entry.submitted_ns > options_.most_silence_ns) {
    entry.state.phase = WorkPhase::kLost;
    entry.state.why = "Jenkins no longer knows it";
  }
  return {};
}

// The log from where it was read last. Jenkins counts in bytes of its own file, which holds notes
// of plugins that the answer lacks: a header says where to go on.
Status JenkinsExecutor::take_log(Entry& entry) {
  FATHOM_ASSIGN(
      const WebReply reply,
      ask({"GET",
           build_path(entry) + "/logText/progressiveText?start=" + std::to_string(entry.log_read),
           {},
           ""}));
  if (reply.status != kOk) return {};  // there is none yet
  const auto size = reply.headers.find("x-text-size");
  const Result<std::int64_t> next =
      size == reply.headers.end() ? Result<std::int64_t>(entry.log_read) : parse_int(size->second);
  if (!next || *next <= entry.log_read) return {};
  entry.log_read = *next;
  entry.log += reply.body;
  if (entry.log.size() > kMostLog) entry.log.erase(0, entry.log.size() - kMostLog);
  return {};
}

// Three outcomes: the build is gone and cannot tell how it ended; it goes on, and has a log to
// show; it has ended.
Status JenkinsExecutor::look_at_build(Entry& entry) {
  FATHOM_ASSIGN(const WebReply reply,
                ask({"GET",
                     build_path(entry) + "/api/json?tree=building,result,duration,builtOn," +
                         encode_segment("artifacts[relativePath]"),
                     {},
                     ""}));
  if (reply.status == kNotFound) {
    entry.state = {WorkPhase::kLost, {}, entry.state.host, "Jenkins has removed its build"};
    return {};
  }
  if (reply.status != kOk) return refused("ask for a build", reply);
  const json build = parsed(reply.body);
  entry.state.host = text_at(build, "builtOn");
  FATHOM_TRY(take_log(entry));
  if (build.value("building", json(true)) != false) {
    entry.state.phase = WorkPhase::kRunning;
    return {};
  }
  // One answer need not bring all of a long log, and states() does not look at this build again.
  FATHOM_TRY(take_log(entry));
  entry.artifacts = artifacts_of(build);
  return settle_build(entry, text_at(build, "result"), number_at(build, "duration"));
}

// How a build ended is what its script wrote as its last act: Jenkins' own result does not tell a
// program that failed from a machine that went away.
Status JenkinsExecutor::settle_build(Entry& entry, const std::string& result,
                                     std::int64_t duration_ms) {
  FATHOM_ASSIGN(const WebReply reply,
                ask({"GET", build_path(entry) + "/artifact/work/fathom-exit.json", {}, ""}));
  std::optional<WorkOutcome> outcome;
  if (reply.status == kOk) outcome = parse_outcome(reply.body);
  if (!outcome) {  // its machine went away, or somebody stopped it, before the program had ended
    entry.state.phase = WorkPhase::kLost;
    entry.state.why = "its build ended as " + result + " without a result";
    return {};
  }
  outcome->wall = kSecondsOfMs * static_cast<double>(duration_ms);
  outcome->host = entry.state.host;
  outcome->timed_out = outcome->exit == kTimedOut;
  entry.state.outcome = std::move(outcome);
  entry.state.phase = WorkPhase::kEnded;
  return {};
}

Status JenkinsExecutor::look_at(const std::string& id, Entry& entry) {
  if (entry.state.phase == WorkPhase::kEnded || entry.state.phase == WorkPhase::kLost) return {};
  if (entry.build == 0) FATHOM_TRY(find_build(id, entry));
  if (entry.build == 0) return {};
  return look_at_build(entry);
}

Result<std::map<std::string, WorkState>> JenkinsExecutor::states() {
  std::map<std::string, WorkState> states;
  for (auto& [id, entry] : entries_) {
    FATHOM_TRY(look_at(id, entry));
    states[id] = entry.state;
  }
  return states;
}

// A pipeline may not listen: Jenkins has a stronger word after each.
Status JenkinsExecutor::cancel(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.state.phase == WorkPhase::kEnded) return {};
  Entry& entry = found->second;
  if (entry.build == 0 && entry.state.phase != WorkPhase::kLost) (void)find_build(id, entry);
  if (entry.build == 0 && !entry.queue_item.empty())
    (void)ask({"POST", "/queue/cancelItem?id=" + entry.queue_item, {}, ""});
  for (const char* const word : {"/stop", "/term", "/kill"}) {
    if (entry.build == 0) break;
    FATHOM_ASSIGN(const WebReply reply, ask({"POST", build_path(entry) + word, {}, ""}));
    if (reply.status == kNotFound) break;
    FATHOM_ASSIGN(const WebReply now,
                  ask({"GET", build_path(entry) + "/api/json?tree=building", {}, ""}));
    if (parsed(now.body).value("building", json(false)) != true) break;
  }
  if (entry.state.phase != WorkPhase::kLost) entry.state.why = "it was cancelled";
  entry.state.phase = WorkPhase::kLost;
  return {};
}

Result<std::string> JenkinsExecutor::log(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return Error{Code::kNotFound, "no work '" + id + "'", ""};
  if (found->second.build != 0) FATHOM_TRY(take_log(found->second));
  return found->second.log;
}

Status JenkinsExecutor::fetch(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return Error{Code::kNotFound, "no work '" + id + "'", ""};
  const Entry& entry = found->second;
  FATHOM_TRY(write_private_atomic(join_path(entry.place, "log"), entry.log));
  if (entry.state.outcome) FATHOM_TRY(write_outcome(entry.place, *entry.state.outcome));
  for (const std::string& path : entry.artifacts) {
    std::string_view name = path;
    if (name.starts_with("work/")) name.remove_prefix(5);
    if (!is_plain_path(path) || name == "fathom-exit.json") continue;
    FATHOM_ASSIGN(const WebReply reply,
                  ask({"GET", build_path(entry) + "/artifact/" + encoded_path(path), {}, ""}));
    if (reply.status != kOk) return refused("fetch " + escape_control(path), reply);
    const std::string to = join_path(join_path(entry.place, "files"), name);
    FATHOM_TRY(make_dirs(std::string(dir_name(to))));
    FATHOM_TRY(write_private_atomic(to, reply.body));
  }
  return {};
}

}  // namespace fathom::fleet
