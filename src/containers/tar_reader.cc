// SPDX-License-Identifier: MIT
// A state machine over blocks of 512 bytes: header, long name or pax records, content, padding. It
// keeps long names and pax records alone; content goes on as it comes.
#include "containers/tar_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace fathom::containers {
namespace {

constexpr std::uint64_t kMostExtraBytes = 1U << 20U;           // of a long name, or of pax
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62U;  // of a member: no sum overflows

Error corrupt(const char* why) {
  return {Code::kCorrupt, std::string("the engine's archive is broken: ") + why, ""};
}

std::string_view until_zero(std::string_view field) { return field.substr(0, field.find('\0')); }

// Octal digits with blanks around them, or, for large ones, bytes behind a first one of 0x80.
std::optional<std::uint64_t> number_in(std::string_view field) {
  std::uint64_t number = 0;
  if (static_cast<unsigned char>(field[0]) == 0x80) {
    for (const char c : field.substr(1)) {
      if (number > kMostBytes >> 8U) return std::nullopt;
      number = number << 8U | static_cast<unsigned char>(c);
    }
    return number;
  }
  field = until_zero(field);
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  for (const char c : field) {
    if (c < '0' || c > '7' || number > kMostBytes >> 3U) return std::nullopt;
    number = number << 3U | static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

// The sum is over the header with blanks in its own place.
bool has_its_sum(std::string_view header) {
  constexpr std::size_t kSumAt = 148;
  constexpr std::size_t kSumSize = 8;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool is_sum = i >= kSumAt && i < kSumAt + kSumSize;
    sum += is_sum ? ' ' : static_cast<unsigned char>(header[i]);
  }
  const std::optional<std::uint64_t> told = number_in(header.substr(kSumAt, kSumSize));
  return told && *told == sum;
}

// ustar has 155 more bytes for a name in front of the 100; older kinds of tar have other things
// there.
std::string name_in(std::string_view header) {
  const std::string_view name = until_zero(header.substr(0, 100));
  const bool is_ustar = header.substr(257, 6) == std::string_view("ustar\0", 6);
  const std::string_view prefix = is_ustar ? until_zero(header.substr(345, 155)) : "";
  return prefix.empty() ? std::string(name) : std::string(prefix) + "/" + std::string(name);
}

TarKind kind_of(char letter) {
  if (letter == '0' || letter == '\0') return TarKind::kFile;
  if (letter == '5') return TarKind::kDirectory;
  return letter == '1' || letter == '2' ? TarKind::kLink : TarKind::kOther;
}

}  // namespace

Status TarReader::begin_extra(State state, std::uint64_t size) {
  if (size > kMostExtraBytes) return corrupt("a name has no end");
  state_ = state;
  left_ = size;
  return left_ == 0 ? end_content() : Status();
}

Status TarReader::begin_member(char kind, std::uint64_t size) {
  TarMember member{.kind = kind_of(kind), .name = std::move(long_name_), .size = size};
  if (has_long_size_) member.size = long_size_;
  if (member.name.empty()) member.name = name_in(block_);
  long_name_.clear();
  has_long_size_ = false;
  block_.clear();
  // Links, devices and directories have none, whatever their header says of it.
  if (kind >= '1' && kind <= '6') member.size = 0;
  left_ = member.size;
  padding_ = static_cast<std::size_t>((kBlock - left_ % kBlock) % kBlock);
  state_ = State::kContent;
  FATHOM_TRY(consumer_.begin(member));
  return left_ == 0 ? end_content() : Status();
}

// Two blocks of zeros are the end; the first is taken for it, as everybody does.
Status TarReader::read_header() {
  constexpr std::size_t kKindAt = 156;
  if (std::ranges::all_of(block_, [](char c) { return c == '\0'; })) {
    state_ = State::kEnd;
    return {};
  }
  if (!has_its_sum(block_)) return corrupt("the checksum of a header is wrong");
  const std::optional<std::uint64_t> size = number_in(std::string_view(block_).substr(124, 12));
  if (!size || *size > kMostBytes) return corrupt("a size is not a number");
  const char kind = block_[kKindAt];
  if (kind != 'L' && kind != 'x' && kind != 'K' && kind != 'g') return begin_member(kind, *size);
  block_.clear();
  padding_ = static_cast<std::size_t>((kBlock - *size % kBlock) % kBlock);
  return begin_extra(kind == 'L'   ? State::kLongName
                     : kind == 'x' ? State::kPax
                                   : State::kSkip,
                     *size);
}

// "LENGTH KEY=VALUE\n" again and again, where LENGTH counts all of it.
void TarReader::read_pax() {
  std::string_view rest = block_;
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    if (blank == std::string_view::npos) return;
    const Result<std::int64_t> length = parse_int(std::string(rest.substr(0, blank)));
    if (!length || *length <= static_cast<std::int64_t>(blank) + 1 ||
        static_cast<std::uint64_t>(*length) > rest.size())
      return;
    std::string_view record = rest.substr(blank + 1, static_cast<std::size_t>(*length) - blank - 2);
    const std::size_t equals = record.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view value = record.substr(equals + 1);
      if (record.substr(0, equals) == "path") long_name_ = until_zero(value);
      if (record.substr(0, equals) == "size") {
        const Result<std::int64_t> size = parse_int(std::string(value));
        has_long_size_ = size && *size >= 0 && static_cast<std::uint64_t>(*size) <= kMostBytes;
        if (has_long_size_) long_size_ = static_cast<std::uint64_t>(*size);
      }
    }
    rest.remove_prefix(static_cast<std::size_t>(*length));
  }
}

Status TarReader::end_content() {
  if (state_ == State::kContent) FATHOM_TRY(consumer_.end());
  if (state_ == State::kLongName) long_name_ = until_zero(block_);
  if (state_ == State::kPax) read_pax();
  block_.clear();
  state_ = padding_ > 0 ? State::kPadding : State::kHeader;
  return {};
}

Status TarReader::take_extra(std::string_view bytes) {
  if (state_ == State::kContent) return consumer_.content(bytes);
  if (state_ != State::kSkip) block_ += bytes;
  return {};
}

Status TarReader::feed(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::kEnd) {
    if (state_ == State::kHeader) {
      const std::size_t more = std::min(kBlock - block_.size(), bytes.size());
      block_ += bytes.substr(0, more);
      bytes.remove_prefix(more);
      if (block_.size() == kBlock) FATHOM_TRY(read_header());
    } else if (state_ == State::kPadding) {
      const std::size_t more = std::min(padding_, bytes.size());
      padding_ -= more;
      bytes.remove_prefix(more);
      if (padding_ == 0) state_ = State::kHeader;
    } else {
      const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      FATHOM_TRY(take_extra(bytes.substr(0, more)));
      left_ -= more;
      bytes.remove_prefix(more);
      if (left_ == 0) FATHOM_TRY(end_content());
    }
  }
  return {};
}

Status TarReader::finish() const {
  const bool is_whole = state_ == State::kEnd || (state_ == State::kHeader && block_.empty());
  return is_whole ? Status() : Status(corrupt("it is cut off"));
}

}  // namespace fathom::containers
