// SPDX-License-Identifier: MIT
// The files of the page, which the build puts into the program, compressed. FATHOM_WEB_DIR names a
// directory to read them from instead, for whoever works on the page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::serve {

// As the build made it: compressed by gzip.
struct EmbeddedFile {
  std::string_view name;
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
};
// Ends with a file without a name.
[[nodiscard]] const EmbeddedFile* embedded_web_files();

// One file as it is sent: compressed if the client takes that, else content().
struct WebFile {
  std::string path;  // "/app.js"; the page itself is "/index.html"
  std::string_view type;
  std::string packed;  // by gzip; empty where it comes from a directory
  std::string etag;    // with quotes
  std::string place;   // to read it from at each request; empty: `packed` is it

  [[nodiscard]] Result<std::string> content() const;
};

// Does not change once it is found: any thread may ask. It owns the files that file() points to.
class WebFiles {
 public:
  // What is in the program, or in the directory that FATHOM_WEB_DIR names.
  static Result<WebFiles> find();
  static Result<WebFiles> in_directory(const std::string& directory);

  [[nodiscard]] const std::vector<WebFile>& all() const { return files_; }
  // nullptr: there is none.
  [[nodiscard]] const WebFile* file(std::string_view path) const;

 private:
  std::vector<WebFile> files_;
};

}  // namespace fathom::serve
