// SPDX-License-Identifier: MIT
// The same places in the same order as the in-process half looks for them.
#include "session/private_places.h"

#include <unistd.h>

#include <cstdlib>

#include "base/files.h"
#include "base/own_file.h"
#include "base/private_files.h"
#include "wire/drop_in.h"

namespace fathom::session {
namespace {

std::vector<std::string> possible_places() {
  std::vector<std::string> places;
  const auto add = [&](const char* parent, const std::string& name) {
    const Result<std::string> plain = real_path(parent);
    if (plain && is_way_kept(*plain)) places.push_back(join_path(*plain, name));
  };
  for (const char* parent : {FATHOM_PRIVATE_PARENTS})
    add(parent, FATHOM_PRIVATE_PREFIX + std::to_string(::geteuid()));
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') add(home, FATHOM_PRIVATE_AT_HOME);
  return places;
}

}  // namespace

std::vector<std::string> private_places() {
  std::vector<std::string> places = possible_places();
  std::erase_if(places, [](const std::string& place) { return !is_private_directory(place); });
  return places;
}

std::string make_private_place() {
  for (std::string& place : possible_places()) {
    (void)make_private_dir(place).has_value();  // it may be there
    if (is_private_directory(place)) return std::move(place);
  }
  return "";
}

}  // namespace fathom::session
