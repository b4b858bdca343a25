// SPDX-License-Identifier: MIT
// Lines are views into the buffer, with padding behind them for simdjson. A line never spans a gap
// in a damaged file.
#include "analysis/import/line_reader.h"

#include <cstring>
#include <utility>

#include "analysis/import/byte_source.h"

namespace fathom::analysis {

class LineReader::State {
 public:
  explicit State(ByteSource source) : source_(std::move(source)), buffer_(kStartSize, '\0') {}

  Result<std::optional<std::string_view>> next() {
    while (true) {
      std::optional<std::string_view> line = complete_line();
      if (!line && over_) {
        line = last_line();
        if (!line) return line;
      }
      if (!line) {
        FATHOM_TRY(fill());
      } else if (!is_too_long(*line)) {
        return line;
      }
    }
  }

  [[nodiscard]] std::int64_t damage() const { return source_.damage(); }
  [[nodiscard]] std::int64_t too_long() const { return too_long_; }

 private:
  static constexpr std::size_t kStartSize = std::size_t{1} << 20;

  std::optional<std::string_view> complete_line() {
    const char* const from = buffer_.data() + searched_;
    const auto* const end = static_cast<const char*>(std::memchr(from, '\n', filled_ - searched_));
    if (end == nullptr) {
      searched_ = filled_;
      return std::nullopt;
    }
    const std::string_view line(buffer_.data() + begin_,
                                static_cast<std::size_t>(end - buffer_.data()) - begin_);
    begin_ = searched_ = static_cast<std::size_t>(end - buffer_.data()) + 1;
    return line;
  }

  // Counts it, unless it is the end of one that was counted when it filled the buffer.
  bool is_too_long(std::string_view line) {
    if (std::exchange(skipping_, false)) return true;
    if (line.size() <= kMaxLine) return false;
    ++too_long_;
    return true;
  }

  std::optional<std::string_view> last_line() {
    if (begin_ == filled_) return std::nullopt;
    const std::string_view line(buffer_.data() + begin_, filled_ - begin_);
    begin_ = searched_ = filled_;
    return line;
  }

  Status fill() {
    make_room();
    bool gap = false;
    const std::span<char> room(buffer_.data() + filled_, buffer_.size() - kPadding - filled_);
    FATHOM_ASSIGN(const std::size_t got, source_.read(room, gap));
    // What stood before a gap must not be joined with what comes behind it.
    if (gap && got > 0 && begin_ < filled_) {
      std::memmove(buffer_.data() + begin_, buffer_.data() + filled_, got);
      filled_ = searched_ = begin_;
    }
    filled_ += got;
    over_ = got == 0;
    return {};
  }

  // Moves the open line to the front; a larger buffer when it fills half of it.
  void make_room() {
    const std::size_t open = filled_ - begin_;
    if (skipping_ || open > kMaxLine) {
      if (!std::exchange(skipping_, true)) ++too_long_;
      begin_ = searched_ = filled_ = 0;
      return;
    }
    std::memmove(buffer_.data(), buffer_.data() + begin_, open);
    searched_ -= begin_;
    filled_ = open;
    begin_ = 0;
    if (open > buffer_.size() / 2) buffer_.resize(buffer_.size() * 2);
  }

  ByteSource source_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the line that is being looked for
  std::size_t searched_ = 0;  // no line ends before this
  std::size_t filled_ = 0;
  bool over_ = false;
  bool skipping_ = false;  // the rest of a line that is too long
  std::int64_t too_long_ = 0;
};

LineReader::LineReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

Result<LineReader> LineReader::open(const std::string& path) {
  FATHOM_ASSIGN(ByteSource source, ByteSource::open(path));
  return LineReader(std::make_unique<State>(std::move(source)));
}

LineReader LineReader::of(std::string_view content) {
  return LineReader(std::make_unique<State>(ByteSource::of(content)));
}

Result<std::optional<std::string_view>> LineReader::next() { return state_->next(); }

std::int64_t LineReader::damage() const { return state_->damage(); }

std::int64_t LineReader::too_long() const { return state_->too_long(); }

}  // namespace fathom::analysis
