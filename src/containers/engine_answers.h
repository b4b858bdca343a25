// SPDX-License-Identifier: MIT
// What the engine says, as values. Nothing here throws: what is not there, or has another form, is
// empty. For .cc files of this room: the header of the JSON library is slow to compile.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "containers/engine.h"

namespace fathom::containers {

// null where it is no JSON.
[[nodiscard]] nlohmann::json parse_answer(std::string_view text);
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* key);
[[nodiscard]] bool is_id(std::string_view text);  // 64 hexadecimal digits
// Why not, in one line.
[[nodiscard]] std::string refusal_in(std::string_view body);

[[nodiscard]] ImageFacts image_facts(const nlohmann::json& answer);
[[nodiscard]] ContainerState container_state(const nlohmann::json& answer);
[[nodiscard]] std::vector<ListedContainer> listed_containers(const nlohmann::json& answer,
                                                             const std::string& label);

// "2026-11-18T03:06:26.243188719Z" in ns since 1970; 0 where it is none.
[[nodiscard]] std::int64_t parse_time(std::string_view text);

// The lines of JSON that come while an image is fetched.
class PullProgress {
 public:
  void feed(std::string_view bytes);
  // The answer's status said no: what came is the reason.
  void refused();
  [[nodiscard]] const std::string& error() const { return error_; }  // "": none

 private:
  void read_line(std::string_view line);
  std::string rest_;
  std::string error_;
};

}  // namespace fathom::containers
