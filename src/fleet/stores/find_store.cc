// SPDX-License-Identifier: MIT
// The order is: what was named, FATHOM_SERVER, the note of the user's own server, the user's own
// file. The note also gives the token and the fingerprint of its certificate.
#include "fleet/stores/find_store.h"

#include <cstdlib>
#include <optional>

#include "base/files.h"
#include "base/own_file.h"
#include "base/text.h"
#include "fleet/stores/checked_store.h"
#include "fleet/stores/open_store.h"
#include "fleet/stores/remote_store.h"
#include "fleet/stores/server_note.h"
#include "fleet/user_folders.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kMostTokenBytes = 4096;
constexpr char kOwn[] = "own server";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

bool is_http(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

// "http://localhost:10000/" and "http://127.0.0.1:10000" are one.
std::string comparable(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  constexpr std::string_view kName = "://localhost";
  const std::size_t at = url.find(kName);
  if (at != std::string::npos) url.replace(at, kName.size(), "://127.0.0.1");
  return url;
}

Result<std::string> token_of(const PlaceOptions& given) {
  if (given.token_file.empty()) return variable("FATHOM_TOKEN");
  Result<std::string> text = read_private_file(given.token_file, kMostTokenBytes);
  if (!text)
    return std::move(text).error().with("the token file " + escape_control(given.token_file));
  return std::string(trim(*text));
}

// A server that was named: this user's own has left its token.
void add_note(StorePlace& place) {
  const std::optional<ServerNote> note = find_server_note();
  if (!note || comparable(note->url) != comparable(place.url)) return;
  if (place.token.empty()) place.token = note->token;
  place.fingerprint = note->fingerprint;
  place.labels.emplace_back(kOwn);
}

Result<StorePlace> own_place(const std::string& token) {
  if (const std::optional<ServerNote> note = find_server_note())
    return StorePlace{.url = note->url,
                      .token = token.empty() ? note->token : token,
                      .fingerprint = note->fingerprint,
                      .labels = {kOwn, comparable(note->url)}};
  FATHOM_ASSIGN(const std::string folder, data_folder());
  FATHOM_TRY(make_dirs(folder));
  const std::string url = "sqlite:" + join_path(folder, "jobs.db");
  return StorePlace{.url = url, .token = {}, .fingerprint = {}, .labels = {url}};
}

}  // namespace

Result<StorePlace> find_store(const PlaceOptions& given) {
  FATHOM_ASSIGN(std::string token, token_of(given));
  const std::string named = given.server.empty() ? variable("FATHOM_SERVER") : given.server;
  if (named.empty()) return own_place(token);
  StorePlace place{.url = named, .token = std::move(token), .fingerprint = {}, .labels = {}};
  place.labels = {comparable(named)};
  if (is_http(named)) add_note(place);
  return place;
}

Result<std::unique_ptr<JobStore>> open_place(const StorePlace& place) {
  if (is_http(place.url))
    return open_remote_store(
        {.url = place.url, .token = place.token, .fingerprint = place.fingerprint});
  FATHOM_ASSIGN(std::unique_ptr<JobStore> store, open_store(place.url));
  return checked(std::move(store));
}

}  // namespace fathom::fleet
