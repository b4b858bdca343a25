// SPDX-License-Identifier: MIT
// Cuts a terminal's bytes into sequences, which may arrive in pieces, and looks each up in a table.
// An escape byte alone is the key Escape once nothing follows it.
#include "cli/top/keys.h"

#include <algorithm>
#include <iterator>

namespace fathom::cli::top {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::size_t kLongestSequence = 16;

struct KeyDef {
  std::string_view bytes;
  Key key;
};

constexpr KeyDef kKeys[] = {
    {"q", Key::kQuit},
    {"j", Key::kDown},
    {"k", Key::kUp},
    {"\r", Key::kEnter},
    {"\n", Key::kEnter},
    {"\x7f", Key::kBack},
    {"\b", Key::kBack},
    {"\t", Key::kNextTable},
    {"s", Key::kNextColumn},
    {">", Key::kNextColumn},
    {"<", Key::kPreviousColumn},
    {"r", Key::kReverse},
    {"p", Key::kPause},
    {" ", Key::kPause},
    {"h", Key::kHelp},
    {"?", Key::kHelp},
    {"g", Key::kHome},
    {"G", Key::kEnd},
    {"\f", Key::kRedraw},
    {"\x1b[A", Key::kUp},
    {"\x1b[B", Key::kDown},
    {"\x1b[C", Key::kNextColumn},
    {"\x1b[D", Key::kPreviousColumn},
    {"\x1bOA", Key::kUp},
    {"\x1bOB", Key::kDown},
    {"\x1bOC", Key::kNextColumn},
    {"\x1bOD", Key::kPreviousColumn},
    {"\x1b[5~", Key::kPageUp},
    {"\x1b[6~", Key::kPageDown},
    {"\x1b[H", Key::kHome},
    {"\x1b[F", Key::kEnd},
    {"\x1b[1~", Key::kHome},
    {"\x1b[4~", Key::kEnd},
};

Key meaning(std::string_view bytes) {
  const auto* const found = std::ranges::find(kKeys, bytes, &KeyDef::bytes);
  return found == std::end(kKeys) ? Key::kOther : found->key;
}

// How long the sequence is that `bytes` begin with; 0: its end has not come.
std::size_t length_of(std::string_view bytes) {
  if (bytes[0] != kEscape) return 1;
  if (bytes.size() < 2) return 0;
  if (bytes[1] == kEscape) return 1;
  if (bytes[1] == 'O') return bytes.size() < 3 ? 0 : 3;
  if (bytes[1] != '[') return 2;
  for (std::size_t at = 2; at < bytes.size(); at++) {
    if (bytes[at] >= '@' && bytes[at] <= '~') return at + 1;
    if (at >= kLongestSequence) return at + 1;
  }
  return 0;
}

}  // namespace

std::vector<Key> KeyReader::take(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const std::size_t length = length_of(rest);
    if (length == 0) break;
    const std::string_view one = rest.substr(0, length);
    const bool escape = one.size() == 1 && one[0] == kEscape;
    keys.push_back(escape ? Key::kBack : meaning(one));
    rest.remove_prefix(length);
  }
  pending_ = std::string(rest);
  return keys;
}

std::vector<Key> KeyReader::settle() {
  const bool alone = pending_.size() == 1 && pending_[0] == kEscape;
  pending_.clear();
  return alone ? std::vector<Key>{Key::kBack} : std::vector<Key>{};
}

}  // namespace fathom::cli::top
