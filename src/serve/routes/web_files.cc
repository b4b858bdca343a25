// SPDX-License-Identifier: MIT
// The table of embedded files comes from the build (embedded_web_files()). They stay compressed in
// memory and are unpacked for a client that does not take gzip.
#include "serve/routes/web_files.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "fleet/sha256.h"
#include "serve/http/coding.h"

namespace fathom::serve {
namespace {

constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".json", "application/json"},
    {".txt", "text/plain; charset=utf-8"},
    {".png", "image/png"},
    {".woff2", "font/woff2"},
};

std::string_view type_of(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kTypes, [&](const auto& row) { return name.ends_with(row.first); });
  return found == std::end(kTypes) ? "application/octet-stream" : found->second;
}

std::string etag_of(std::string_view bytes) {
  fleet::Sha256 hash;
  hash.add(bytes);
  return "\"" + hash.hex().substr(0, 32) + "\"";
}

}  // namespace

Result<WebFiles> WebFiles::find() {
  const char* const directory = std::getenv("FATHOM_WEB_DIR");
  if (directory != nullptr && directory[0] != '\0') return in_directory(directory);
  WebFiles made;
  for (const EmbeddedFile* file = embedded_web_files(); !file->name.empty(); ++file) {
    std::string packed(reinterpret_cast<const char*>(file->bytes), file->size);
    const std::string etag = etag_of(packed);
    made.files_.push_back(
        {"/" + std::string(file->name), type_of(file->name), std::move(packed), etag, ""});
  }
  return made;
}

Result<WebFiles> WebFiles::in_directory(const std::string& directory) {
  FATHOM_ASSIGN(const std::vector<std::string> names, list_dir(directory));
  WebFiles made;
  for (const std::string& name : names) {
    const std::string place = join_path(directory, name);
    if (!is_directory(place)) made.files_.push_back({"/" + name, type_of(name), "", "", place});
  }
  return made;
}

Result<std::string> WebFile::content() const {
  if (!place.empty()) return read_file(place);
  return decode(Coding::kGzip, packed, std::size_t{64} << 20);
}

const WebFile* WebFiles::file(std::string_view path) const {
  const auto found = std::ranges::find(files_, path, &WebFile::path);
  return found == files_.end() ? nullptr : &*found;
}

}  // namespace fathom::serve
