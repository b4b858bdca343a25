// SPDX-License-Identifier: MIT
// What a descriptor that is no file leads to: a pipe, a socket, a terminal, an object of the
// kernel. The kernel is asked once, by the first call that reads or writes through the descriptor,
// so that whoever defines a pipe's end is one who uses it.
#pragma once

#include <stddef.h>

namespace fathom::guest {

// Words for the descriptor, as docs/formats/spool.md has them ("Channels"); 0: it is a file.
size_t describe_channel(int fd, char* to, size_t room);

// Words for "bytes moved through this end of a pipe" (the same page); 0: it is no pipe. `writes` is
// what the call did, which tells the end of a pipe that is open for both.
size_t describe_mover(int fd, bool writes, char* to, size_t room);

// Whether a path is that of a terminal or of a descriptor: what it leads to is to be asked for.
bool is_no_file(const char* path);

}  // namespace fathom::guest
