// SPDX-License-Identifier: MIT
// What a process told the collectors of its user, and what a collector left to its successor, of
// any bytes. Files are written where a wish names them and nowhere else, never through a link.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/testing/fuzzed_files.h"
#include "convert/alnair_files.h"
#include "convert/dftracer_files.h"
#include "session/drop_in_wishes.h"
#include "trace/testing/spool_builder.h"
#include "wire/drop_in.h"

namespace fathom::convert {
namespace {

using fathom::testing::Canary;
using fathom::testing::Pieces;
using fathom::testing::put_file;
using session::DropInWishes;
using session::StreamProcess;

class Home {
 public:
  explicit Home(const std::string& folder)
      : canary_(folder + "/outside"),
        logs_(folder + "/logs"),
        run_(folder + "/r.fathom"),
        spool_(run_) {
    ::setenv("HOME", folder.c_str(), 1);
    const std::string place = folder + "/" FATHOM_PRIVATE_AT_HOME;
    ::mkdir(place.c_str(), 0700);
    ::chmod(spool_.directory().c_str(), 0700);
    struct stat facts {};
    if (::stat(spool_.directory().c_str(), &facts) != 0) std::abort();
    char name[100];
    std::snprintf(name, sizeof name, "/%032x-%lx-%lx", 0, facts.st_dev, facts.st_ino);
    stem_ = place + name;
  }

  void collect(Pieces& pieces) {
    clear();
    const std::uint8_t links = pieces.byte();
    const std::string told = meant(pieces.piece());
    const std::string log = meant(pieces.piece());
    tell(FATHOM_WISHES_SUFFIX, told, links % 8);
    tell(".dftracer", meant(pieces.piece()), links / 8 % 8);
    tell(".alnair", meant(pieces.piece()), links / 64);
    DropInWishes wishes = DropInWishes::of(run_);
    if (wishes.any() && links % 8 < 7) std::abort();  // it is a link, or gone
    const auto place = [&](const StreamProcess& process) -> std::optional<DropInPlace> {
      if (!wishes.holds(process.drop_in, log)) return std::nullopt;
      if (told.find(process.drop_in + " " + log) == std::string::npos) std::abort();
      return DropInPlace{.log = log};
    };
    for (const char* drop_in : {"dftracer", "alnair"}) write(drop_in, wishes, place, log);
    wishes.remove();
    canary_.check();
  }

 private:
  // '%' stands for a directory whose first names are links to elsewhere.
  [[nodiscard]] std::string meant(std::string_view text) const {
    std::string whole;
    for (const char c : text) {
      if (c == '%')
        whole += logs_ + "/";
      else if (c != '/')  // no path of the machine's own
        whole += c;
    }
    return whole;
  }

  void clear() const {
    (void)remove_tree(logs_);
    ::mkdir(logs_.c_str(), 0700);
    for (std::uint8_t by = 0; by < 6; by++)
      testing::replace(logs_ + "/" + static_cast<char>('a' + by), by, canary_);
    for (const char* suffix : {FATHOM_WISHES_SUFFIX, ".dftracer", ".alnair"})
      (void)remove_tree(stem_ + suffix);
  }

  void tell(const std::string& suffix, const std::string& text, unsigned link) const {
    if (link < 7 && (suffix == FATHOM_WISHES_SUFFIX || link > 0))
      testing::replace(stem_ + suffix, static_cast<std::uint8_t>(link), canary_);
    else
      put_file(stem_ + suffix, text);
  }

  void write(const std::string& drop_in, const DropInWishes& wishes, const DropInPlaceOf& place,
             const std::string& log) const {
    const bool alnair = drop_in == "alnair";
    const auto files = alnair ? alnair_files(wishes.path_for(drop_in), 0, place)
                              : dftracer_files(wishes.path_for(drop_in), 0, place);
    StreamProcess process;
    process.key = 0x77;
    process.pid = 7;
    process.drop_in = drop_in;
    process.settings = "log=" + log;
    (void)files->take(process, {}, {}, strings_);
    (void)files->settle(1, files->ahead());
    (void)files->complete(process, true);
  }

  Canary canary_;
  std::string logs_;
  std::string run_;
  trace::testing::SpoolBuilder spool_;
  std::string stem_;
  trace::Strings strings_;
};

}  // namespace
}  // namespace fathom::convert

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fathom::trace::testing::TempDir folder;
  static fathom::convert::Home home(folder.path());
  fathom::testing::Pieces pieces(data, size);
  home.collect(pieces);
  return 0;
}
