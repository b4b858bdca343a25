// SPDX-License-Identifier: MIT
// Recordings that wait for their server, in a folder each (docs/formats/outbox.md). An agent makes
// its recording here, so that nothing has to be copied when the server is away. Several agents
// share the folder: whoever works on a recording holds the lock of its folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/directory.h"
#include "base/result.h"
#include "base/scratch.h"
#include "fleet/recordings/recording_store.h"

namespace fathom::fleet {

// What became of all that was sent.
struct RecordingDelivery {
  std::vector<std::string> delivered;  // names
  std::int64_t waiting = 0;            // for this store
  std::int64_t elsewhere = 0;          // for other stores
  std::optional<Error> away;           // why they wait
  std::vector<std::string> refused;    // sentences: what was set aside, and why
};

// Nothing changes in it after open(): any thread may call, and other processes may use the folder.
// A send that fails is no Error: RecordingDelivery says what waits, and why.
class RecordingOutbox {
 public:
  // `folder`: this user's state. Makes what is missing, for this user alone.
  static Result<RecordingOutbox> open(const std::string& folder);

  // A recording that is being made. Gone without finish(), and nothing is kept.
  class Draft {
   public:
    [[nodiscard]] std::string directory() const;  // to be made by whoever records
    [[nodiscard]] const std::string& name() const { return name_; }

   private:
    friend class RecordingOutbox;
    std::string name_;
    ScratchDirectory place_;
    std::shared_ptr<const Fd> lock_;
  };
  [[nodiscard]] Result<Draft> begin(const std::string& name) const;
  // From now on it waits. `place`: which store it is for (StorePlace::labels). kFull: as much waits
  // as may wait.
  Status finish(Draft draft, const std::string& place) const;

  // Sends what waits for a store with one of these labels. A store that has a recording of the name
  // has got it before.
  Status send_waiting(RecordingStore& store, const std::vector<std::string>& labels,
                      RecordingDelivery& delivery) const;

 private:
  explicit RecordingOutbox(Directory folder) : folder_(std::move(folder)) {}
  [[nodiscard]] Status check_room(const std::string& draft) const;
  void settle(RecordingStore& store, const std::string& name, RecordingDelivery& delivery) const;

  Directory folder_;
};

// The name of a recording that an agent makes for a job: the same for a work of a suite that is
// done again, so that it is kept once.
[[nodiscard]] std::string new_recording_name(const std::string& job);

}  // namespace fathom::fleet
