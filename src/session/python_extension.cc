// SPDX-License-Identifier: MIT
// Asks an interpreter about itself, compiles, and lets the interpreter load what came out before
// anything is replaced: a program that is traced must not be the first to try it.
#include "session/python_extension.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/files.h"
#include "base/os_error.h"
#include "base/own_file.h"
#include "base/text.h"
#include "sources/library.h"
#include "wire/pythons.h"

namespace fathom::session {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kAsk = R"(import sys, sysconfig as s
print(sys.implementation.name, sys.version.split()[0], sys.version_info[0], sys.version_info[1],
      s.get_config_var('Py_GIL_DISABLED') or 0, s.get_path('include'), s.get_config_var('EXT_SUFFIX'),
      sep='\n'))";
constexpr std::string_view kLoad = R"(import importlib.util as u, sys
u.module_from_spec(u.spec_from_file_location(sys.argv[2], sys.argv[1])))";

// An extension by its name. Its sources are in sources/<folder>, and it is built into
// fathom/<folder> of the user's directory.
struct Module {
  std::string_view name, folder;
};
constexpr Module kModules[] = {{"_record", "python"},      // fathom._record, and layer python
                               {"dftracer", "dftracer"}};  // dftracer.dftracer, of the drop-in

struct Said {
  int status = 0;  // as waitpid
  std::string text;
  [[nodiscard]] bool went_well() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

// Runs a program; what it writes, to either stream, comes back.
Result<Said> run(Words words) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  if (file == nullptr) return os_error(errno, "make a temporary file");
  const int output = ::fileno(file.get());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return os_error(failure, "run " + words[0]);
  Said said;
  while (::waitpid(child, &said.status, 0) < 0 && errno == EINTR) {
  }
  FATHOM_ASSIGN(said.text, read_file("/proc/self/fd/" + std::to_string(output)));
  return said;
}

struct Interpreter {
  std::string path, version, include, suffix;
  int minor = 0;
};

Error cannot(const std::string& path, const std::string& why, const std::string& hint = "") {
  return {Code::kUnsupported, escape_control(path) + ": " + why, hint};
}

Result<Interpreter> ask(const std::string& path) {
  FATHOM_ASSIGN(const Said said, run({path, "-I", "-S", "-c", std::string(kAsk)}));
  const std::vector<std::string_view> lines = split(trim(said.text), '\n');
  if (!said.went_well() || lines.size() != 7)
    return cannot(path, "is no Python, or one that does not run");
  const std::string version(lines[1]);
  const Result<std::int64_t> minor = parse_int(lines[3]);
  if (lines[0] != "cpython")
    return cannot(path, fmt::format("is {}; only CPython is traced", escape_control(lines[0])));
  if (lines[2] != "3" || !minor || *minor < FATHOM_PYTHON_FIRST_MINOR ||
      *minor > FATHOM_PYTHON_LAST_MINOR)
    return cannot(path, "is Python " + escape_control(version) + "; " + FATHOM_PYTHON_VERSIONS);
  if (lines[4] != "0")
    return cannot(path, "is a build without the interpreter's lock, which is not traced");
  return Interpreter{path, version, std::string(lines[5]), std::string(lines[6]),
                     static_cast<int>(*minor)};
}

// Where libfathom.so looks for it (interpreter.guest.cc), too, and python/fathom/_places.py.
Result<std::string> user_directory(std::string_view folder) {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  std::string place;
  if (data != nullptr && *data == '/') {
    place = data;
  } else if (home != nullptr && *home == '/') {
    place = join_path(home, ".local/share");
  } else {
    return Error{Code::kInvalid, "there is no home directory to build into",
                 "set HOME or XDG_DATA_HOME"};
  }
  place = join_path(place, "fathom/" + std::string(folder));
  FATHOM_TRY(make_dirs(place));
  FATHOM_ASSIGN(place, real_path(place));
  struct stat facts {};
  const bool open = ::stat(place.c_str(), &facts) != 0 || (facts.st_mode & S_IWOTH) != 0 ||
                    facts.st_uid != ::geteuid();
  if (open || !is_way_kept(place))
    return Error{Code::kInvalid,
                 "others can write in " + place + " or exchange a directory on the way to it",
                 "take the right to write from them (chmod go-w), or set XDG_DATA_HOME"};
  return place;
}

