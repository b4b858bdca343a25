// SPDX-License-Identifier: MIT
// Why something was lost, in the words that recordings hold, and what each reason means for whoever
// adds up events. Recordings have the words alone, so a reason that changes its words keeps a row
// with the old ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace fathom::trace {

enum class LossKind : std::uint8_t {
  kEvents,  // events are missing: what every reason means that has no row here
  kParts,   // only the name of something is missing, or a part of it
  kAsked,   // the user wanted it so: --filter, limits on numbers
};

inline constexpr char kTextCut[] = "text cut short";
inline constexpr char kCutLengths[] = "lengths cut short: they would end after 292 years";
inline constexpr char kUnasked[] =
    "names and positions that could not be asked for inside a sandbox";
inline constexpr char kUnnamedFile[] =
    "a file's path could not be read: too long, or not reachable";
inline constexpr char kCapped[] = "beyond the number asked for";

inline constexpr char kLatePath[] = "a file's path did not arrive";
inline constexpr char kNoRoomForFiles[] =
    "a user had no room for more files: the call is one on other files";
inline constexpr char kNoRoomForPaths[] =
    "no room for the paths of more files: they are other files";
inline constexpr char kFilteredByCall[] = "left out by --filter call";
inline constexpr char kFilteredByPath[] = "left out by --filter path";
inline constexpr char kFilteredByTime[] = "left out by --filter min";
inline constexpr char kFilteredByNumber[] = "left out by --filter one-in";

// Of sampled stacks, whose samples are there.
inline constexpr char kCutStacks[] = "stacks without their outermost functions";
inline constexpr char kShortenedStacks[] =
    "stacks without callers: there are too many different ones";
inline constexpr char kNamelessFrames[] = "names of frames for which there was no room";
inline constexpr char kUnnamedFrames[] = "frames of code generated at run time without names";
inline constexpr char kReplacedFrames[] = "frames of files without a build id that were replaced";
inline constexpr char kUnreadPython[] = "stacks of Python whose functions could not be read";
inline constexpr char kUncertainPython[] = "stacks of Python whose running function is uncertain";
inline constexpr char kUntoldWaits[] = "stacks of waits that were not taken";

struct LossReason {
  std::string_view words;
  LossKind kind;
};

inline constexpr LossReason kLossReasons[] = {
    {kTextCut, LossKind::kParts},
    {kCutLengths, LossKind::kParts},
    {kUnasked, LossKind::kParts},
    {kUnnamedFile, LossKind::kParts},
    {kCapped, LossKind::kAsked},
    {kLatePath, LossKind::kParts},
    {kNoRoomForFiles, LossKind::kParts},
    {kNoRoomForPaths, LossKind::kParts},
    {kFilteredByCall, LossKind::kAsked},
    {kFilteredByPath, LossKind::kAsked},
    {kFilteredByTime, LossKind::kAsked},
    {kFilteredByNumber, LossKind::kAsked},
    {kCutStacks, LossKind::kParts},
    {kShortenedStacks, LossKind::kParts},
    {kNamelessFrames, LossKind::kParts},
    {kUnnamedFrames, LossKind::kParts},
    {kReplacedFrames, LossKind::kParts},
    {kUnreadPython, LossKind::kParts},
    {kUncertainPython, LossKind::kParts},
    {kUntoldWaits, LossKind::kParts},
    // Of versions before this one.
    {"frames of code made at run time whose name nobody told", LossKind::kParts},
    {"stacks of waits that came too fast", LossKind::kParts},
    {"stacks of Python of which it is not certain what they ran", LossKind::kParts},
};

constexpr LossKind kind_of_loss(std::string_view words) {
  const auto* const found = std::ranges::find(kLossReasons, words, &LossReason::words);
  return found == std::end(kLossReasons) ? LossKind::kEvents : found->kind;
}

}  // namespace fathom::trace
