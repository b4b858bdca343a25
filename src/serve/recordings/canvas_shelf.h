// SPDX-License-Identifier: MIT
// The indexes behind pictures over time (analysis/canvas), one for each recording, or part of one,
// that somebody looks at. They are made in the background: whoever asks early gets what is there,
// and how far the next one is.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "analysis/canvas/canvas.h"
#include "analysis/row_filter.h"
#include "base/result.h"
#include "serve/recordings/open_recordings.h"

namespace fathom::serve {

struct ShelvedCanvas {
  std::shared_ptr<const analysis::Canvas> canvas;  // of an earlier state where the recording grows
  std::optional<double> building;                  // how much of the next one is done
  std::optional<Error> failed;                     // why there is none
};

// What an index is made of.
struct WantedCanvas {
  std::string id;
  std::string revision;
  std::string path;
  analysis::RowFilter part = {};  // of the rows; a time is left to the window
  bool grows = false;             // there will be another revision soon
};

// Any thread.
class CanvasShelf {
 public:
  // Indexes that are made at the same time; others wait until one is done, or until nobody has
  // asked for one of them for a while.
  static constexpr std::size_t kMostMaking = 2;

  // That of a part is a question, with a limit of time and memory; that of a whole recording is
  // not.
  explicit CanvasShelf(const QuestionLimits& limits);
  ~CanvasShelf();  // ends what is being made
  CanvasShelf(const CanvasShelf&) = delete;
  CanvasShelf& operator=(const CanvasShelf&) = delete;

  // Waits a moment for one that is soon ready.
  ShelvedCanvas get(const WantedCanvas& wanted);

 private:
  struct Workshop;
  class Entry;
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::serve
