// SPDX-License-Identifier: MIT
// A control group that we make for one run of a command of this machine: what it needs is counted
// there as for a container. Only where we may, and where the kernel counts memory in it.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace fathom::containers {

// Owns the directories of the group, and whoever is in them: none of it outlives this.
class OwnGroup {
 public:
  // One at a time. An error says in words why there can be none. Groups whose owner was killed are
  // removed on the way.
  static Result<OwnGroup> make();
  // Ends whoever is in it, and removes it. May take seconds where processes end slowly.
  ~OwnGroup();
  OwnGroup(OwnGroup&&) noexcept = default;
  OwnGroup& operator=(OwnGroup&&) = delete;

  // Its directory in the hierarchy that counts memory.
  [[nodiscard]] const std::string& path() const { return directories_.front(); }
  // A process that writes "0" to each of these enters it.
  [[nodiscard]] Result<std::vector<Fd>> doors() const;

 private:
  explicit OwnGroup(std::vector<std::string> directories) : directories_(std::move(directories)) {}
  std::vector<std::string> directories_;  // in each hierarchy; none: it was moved away
};

}  // namespace fathom::containers
