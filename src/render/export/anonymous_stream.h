// SPDX-License-Identifier: MIT
// A stream whose names of files, hosts, programs and command lines are hashes: the same text is the
// same hash everywhere, and who does not have the key cannot guess it back. Functions, layers,
// numbers and times stay, and so do words that our own sources chose ("device", "4x2x1").
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "render/export/event_stream.h"

namespace fathom::render {

// One thread at a time. Views that it gives are valid as long as it is, or, where a text stays as
// it is, as long as that text.
class Anonymizer {
 public:
  explicit Anonymizer(std::string key) : key_(std::move(key)) {}

  // "h" and 12 hexadecimal digits; "" stays.
  std::string_view word(std::string_view text);
  // Each part of a path for itself, so that folders stay folders; the extension stays.
  std::string_view path(std::string_view text);
  // Any text: numbers stay, paths are hashed as paths, all else as a word.
  std::string_view text(std::string_view text);

 private:
  std::string hash(std::string_view text) const;
  std::string part(std::string_view name) const;

  std::string key_;
  std::unordered_map<std::string, std::string> words_;
  std::unordered_map<std::string, std::string> paths_;
};

// A stream in front of another one: each row is copied with its names hidden and handed on. Memory
// grows with distinct names, which are remembered so that each is hashed once.
class AnonymousStream : public EventStream {
 public:
  // `from` must outlive this. Whoever knows the key can tell whether a hash is that of a given
  // text.
  AnonymousStream(EventStream& from, std::string key) : from_(from), names_(std::move(key)) {}

  [[nodiscard]] std::int64_t start_realtime_ns() const override {
    return from_.start_realtime_ns();
  }
  Status processes(const std::function<Status(const ExportProcess&)>& use) override;
  Status threads(const std::function<Status(const ExportThread&)>& use) override;
  Status events(EventOrder order, const std::function<Status(const ExportEvent&)>& use) override;
  Status counters(const std::function<Status(const ExportCounter&)>& use) override;
  Status intervals(IntervalDetail detail,
                   const std::function<Status(const ExportInterval&)>& use) override;
  Status samples(const std::function<Status(const ExportSample&)>& use) override;
  std::string why_not_sampled() override { return from_.why_not_sampled(); }
  Status table(const std::function<Status(const Table&)>& use) override;
  // What is not made of rows cannot be made anonymous: a usage error.
  Status write_parquet(const std::string& path) override;

 private:
  void hide(Value& cell, std::string_view column, std::string_view layer);

  EventStream& from_;
  Anonymizer names_;
};

}  // namespace fathom::render
