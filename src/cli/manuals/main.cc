// SPDX-License-Identifier: MIT
// fathom_manuals DIR: writes manual pages and completions below DIR, as they lie below
// PREFIX/share. A program of its own, so that users of fathom carry none of it.
#include <cstdio>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "cli/manuals/manuals.h"
#include "cli/tell.h"

namespace fathom::cli {
namespace {

struct Made {
  std::string path;
  std::string text;
};

std::vector<Made> all_files() {
  const std::vector<Manual> all = manuals();
  std::vector<Made> files = {
      {"man/man1/fathom.1", overview_page(all)},
      {"bash-completion/completions/fathom", bash_completion(all)},
      {"zsh/site-functions/_fathom", zsh_completion(all)},
      {"fish/vendor_completions.d/fathom.fish", fish_completion(all)},
  };
  for (const Manual& manual : all) {
    const std::string name(manual.command->name);
    files.push_back({"man/man1/fathom-" + name + ".1", command_page(manual)});
  }
  return files;
}

Status write_all(const std::string& folder) {
  for (const Made& file : all_files()) {
    const std::string path = join_path(folder, file.path);
    FATHOM_TRY(make_dirs(std::string(dir_name(path))));
    FATHOM_TRY(write_file_atomic(path, file.text));
  }
  return {};
}

}  // namespace
}  // namespace fathom::cli

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fathom_manuals DIR\n", stderr);
    return 2;
  }
  const fathom::Status written = fathom::cli::write_all(argv[1]);
  if (written) return 0;
  fathom::cli::tell(written.error());
  return 3;
}
