// SPDX-License-Identifier: MIT
// Any bytes as an archive of the engine, in pieces of any length: nothing is written beside the
// folder, no link or device appears in it, and its files are no larger than what came.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/testing/fuzzed_files.h"
#include "containers/kept_outputs.h"
#include "containers/tar_reader.h"

namespace {

namespace fs = std::filesystem;

// A sum that is wrong is all that a fuzzer would find: headers of whole blocks get the right one.
std::string with_sums(std::string_view bytes) {
  constexpr std::size_t kBlock = 512;
  std::string tar(bytes);
  for (std::size_t at = 0; at + kBlock <= tar.size(); at += kBlock) {
    if (tar.compare(at + 257, 5, "ustar") != 0) continue;
    tar.replace(at + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += static_cast<unsigned char>(tar[at + i]);
    for (std::size_t i = 6; i > 0; --i, sum /= 8)
      tar[at + 147 + i] = static_cast<char>('0' + sum % 8);
  }
  return tar;
}

void check_tree(const std::string& folder, std::size_t most) {
  std::uintmax_t all = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_symlink() || (!entry.is_regular_file() && !entry.is_directory())) std::abort();
    if (entry.is_regular_file()) all += entry.file_size();
  }
  if (all > most) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::containers;
  if (size < 1) return 0;
  static const std::string top = [] {
    std::string name = "/tmp/fathom-tar-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }();
  const std::string folder = top + "/outputs";
  (void)fathom::remove_tree(top);
  (void)fathom::make_dirs(top);
  const fathom::testing::Canary canary(top + "/beside");
  const std::size_t piece = data[0] * std::size_t{4} + 1;
  const std::string tar = with_sums({reinterpret_cast<const char*>(data) + 1, size - 1});
  auto kept = KeptOutputs::make(folder, {.bytes = 4096, .members = 20, .depth = 8});
  if (!kept) std::abort();
  TarReader reader(*kept);
  for (std::size_t at = 0; at < tar.size(); at += piece) {
    if (!reader.feed(std::string_view(tar).substr(at, piece))) break;
  }
  (void)reader.finish().has_value();
  kept->drop_unfinished();
  canary.check();
  check_tree(folder, std::min<std::size_t>(tar.size(), 4096));
  for (const auto& entry : fs::directory_iterator(top)) {
    if (entry.path() != folder && entry.path() != top + "/beside") std::abort();
  }
  return 0;
}
