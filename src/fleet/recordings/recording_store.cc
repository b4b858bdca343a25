// SPDX-License-Identifier: MIT
// Recordings by HTTP (src/serve/routes/recording_routes.cc answers) and in a directory beside the
// jobs.
#include "fleet/recordings/recording_store.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "fleet/http/encodings.h"
#include "fleet/http/http_client.h"
#include "fleet/recordings/far_word.h"
#include "fleet/recordings/recordings.h"
#include "fleet/stores/remote_answers.h"

namespace fathom::fleet {
namespace {

constexpr char kRecordings[] = "/api/v1/recordings";
constexpr std::string_view kSqlite = "sqlite:";

bool is_http(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

// Beside a SQLite store of jobs: the same interface, so that whoever sends recordings does not know
// where they go.
class LocalRecordings final : public RecordingStore {
 public:
  explicit LocalRecordings(std::unique_ptr<Recordings> kept) : kept_(std::move(kept)) {}

  Result<std::vector<std::string>> names() override { return kept_->names(); }
  Result<RecordingManifest> manifest(const std::string& name) override {
    return kept_->manifest(name);
  }
  Result<std::string> read(const std::string& name, const RecordedFile& file, std::uint64_t offset,
                           std::size_t length) override {
    FATHOM_ASSIGN(const File content, kept_->open(name, file.name));
    FATHOM_ASSIGN(std::string bytes, content.read_range(offset, length));
    if (bytes.size() != length) return Error{Code::kCorrupt, content.path() + " is cut off", ""};
    return bytes;
  }
  Result<std::vector<RecordedFile>> missing(const RecordingManifest& manifest) override {
    return kept_->missing(manifest);
  }
  Status send(const RecordedFile& file, const File& content) override {
    FATHOM_ASSIGN(const std::unique_ptr<ContentUpload> upload,
                  kept_->upload(file.sha256, file.size));
    for (std::uint64_t at = 0; at < file.size;) {
      FATHOM_ASSIGN(const std::string piece, content.read_range(at, std::size_t{1} << 20U));
      if (piece.empty()) break;  // finish() tells
      FATHOM_TRY(upload->write(piece));
      at += piece.size();
    }
    return upload->finish();
  }
  Status publish(const RecordingManifest& manifest) override { return kept_->publish(manifest); }
  Status remove(const std::string& name) override { return kept_->remove(name); }

 private:
  std::unique_ptr<Recordings> kept_;
};

Error odd() {
  return {Code::kCorrupt, "the answer is not from a Fathom server",
          "is the URL that of a Fathom server?"};
}

// A server is asked for ranges of files and gives them back; nothing that it says is believed
// beyond what was asked for.
class RemoteRecordings final : public RecordingStore {
 public:
  explicit RemoteRecordings(HttpClient client) : client_(std::move(client)) {}

  Result<std::vector<std::string>> names() override {
    FATHOM_ASSIGN(const HttpAnswer answer, ask({.target = kRecordings}));
    const auto json = nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("recordings") || !json["recordings"].is_array())
      return odd();
    std::vector<std::string> names;
    for (const auto& item : json["recordings"]) {
      if (!item.is_string() || !is_job_name(item.get<std::string>())) return odd();
      names.push_back(item.get<std::string>());
    }
    return names;
  }

  Result<RecordingManifest> manifest(const std::string& name) override {
    FATHOM_ASSIGN(const HttpAnswer answer, ask({.target = path_of(name)}));
    Result<RecordingManifest> manifest = parse_manifest(answer.body);
    if (!manifest || manifest->name != name) return odd();
    return manifest;
  }

  Result<std::string> read(const std::string& name, const RecordedFile& file, std::uint64_t offset,
                           std::size_t length) override {
    if (length == 0) return std::string();
    const std::string range =
        "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1);
    FATHOM_ASSIGN(HttpAnswer answer,
                  ask({.target = path_of(name) + "/files/" + encode_segment(file.name),
                       .headers = {{"Range", range}}}));
    // A server may give the whole file instead of a part; no more than the part is believed.
    const bool is_whole = offset == 0 && length == file.size;
    if ((answer.status != 206 && !is_whole) || answer.body.size() != length)
      return Error{
          Code::kCorrupt,
          "the server sent other bytes of " + escape_control(file.name) + " than it was asked for",
          "try again; it may have been changed on its way"};
    return std::move(answer.body);
  }

  Result<std::vector<RecordedFile>> missing(const RecordingManifest& manifest) override {
    FATHOM_ASSIGN(const HttpAnswer answer, ask({.method = "POST",
                                                .target = path_of(manifest.name) + "/missing",
                                                .headers = {{"Content-Type", "application/json"}},
                                                .body = to_json(manifest),
                                                .repeatable = true}));
    const auto json = nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("missing") || !json["missing"].is_array()) return odd();
    std::vector<RecordedFile> files;
    for (const auto& item : json["missing"]) {
      if (!item.is_object() || !item.contains("sha256") || !item["sha256"].is_string())
        return odd();
      files.push_back(RecordedFile{"", 0, item["sha256"].get<std::string>()});
    }
    return files;
  }

