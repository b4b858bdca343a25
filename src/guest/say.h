// SPDX-License-Identifier: MIT
// What a user has to know of a run that nobody supervises, and would learn nowhere else: one line
// on the program's stderr, before anything is recorded or while the program waits for us. This is
// the only place that prints.
#pragma once

#include <stddef.h>

namespace fathom::guest {

// Descriptor 2 as it is now is the one to write to. A program may use the number for something else
// later: nothing is said then.
void note_stderr();

// Writes a text that ends in a newline.
void say(const char* text);

// The same, once for all processes of the attached run; `entry` of its spool says that it was said.
void say_once(const char* entry, const char* text);

// Whether the parent has this library, too: it said what concerns both.
bool has_parent_with_library();

// The file of this library as the kernel has mapped it: links are followed, a relative name is
// complete. False where nobody tells.
bool find_own_file(char* path, size_t room);

}  // namespace fathom::guest
