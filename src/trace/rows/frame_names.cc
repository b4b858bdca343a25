// SPDX-License-Identifier: MIT
// Many stacks share their outer frames, so each place is asked for once.
#include "trace/rows/frame_names.h"

#include <charconv>
#include <map>
#include <tuple>
#include <utility>

namespace fathom::trace {

std::string name_of_place(std::string_view module, std::int64_t offset) {
  char digits[20];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(offset), 16);
  return std::string(module.substr(module.rfind('/') + 1)) + "+0x" + std::string(digits, end.ptr);
}

namespace {

class FrameNamer {
 public:
  FrameNamer(const NameResolver& resolver, Strings& strings)
      : resolver_(resolver), strings_(strings) {}

  // What is to stand in its place.
  const std::vector<Frame>& named(const Frame& place) {
    const auto [at, is_new] =
        known_.try_emplace({place.module, place.build_id, place.offset}, std::vector<Frame>());
    if (is_new) at->second = look_up(place);
    return at->second;
  }
  [[nodiscard]] std::size_t unreadable() const { return unreadable_; }

 private:
  std::vector<Frame> look_up(const Frame& place) {
    CodePlace asked{std::string(strings_.view(place.module)),
                    std::string(strings_.view(place.build_id)),
                    static_cast<std::uint64_t>(place.offset)};
    if (place.address != kNull) asked.address = static_cast<std::uint64_t>(place.address);
    NamedPlace found = resolver_.frames ? resolver_.frames(asked) : NamedPlace{.readable = true};
    if (!found.readable) unreadable_++;
    if (found.frames.empty())
      found.frames.push_back({.function = name_of_place(asked.module, place.offset), .file = ""});
    std::vector<Frame> frames;
    for (const NamedFrame& one : found.frames) {
      Frame& frame = frames.emplace_back(place);
      frame.function = strings_.code(one.function);
      frame.file = strings_.code_or_null(one.file);
      if (one.line > 0) frame.line = one.line;
      if (found.address) frame.address = static_cast<std::int64_t>(*found.address);
    }
    return frames;
  }

  const NameResolver& resolver_;
  Strings& strings_;
  std::size_t unreadable_ = 0;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::vector<Frame>> known_;
};

}  // namespace

std::size_t name_frames(const NameResolver& resolver, FrameBatch& frames, Strings& strings) {
  FrameNamer namer(resolver, strings);
  FrameBatch named;
  named.rows.reserve(frames.rows.size());
  const auto put = [&named](std::int64_t stack, const Frame& frame) {
    const bool goes_on = !named.rows.empty() && named.rows.back().stack == stack;
    named.rows.push_back({stack, goes_on ? named.rows.back().depth + 1 : 0, frame});
  };
  for (const FrameRow& row : frames.rows) {
    if (!row.frame.is_place()) {
      put(row.stack, row.frame);
      continue;
    }
    for (const Frame& frame : namer.named(row.frame)) put(row.stack, frame);
  }
  frames = std::move(named);
  return namer.unreadable();
}

// The offset in the name may be that of the function's begin.
bool take_back_name(Frame& frame, Strings& strings) {
  if (frame.offset == kNull || frame.module == kNoString) return false;
  const std::string_view name = strings.view(frame.function);
  const std::size_t digits = name.rfind("+0x") + 3;
  std::uint64_t offset = 0;
  const char* const end = name.data() + name.size();
  if (digits < 3 || digits >= name.size() ||
      std::from_chars(name.data() + digits, end, offset, 16).ptr != end ||
      offset > static_cast<std::uint64_t>(frame.offset) ||
      name != name_of_place(strings.view(frame.module), static_cast<std::int64_t>(offset)))
    return false;
  frame.function = kNoString;
  return true;
}

}  // namespace fathom::trace
