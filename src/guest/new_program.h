// SPDX-License-Identifier: MIT
// Whether a program that is about to begin can take the library in, by its file.
#pragma once

namespace fathom::guest {

// A program as exec and its kin name it.
struct NewProgram {
  int directory;
  const char* path;  // nullptr: the file that `directory` is open at
  bool searched;     // in PATH, where the name has no '/'
};

// The program with the path that a search finds, in `room`, which has Scratch::kRoom bytes; with
// nothing in it where the search finds nothing.
NewProgram found_program(const NewProgram& program, char* room);

// What stands against the library: flags of EXEC (wire/record.h). Follows `#!` lines. 0 also where
// the file cannot be read. Tells whether the kernel could read the path, where it was asked.
unsigned obstacles_in(const NewProgram& program, bool* path_was_read);

}  // namespace fathom::guest
