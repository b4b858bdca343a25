// SPDX-License-Identifier: MIT
// A file of DataCrumbs' counters that grows while a daemon records.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "trace/decode/host_rows.h"

namespace fathom::cli {

// One thread at a time. A line may be cut where add() failed: the disk was full.
class LiveCounters {
 public:
  // An existing file is continued.
  static Result<LiveCounters> open(const std::string& path);

  // `start_ns` is added to all times.
  Status add(const trace::HostRows& rows, const trace::Strings& strings, std::int64_t start_ns);

 private:
  LiveCounters(File file, std::string host) : file_(std::move(file)), host_(std::move(host)) {}
  File file_;
  std::string host_;
};

}  // namespace fathom::cli
