// SPDX-License-Identifier: MIT
// Applies a row filter to tracks. Children stand behind their parents, so one walk from the end
// keeps the hosts and processes that still have something below them.
#include "analysis/canvas/track_choice.h"

#include <algorithm>
#include <unordered_set>

namespace fathom::analysis {
namespace {

bool is_in(const std::vector<std::int64_t>& list, const std::optional<std::int64_t>& number) {
  return list.empty() || (number && std::ranges::find(list, *number) != list.end());
}

}  // namespace

bool is_chosen(const Track& track, const RowFilter& filter) {
  if (filter.without_process) return !track.pid;
  const bool of_host =
      filter.hosts.empty() || std::ranges::find(filter.hosts, track.host) != filter.hosts.end();
  return of_host && (!filter.host || *filter.host == track.host) && is_in(filter.pids, track.pid) &&
         is_in(filter.tids, track.tid);
}

std::vector<Track> chosen_tracks(const std::vector<Track>& tracks, const RowFilter& filter) {
  std::vector<bool> kept(tracks.size());
  std::unordered_set<TrackId> above;
  for (std::size_t i = tracks.size(); i-- > 0;) {  // children stand behind their parents
    const bool is_group =
        tracks[i].kind == TrackKind::kHost || tracks[i].kind == TrackKind::kProcess;
    kept[i] = above.contains(tracks[i].id) || (!is_group && is_chosen(tracks[i], filter));
    if (kept[i]) above.insert(tracks[i].parent);
  }
  std::vector<Track> chosen;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    if (kept[i]) chosen.push_back(tracks[i]);
  }
  return chosen;
}

}  // namespace fathom::analysis
