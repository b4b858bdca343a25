// SPDX-License-Identifier: MIT
// The indexes behind pictures over time (analysis/canvas), one for each recording that somebody
// looks at. They are made in the background: whoever asks early gets what is there, and how far the
// next one is.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "analysis/canvas/canvas.h"
#include "base/result.h"
#include "serve/open_recordings.h"

namespace fathom::serve {

struct ShelvedCanvas {
  std::shared_ptr<const analysis::Canvas> canvas;  // of an earlier state where the recording grows
  std::optional<double> building;                  // how much of the next one is done
  std::optional<Error> failed;                     // why there is none
};

// Any thread.
class CanvasShelf {
 public:
  CanvasShelf();
  ~CanvasShelf();  // ends what is being made
  CanvasShelf(const CanvasShelf&) = delete;
  CanvasShelf& operator=(const CanvasShelf&) = delete;

  // Waits a moment for one that is soon ready.
  ShelvedCanvas get(const KnownRecording& recording, const std::string& revision);

 private:
  class Entry;
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::serve