Result<Words> source_files(const std::string& sources, const Module& module) {
  const std::string folder = join_path(sources, "sources/" + std::string(module.folder));
  const Result<Words> names = list_dir(folder);
  Words files;
  for (const std::string& name : names ? *names : Words{}) {
    if (name.ends_with(".c")) files.push_back(join_path(folder, name));
  }
  if (!files.empty()) return files;
  return Error{Code::kNotFound, "the sources of the extension are not in " + folder,
               "build or install Fathom again"};
}

Words compiler() {
  const char* named = std::getenv("CC");
  Words words;
  for (const std::string_view word : split(named != nullptr ? named : "", ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words.empty() ? Words{"cc"} : words;
}

Status compile(const Interpreter& python, const Module& module, const std::string& output) {
  FATHOM_ASSIGN(const std::string library, sources::find_library());
  FATHOM_ASSIGN(const std::string real, real_path(library));
  const std::string sources = join_path(dir_name(real), "python/src");
  FATHOM_ASSIGN(const Words files, source_files(sources, module));
  Words words = compiler();
  const std::string name = words[0];
  for (const char* word : {"-shared", "-fPIC", "-std=gnu11", "-O2", "-fvisibility=hidden",
                           "-fno-semantic-interposition", "-D_GNU_SOURCE", "-w"})
    words.emplace_back(word);
  words.push_back("-I" + sources);
  words.insert(words.end(), {"-isystem", python.include, "-o", output});
  words.insert(words.end(), files.begin(), files.end());
  words.emplace_back("-ldl");
  const Result<Said> said = run(words);
  if (!said)
    return Error{Code::kUnsupported, "there is no C compiler: " + said.error().message,
                 "install one (Debian: gcc), or name it in CC"};
  if (said->went_well()) return {};
  return Error{Code::kUnsupported,
               "the extension for Python " + python.version + " does not compile:\n" +
                   escape_control(said->text.substr(0, 4000)),
               ""};
}

Status try_it(const Interpreter& python, const Module& module, const std::string& path) {
  FATHOM_ASSIGN(const Said said, run({python.path, "-I", "-S", "-c", std::string(kLoad), path,
                                      std::string(module.name)}));
  if (said.went_well()) return {};
  return cannot(python.path, "cannot load its extension: " + escape_control(trim(said.text)));
}

// A file that is removed unless it gets its name.
class Fresh {
 public:
  explicit Fresh(std::string path) : path_(std::move(path)) {}
  ~Fresh() { ::unlink(path_.c_str()); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<std::string> build(const Interpreter& python, const Module& module) {
  FATHOM_ASSIGN(const std::string place, user_directory(module.folder));
  const std::string path = join_path(place, std::string(module.name) + python.suffix);
  const Fresh fresh(fmt::format("{}/.{}{}", place, ::getpid(), python.suffix));
  FATHOM_TRY(compile(python, module, fresh.path()));
  FATHOM_TRY(try_it(python, module, fresh.path()));
  FATHOM_TRY(rename_path(fresh.path(), path));
  return path;
}

}  // namespace

Result<Built> build_extension(const std::string& interpreter) {
  FATHOM_ASSIGN(const Interpreter python, ask(interpreter));
  if (!path_exists(join_path(python.include, "Python.h")))
    return cannot(interpreter, "its headers are missing: " + python.include + "/Python.h",
                  fmt::format("install them (Debian: apt install python3.{}-dev)", python.minor));
  std::string first;
  for (const Module& module : kModules) {
    FATHOM_ASSIGN(const std::string path, build(python, module));
    if (first.empty()) first = path;
  }
  return Built{python.version, first};
}

}  // namespace fathom::session
