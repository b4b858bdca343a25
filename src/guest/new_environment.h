// SPDX-License-Identifier: MIT
// What a program that is about to begin is given of us. Its loader would kill it, or complain on
// its stderr, where it cannot load the library: a musl program, one of another word size, one in a
// root that does not have the library, one with hardly any stack. Such a program gets its
// environment without us; all else in it stays as it was handed over.
#pragma once

#include <stddef.h>

#include "guest/new_program.h"

namespace fathom::guest {

// For the thread that is about to exec, until exec has returned or never does. The new list lies in
// one of a few rooms for the process; where none is free, the program gets its environment as it
// was.
class NewEnvironment {
 public:
  NewEnvironment(const NewProgram& program, char* const* environment);
  ~NewEnvironment();
  NewEnvironment(const NewEnvironment&) = delete;
  NewEnvironment& operator=(const NewEnvironment&) = delete;

  [[nodiscard]] char* const* variables() const { return variables_; }  // to hand on
  [[nodiscard]] bool changed() const { return room_ >= 0; }
  [[nodiscard]] unsigned flags() const { return flags_; }  // of EXEC
  // Whether the kernel has found the program's path where it was said to be.
  [[nodiscard]] bool path_was_read() const { return path_was_read_; }

 private:
  static bool is_of_the_recorder(const class Variables& variables, const char* variable);
  void leave_us_out(const class Variables& variables, size_t place, char* list);

  char* const* variables_;
  unsigned flags_ = 0;
  bool path_was_read_ = false;
  int room_ = -1;
};

}  // namespace fathom::guest
