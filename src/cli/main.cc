// SPDX-License-Identifier: MIT
// The program: finds the command, runs it, and tells what went wrong in one line. The last place
// that catches what a library throws, and where an Error becomes an exit status.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/own_limits.h"
#include "base/result.h"
#include "base/scratch.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/datacrumbs_door.h"
#include "cli/old_programs.h"
#include "cli/parser.h"
#include "cli/plotstats_door.h"
#include "cli/question_guard.h"
#include "cli/tell.h"

namespace fathom::cli {
namespace {

// A closed standard stream would be taken by the next file that we open, and what we print would go
// into it. Such a stream is filled with a close-on-exec descriptor, so that a program that we start
// finds it closed as it was.
void fill_closed_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) == -1)
      (void)open("/dev/null", O_RDWR | O_CLOEXEC);  // takes the lowest: this one
  }
}

void print_overview() {
  std::string text =
      "usage: fathom COMMAND [ARGUMENT…]\n\nFathom shows where a program's time goes, from its "
      "functions down to the disk and the GPU.\n\n";
  for (const CommandDef* def : commands()) {
    std::string name(def->name);
    name.resize(std::max<std::size_t>(12, name.size() + 1), ' ');
    text += "  " + name + std::string(def->summary) + "\n";
  }
  text +=
      "\nRun 'fathom COMMAND --help' for the options of a command, and 'fathom --version' for the "
      "version.\n\nExample:\n  fathom run -- ./simulate input.dat\n";
  std::fputs(text.c_str(), stdout);
}

Result<int> run_command(const std::string& name, std::vector<std::string> arguments) {
  const CommandDef* def = find_command(name);
  if (def == nullptr) return unknown_command(name);
  Parser parser(*def, std::move(arguments));
  return def->run(parser);
}

Result<int> dispatch(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    print_overview();
    return 0;
  }
  if (words[0] == "--version" || words[0] == "-V") {
    std::printf("fathom %s\n", std::string(version()).c_str());
    return 0;
  }
  std::string name = words[0];
  words.erase(words.begin());
  if (name != "help") return run_command(name, std::move(words));
  if (words.empty()) return dispatch({});
  return run_command(words[0], {"--help"});
}

Result<int> run_watch(std::vector<std::string> words) {
  return run_command("watch", std::move(words));
}

// The program under the name `datacrumbs`.
Result<int> run_datacrumbs(const std::vector<std::string>& words) {
  FATHOM_ASSIGN(const DatacrumbsDoor door, read_datacrumbs(words));
  switch (door.action) {
    case DatacrumbsDoor::Action::kRun:
      return run_watch(door.words);
    case DatacrumbsDoor::Action::kStart:
      return start_in_background(door.words, run_watch);
    case DatacrumbsDoor::Action::kStop:
      return stop_daemon();
  }
  return 0;
}

int fail(const Error& error) {
  if (question_stopped_by() != 0) return 0;  // the signal says it
  const Error told = explained(error);
  tell(told);
  return exit_status(told.code);
}

// `words` begin with the program's own name.
int run_main(std::vector<std::string> words) {
  try {
    const std::string program = words.empty() ? "" : words[0];
    if (!words.empty()) words.erase(words.begin());
    const Result<int> status =
        is_datacrumbs(program)    ? run_datacrumbs(words)
        : is_plotstats(program)   ? run_command("plot", plotstats_words(std::move(words)))
        : is_old_program(program) ? run_old_program(program, words, run_command)
                                  : dispatch(std::move(words));
    return status ? *status : fail(status.error());
  } catch (const std::bad_alloc&) {
    return fail({Code::kIo, "out of memory", ""});
  } catch (const std::exception& error) {
    return fail({Code::kIo, std::string("unexpected: ") + error.what(),
                 "please report this bug with the command line"});
  }
}

// Everything that needs a stack.
int run_whole(std::vector<std::string> words) {
  const int status = run_main(std::move(words));
  if (const int number = question_stopped_by(); number != 0) {
    std::fflush(stdout);
    remove_temporary_paths();  // static objects own some
    die_of(number);
  }
  // Results that could not be printed (a full disk) are not success.
  if (std::fflush(stdout) != 0 && status == 0) {
    std::fputs("fathom: cannot write to stdout\n", stderr);
    return 3;
  }
  return status;
}

}  // namespace
}  // namespace fathom::cli

int main(int argc, char** argv) {
  fathom::cli::fill_closed_streams();
  fathom::ignore_size_signal();
  return fathom::on_roomy_stack(
      [&] { return fathom::cli::run_whole(std::vector<std::string>(argv, argv + argc)); });
}