  Status send(const RecordedFile& file, const File& content) override {
    FATHOM_TRY(ask({.method = "PUT",
                    .target = "/api/v1/contents/" + file.sha256,
                    .content = &content,
                    .content_size = file.size}));
    return {};
  }

  Status publish(const RecordingManifest& manifest) override {
    FATHOM_TRY(ask({.method = "PUT",
                    .target = path_of(manifest.name),
                    .headers = {{"Content-Type", "application/json"}},
                    .body = to_json(manifest)}));
    return {};
  }

  Status remove(const std::string& name) override {
    FATHOM_TRY(ask({.method = "DELETE", .target = path_of(name)}));
    return {};
  }

 private:
  static std::string path_of(const std::string& name) {
    return std::string(kRecordings) + "/" + encode_segment(name);
  }

  Result<HttpAnswer> ask(const HttpRequest& request) {
    FATHOM_ASSIGN(HttpAnswer answer, client_.ask(request));
    if (answer.status / 100 == 2) return answer;
    return refusal_of(answer);
  }

  HttpClient client_;
};

Result<std::unique_ptr<RecordingStore>> open_remote(const StorePlace& place) {
  HttpOptions http;
  http.url = place.url;
  if (!place.token.empty()) http.headers.push_back({"Authorization", "Bearer " + place.token});
  http.fingerprint = place.fingerprint;
  http.most_bytes = kLargestManifest + 1;  // twice what is read at a time
  static_assert(RecordingStore::kMostRead <= kLargestManifest);
  FATHOM_ASSIGN(HttpClient client, HttpClient::make(std::move(http)));
  return std::unique_ptr<RecordingStore>(std::make_unique<RemoteRecordings>(std::move(client)));
}

}  // namespace

Result<std::unique_ptr<RecordingStore>> open_recordings(const StorePlace& place) {
  if (is_http(place.url)) return open_remote(place);
  if (!place.url.starts_with(kSqlite))
    return Error{Code::kUnsupported, "Redis cannot store recordings",
                 "name a server: --server URL or FATHOM_SERVER"};
  const std::string jobs = place.url.substr(kSqlite.size());
  FATHOM_ASSIGN(std::unique_ptr<Recordings> kept,
                Recordings::open(join_path(dir_name(jobs), "recordings")));
  return std::unique_ptr<RecordingStore>(std::make_unique<LocalRecordings>(std::move(kept)));
}

std::string recording_word(const StorePlace& place, const std::string& name) {
  if (!is_http(place.url)) return std::string(kFarScheme) + name;
  std::string_view url = place.url;
  while (url.ends_with('/')) url.remove_suffix(1);
  return std::string(url) + "/recordings/" + name;
}

}  // namespace fathom::fleet
