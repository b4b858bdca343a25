// SPDX-License-Identifier: MIT
// An id is the name of a directory, with a number behind it where two have the same. A request
// chooses among these: no path of a client's is ever opened.
#include "serve/recordings/named_recordings.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/escape.h"
#include "base/files.h"
#include "trace/recording/recording.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kMostInside = 1000;  // of one directory

std::string short_name(const NamedTrace& trace) {
  const Result<std::string> whole = absolute_path(trace.path);
  const std::string name(base_name(whole ? *whole : trace.path));
  return name.empty() || name == "/" ? trace.name : name;
}

// Another tool's trace was imported to a path that goes with this process: it stays what was typed.
// 'last' may be another one tomorrow.
std::string place_of(const NamedTrace& trace) {
  if (!trace.name.starts_with(trace.path) && trace.name != "last") return trace.name;
  const Result<std::string> whole = absolute_path(trace.path);
  return whole ? *whole : trace.name;
}

// With its directory, where others have the same name.
std::string long_name(const KnownRecording& recording) {
  const Result<std::string> whole = absolute_path(recording.path);
  const std::string_view above = base_name(dir_name(whole ? *whole : recording.path));
  return above.empty() ? recording.name : std::string(above) + "/" + recording.name;
}

void tell_apart(std::vector<KnownRecording>& all) {
  std::map<std::string, int> count;
  for (const KnownRecording& one : all) ++count[one.name];
  for (KnownRecording& one : all)
    if (count[one.name] > 1) one.name = long_name(one);
}

bool has_id(const std::vector<KnownRecording>& all, const std::string& id) {
  return std::ranges::find(all, id, &KnownRecording::id) != all.end();
}

void add_inner(const KnownRecording& root, std::vector<KnownRecording>& all) {
  std::vector<std::string> inner = trace::find_recordings(root.path);
  if (inner.size() < 2) return;
  if (inner.size() > kMostInside) inner.resize(kMostInside);
  for (const std::string& path : inner) {
    if (!path.starts_with(root.path + "/")) continue;
    const std::string step = path.substr(root.path.size() + 1);
    all.push_back(
        {root.id + "/" + step, root.name + "/" + step, path, {}, root.place + "/" + step});
  }
}

}  // namespace

NamedRecordings::NamedRecordings(std::vector<NamedTrace> traces) {
  for (NamedTrace& trace : traces) {
    while (trace.path.size() > 1 && trace.path.ends_with('/')) trace.path.pop_back();
    const std::string name = short_name(trace);
    std::string id = name;
    for (int number = 2; has_id(roots_, id); ++number) id = name + "-" + std::to_string(number);
    std::string place = place_of(trace);
    roots_.push_back({id, name, std::move(trace.path), {}, std::move(place)});
  }
  tell_apart(roots_);
}

Result<std::vector<KnownRecording>> NamedRecordings::list() {
  std::vector<KnownRecording> all;
  for (const KnownRecording& root : roots_) {
    all.push_back(root);
    add_inner(root, all);
  }
  return all;
}

Result<KnownRecording> NamedRecordings::find(const std::string& id) {
  if (id.empty() && !roots_.empty()) return roots_.front();
  const auto root = std::ranges::find(roots_, id, &KnownRecording::id);
  if (root != roots_.end()) return *root;
  FATHOM_ASSIGN(const std::vector<KnownRecording> all, list());
  const auto found = std::ranges::find(all, id, &KnownRecording::id);
  if (found != all.end()) return *found;
  return Error{Code::kNotFound, "there is no recording '" + escape_name(id.substr(0, 200)) + "'",
               "/api/v1/page lists them"};
}

}  // namespace fathom::serve
