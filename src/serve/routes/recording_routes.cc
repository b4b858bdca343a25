// SPDX-License-Identifier: MIT
// Recordings: kept by content, so that a file that many of them have is sent and kept once, and
// read by ranges, so that a question of a recording far away moves only what it needs.
//
//   POST …/recordings/NAME/missing  the manifest: which contents are not here yet
//   PUT  …/contents/SHA256          each of these
//   PUT  …/recordings/NAME          the manifest: from now on it is there
#include <fmt/format.h>

#include <charconv>

#include "base/escape.h"
#include "base/text.h"
#include "fleet/recordings/recordings.h"
#include "render/json_writer.h"
#include "serve/http/byte_range.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

using fleet::RecordedFile;
using fleet::RecordingManifest;
using fleet::Recordings;

// The name stands in the path and in the manifest.
Result<RecordingManifest> read_manifest(const Request& request) {
  if (request.body.size() > fleet::kLargestManifest)
    return Error{Code::kInvalid, "the manifest is larger than 16 MB", ""};
  FATHOM_ASSIGN(RecordingManifest manifest, fleet::parse_manifest(request.body));
  if (manifest.name != request.place("recording"))
    return Error{Code::kInvalid, "the manifest names another recording than the path", ""};
  return manifest;
}

class ContentSink : public BodySink {
 public:
  explicit ContentSink(std::unique_ptr<fleet::ContentUpload> upload) : upload_(std::move(upload)) {}

  Status write(std::string_view bytes) override { return upload_->write(bytes); }
  Response finish() override {
    const Status kept = upload_->finish();
    return kept ? json_response("{}\n", 201) : refusal(kept.error());
  }

 private:
  std::unique_ptr<fleet::ContentUpload> upload_;
};

class RecordingRoutes {
 public:
  explicit RecordingRoutes(Recordings* recordings) : recordings_(recordings) {}

  Response list(Request& /*request*/) const {
    const Result<std::vector<std::string>> names = recordings_->names();
    if (!names) return refusal(names.error());
    std::string text;
    render::JsonWriter json(text);
    json.begin_object().key("recordings").begin_array();
    for (const std::string& name : *names) json.value(name);
    json.end_array().end_object();
    return json_response(text + "\n");
  }

  Response show(Request& request) const {
    const Result<RecordingManifest> manifest = find(request);
    return manifest ? json_response(fleet::to_json(*manifest) + "\n") : refusal(manifest.error());
  }

  Response missing(Request& request) const {
    const Result<RecordingManifest> manifest = read_manifest(request);
    if (!manifest) return refusal(manifest.error());
    const Result<std::vector<RecordedFile>> files = recordings_->missing(*manifest);
    if (!files) return refusal(files.error());
    std::string text;
    render::JsonWriter json(text);
    json.begin_object().key("missing").begin_array();
    for (const RecordedFile& file : *files)
      json.begin_object()
          .key("sha256")
          .value(file.sha256)
          .key("size")
          .value(file.size)
          .end_object();
    json.end_array().end_object();
    return json_response(text + "\n");
  }

  Response publish(Request& request) const {
    const Result<RecordingManifest> manifest = read_manifest(request);
    if (!manifest) return refusal(manifest.error());
    const Status published = recordings_->publish(*manifest);
    return published ? json_response("{}\n", 201) : refusal(published.error());
  }

  Response remove(Request& request) const {
    const Result<RecordingManifest> manifest = find(request);
    if (!manifest) return refusal(manifest.error());
    const Status removed = recordings_->remove(manifest->name);
    return removed ? json_response("{}\n") : refusal(removed.error());
  }

  Response read(Request& request) const {
    const Result<RecordingManifest> manifest = find(request);
    if (!manifest) return refusal(manifest.error());
    Result<File> file = recordings_->open(manifest->name, request.place("file"));
    if (!file) return refusal(file.error());
    const Result<std::uint64_t> size = file->size();
    if (!size) return refusal(size.error());
    return ranged(std::move(*file), *size, request.head.header("range"));
  }

  static Response ranged(File file, std::uint64_t size, std::string_view header) {
    const ByteRange range = parse_range(header, size);
    Response response;
    response.type = "application/octet-stream";
    response.headers.push_back({"Accept-Ranges", "bytes"});
    if (range.kind == ByteRange::Kind::kBeyond) {
      response = refusal(416, "the file has no such bytes");
      response.headers.push_back({"Content-Range", fmt::format("bytes */{}", size)});
      return response;
    }
    if (range.kind == ByteRange::Kind::kPart) {
      response.status = 206;
      response.headers.push_back(
          {"Content-Range",
           fmt::format("bytes {}-{}/{}", range.first, range.first + range.size - 1, size)});
    }
    response.body.offset = range.first;
    response.body.length = range.size;
    response.body.file = std::make_shared<const File>(std::move(file));
    return response;
  }

  Result<std::unique_ptr<BodySink>> receive(Request& request) const {
    const Result<std::int64_t> size = parse_int(request.head.header("content-length"));
    if (!size || *size < 0)
      return Error{Code::kInvalid, "a content needs a header Content-Length", ""};
    FATHOM_ASSIGN(auto upload,
                  recordings_->upload(request.place("sha256"), static_cast<std::uint64_t>(*size)));
    return std::unique_ptr<BodySink>(std::make_unique<ContentSink>(std::move(upload)));
  }

 private:
  Result<RecordingManifest> find(const Request& request) const {
    const std::string& name = request.place("recording");
    if (!fleet::is_job_name(name))
      return Error{Code::kInvalid,
                   "'" + escape_name(name.substr(0, 100)) + "' cannot name a recording", ""};
    return recordings_->manifest(name);
  }

  Recordings* recordings_;
};

}  // namespace

void add_recording_routes(Router& router, Recordings& recordings) {
  const RecordingRoutes routes(&recordings);
  const std::string_view all = "/api/v1/recordings";
  const std::string_view one = "/api/v1/recordings/{recording}";
  const std::string_view missing = "/api/v1/recordings/{recording}/missing";
  const std::string_view file = "/api/v1/recordings/{recording}/files/{file}";
  const std::string_view content = "/api/v1/contents/{sha256}";
  router.add({"GET", all, Role::kRead, [=](Request& r) { return routes.list(r); }});
  router.add({"GET", one, Role::kRead, [=](Request& r) { return routes.show(r); }});
  router.add({"PUT", one, Role::kSubmit, [=](Request& r) { return routes.publish(r); }});
  router.add({"DELETE", one, Role::kAdmin, [=](Request& r) { return routes.remove(r); }});
  router.add({"POST", missing, Role::kSubmit, [=](Request& r) { return routes.missing(r); }});
  router.add({"GET", file, Role::kRead, [=](Request& r) { return routes.read(r); }});
  router.add(
      {"PUT", content, Role::kSubmit, nullptr, [=](Request& r) { return routes.receive(r); }});
}

}  // namespace fathom::serve
