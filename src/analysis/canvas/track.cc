// SPDX-License-Identifier: MIT
// Names the kinds of tracks as the page and the HTTP interface know them.
#include "analysis/canvas/track.h"

namespace fathom::analysis {

std::string_view track_kind_name(TrackKind kind) {
  switch (kind) {
    case TrackKind::kHost:
      return "host";
    case TrackKind::kProcess:
      return "process";
    case TrackKind::kThread:
      return "thread";
    case TrackKind::kStream:
      return "stream";
    case TrackKind::kCounter:
      return "counter";
    case TrackKind::kLayer:
      return "layer";
    case TrackKind::kSamples:
      return "samples";
  }
  return "";
}

}  // namespace fathom::analysis
