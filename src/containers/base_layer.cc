// SPDX-License-Identifier: MIT
// The layer brings a whole Fathom: the program, the libraries that it runs with, and the loader
// that fits them, all in one folder. So it runs in an image with another libc, or none.
#include "containers/base_layer.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"
#include "containers/container_plan.h"
#include "containers/owner.h"
#include "containers/profile_run.h"
#include "containers/profiler_script.h"
#include "containers/tar_text.h"
#include "sources/library.h"

namespace fathom::containers {
namespace {

constexpr char kProgramFolder[] = "app/.fathom";
constexpr char kDuckdb[] = "libduckdb.so";
constexpr unsigned kRunnable = 0755;
constexpr unsigned kReadable = 0644;

struct LayerFile {
  std::string from;  // on this machine; "": `text`
  std::string text = {};
  unsigned mode = kReadable;
};
using Layer = std::map<std::string, LayerFile>;  // by the path in the image

void add_library(Layer& layer, const std::string& from, const std::string& name) {
  layer[join_path(kProgramFolder, name)] = {.from = from, .mode = kRunnable};
}

// What this process runs with is what the program needs; the loader among it.
int add_loaded(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  const std::string path = object->dlpi_name;
  if (path.starts_with('/'))
    add_library(*static_cast<Layer*>(data), path, std::string(base_name(path)));
  return 0;
}

Status add_extensions(const std::string& library, Layer& layer) {
  for (const char* below : {"python", "fathom/python"}) {
    const std::string folder = join_path(dir_name(library), below);
    const Result<std::vector<std::string>> names = list_dir(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (name.starts_with("_record.") && name.ends_with(".so"))
        add_library(layer, join_path(folder, name), "python/" + name);
    }
  }
  return {};
}

Result<std::string> own_loader(const Layer& layer) {
  for (const auto& [path, file] : layer) {
    if (base_name(path).starts_with("ld-linux")) return std::string(base_name(path));
  }
  return Error{Code::kUnsupported,
               "this build of Fathom has no loader of its own to put into the layer", ""};
}

Result<Layer> make_layer() {
  Layer layer;
  FATHOM_ASSIGN(const std::string program, real_path("/proc/self/exe"));
  FATHOM_ASSIGN(const std::string library, sources::find_library());
  // DuckDB is loaded when it is first needed, and brings libraries of its own.
  (void)::dlopen(join_path(dir_name(library), kDuckdb).c_str(), RTLD_LAZY | RTLD_LOCAL);
  ::dl_iterate_phdr(add_loaded, &layer);
  FATHOM_ASSIGN(const std::string loader, own_loader(layer));
  add_library(layer, program, "fathom");
  for (const char* name : {"libfathom.so", "libfathom_heap.so", kDuckdb}) {
    const Result<std::string> path = real_path(join_path(dir_name(library), name));
    if (path) add_library(layer, *path, name);
  }
  FATHOM_TRY(add_extensions(library, layer));
  layer["app/profiler.sh"] = {.from = "", .text = profiler_script(loader), .mode = kRunnable};
  return layer;
}

Result<std::string> content_of(const LayerFile& file) {
  return file.from.empty() ? file.text : read_file(file.from);
}

std::vector<std::string> folders_above(const std::string& path) {
  std::vector<std::string> folders;
  for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1))
    folders.push_back(path.substr(0, at));
  return folders;
}

Result<std::string> tar_of(const Layer& layer) {
  TarText tar;
  std::map<std::string, bool> made;
  for (const auto& [path, file] : layer) {
    for (const std::string& folder : folders_above(path)) {
      if (made.try_emplace(folder, true).second) FATHOM_TRY(tar.add_directory(folder));
    }
    FATHOM_ASSIGN(const std::string content, content_of(file));
    FATHOM_TRY(tar.add_file(path, content, file.mode));
  }
  return std::move(tar).take();
}

// The application's own entry point stands behind "--" (profiler_script.h).
std::string wrapping(const ImageFacts& image) {
  // The container's label must not become the image's: whoever runs it owns what he runs.
  nlohmann::json body = {{"Labels", {{kOwnerLabel, ""}}}};
  const bool says_what = !image.entrypoint.empty() || !image.command.empty();
  if (says_what) {
    std::vector<std::string> words = {"/app/profiler.sh", "--"};
    words.insert(words.end(), image.entrypoint.begin(), image.entrypoint.end());
    body["Entrypoint"] = words;
    body["Cmd"] = image.command;
  }
  return body.dump();
}

}  // namespace

Status write_base_layer(const std::string& folder) {
  if (path_exists(folder))
    return Error{Code::kInvalid, folder + " exists already", "name another folder"};
  FATHOM_ASSIGN(const Layer layer, make_layer());
  for (const auto& [path, file] : layer) {
    const std::string target = join_path(folder, path);
    FATHOM_TRY(make_dirs(std::string(dir_name(target))));
    FATHOM_ASSIGN(const std::string content, content_of(file));
    FATHOM_TRY(write_file_atomic(target, content, file.mode));
    if (::chmod(target.c_str(), file.mode) != 0)
      return os_error(errno, "set the mode of " + target);
  }
  return {};
}

Status make_base_image(Engine& engine, const std::string& from, const std::string& name) {
  if (!is_image_name(from) || !is_image_name(name))
    return Error{
        Code::kInvalid,
        "'" + escape_control(is_image_name(from) ? name : from) + "' is not a valid image name",
        ""};
  FATHOM_TRY(remove_abandoned(engine));
  FATHOM_ASSIGN(const Layer layer, make_layer());
  FATHOM_ASSIGN(const ImageFacts image, find_image(engine, from, [] { return true; }, {}));
  const nlohmann::json body = {
      {"Image", image.id}, {"Cmd", {"/app/profiler.sh"}}, {"Labels", {{kOwnerLabel, own_mark()}}}};
  FATHOM_ASSIGN(const std::string id, engine.create("", body.dump()));
  FATHOM_ASSIGN(std::string tar, tar_of(layer));
  Status made = engine.put_files(id, "/", std::move(tar));
  if (made) {
    const Result<std::string> committed = engine.commit(id, name, wrapping(image));
    if (!committed) made = committed.error();
  }
  const Status removed = engine.remove(id);
  return made ? removed : made;
}

}  // namespace fathom::containers
