// SPDX-License-Identifier: MIT
// Reads and writes the JSON of a manifest. Files are kept sorted by name, so duplicates stand side
// by side and a lookup is a binary search.
#include "fleet/recordings/recording_manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/utf8.h"
#include "fleet/model.h"
#include "fleet/sha256.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kMostFiles = 100'000;
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 50U;  // so that no sum overflows

Error invalid(const std::string& what) { return {Code::kInvalid, "manifest: " + what, ""}; }

const std::string* text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get_ptr<const std::string*>()
                                                     : nullptr;
}

Result<RecordedFile> read_file_entry(const nlohmann::json& entry) {
  if (!entry.is_object()) return invalid("not an object");
  const std::string* name = text_of(entry, "name");
  const std::string* hash = text_of(entry, "sha256");
  const auto size = entry.find("size");
  if (name == nullptr || !is_inner_path(*name)) return invalid("name: not a path inside");
  if (hash == nullptr || !Sha256::is_hex(*hash)) return invalid("sha256: 64 digits are needed");
  if (size == entry.end() || !size->is_number_unsigned() ||
      size->get<std::uint64_t>() > kLargestFile)
    return invalid("size: not a whole number");
  return RecordedFile{*name, size->get<std::uint64_t>(), *hash};
}

// A file "a" and another "a/b" cannot both be there.
Status check_files(const std::vector<RecordedFile>& files) {
  for (std::size_t at = 1; at < files.size(); ++at) {
    const std::string& before = files[at - 1].name;
    if (files[at].name == before) return invalid("a file twice: " + escape_control(before));
  }
  for (const RecordedFile& file : files) {
    for (std::size_t slash = file.name.find('/'); slash != std::string::npos;
         slash = file.name.find('/', slash + 1)) {
      const std::string folder = file.name.substr(0, slash);
      if (std::ranges::binary_search(files, folder, {}, &RecordedFile::name))
        return invalid("both a file and a directory: " + escape_control(folder));
    }
  }
  return {};
}

}  // namespace

std::uint64_t RecordingManifest::bytes() const {
  std::uint64_t sum = 0;
  for (const RecordedFile& file : files) sum += file.size;
  return sum;
}

const RecordedFile* RecordingManifest::find(std::string_view file) const {
  const auto found = std::ranges::lower_bound(files, file, {}, &RecordedFile::name);
  return found != files.end() && found->name == file ? &*found : nullptr;
}

bool is_inner_path(std::string_view path) {
  constexpr std::size_t kLongest = 1024;
  constexpr std::size_t kLongestStep = 255;
  constexpr std::size_t kDeepest = 8;
  if (path.size() > kLongest || !is_valid_utf8(path)) return false;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(path, is_control)) return false;
  const std::vector<std::string_view> steps = split(path, '/');
  return steps.size() <= kDeepest && std::ranges::all_of(steps, [](std::string_view step) {
           return !step.empty() && step.size() <= kLongestStep && step != "." && step != "..";
         });
}

bool is_unpacked(std::string_view step) { return step == "spool"; }

Result<RecordingManifest> parse_manifest(std::string_view text) {
  if (text.size() > kLargestManifest) return invalid("larger than 16 MiB");
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid("not a JSON object");
  const std::string* name = text_of(json, "name");
  if (name == nullptr || !is_job_name(*name)) return invalid("name: not a name");
  const auto files = json.find("files");
  if (files == json.end() || !files->is_array() || files->size() > kMostFiles)
    return invalid("files: an array of up to 100000 is needed");
  RecordingManifest manifest{*name, {}};
  for (std::size_t at = 0; at < files->size(); ++at) {
    Result<RecordedFile> file = read_file_entry((*files)[at]);
    if (!file) return std::move(file).error().with("files[" + std::to_string(at) + "]");
    manifest.files.push_back(std::move(*file));
  }
  std::ranges::sort(manifest.files, {}, &RecordedFile::name);
  FATHOM_TRY(check_files(manifest.files));
  return manifest;
}

std::string to_json(const RecordingManifest& manifest) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const RecordedFile& file : manifest.files)
    files.push_back({{"name", file.name}, {"size", file.size}, {"sha256", file.sha256}});
  const nlohmann::ordered_json json = {{"name", manifest.name}, {"files", std::move(files)}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace fathom::fleet
