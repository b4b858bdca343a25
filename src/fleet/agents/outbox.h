// SPDX-License-Identifier: MIT
// Batches that wait for their store, one file each, on disk before anybody tries to send them.
// Several agents share the folder: whoever works on a file holds its lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/directory.h"
#include "base/files.h"
#include "base/result.h"
#include "fleet/agents/letter.h"

namespace fathom::fleet {

// Nothing changes in it after open(): any thread may call. A batch stays in the folder until
// remove(), however this process ends.
class Outbox {
 public:
  // Makes the folder for this user alone where it is missing.
  static Result<Outbox> open(const std::string& path);

  // A file of the folder, locked as long as this lives.
  struct Held {
    std::string name;
    File file;
  };
  // On disk when this returns. kFull: as much waits as may wait.
  [[nodiscard]] Result<Held> put(const Letter& letter) const;
  // It was delivered.
  void remove(const Held& held) const;
  // It can never be delivered as it is: it stays under another name, which is returned as a path,
  // and nobody looks at it again.
  [[nodiscard]] std::string set_aside(const Held& held) const;

  // What waits and nobody works on, the oldest first. kCorrupt letters are set aside by this, and
  // their paths are added to `damaged`.
  using Takes = std::function<Status(const Held& held, const Letter& letter)>;
  Status each_waiting(const Takes& take, std::vector<std::string>& damaged) const;

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  explicit Outbox(Directory folder) : folder_(std::move(folder)) {}
  [[nodiscard]] Status check_room(std::size_t more) const;

  Directory folder_;
};

}  // namespace fathom::fleet
