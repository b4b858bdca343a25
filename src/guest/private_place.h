// SPDX-License-Identifier: MIT
// Places that nobody but this user, and root, can write to: where a run may lie that processes of
// this user find by its name, and where they tell its collectors what they want (wire/drop_in.h).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

namespace fathom::guest {

// Whether nobody else can write in this directory, nor exchange anything on the way to it. `path`
// gets its name without links.
bool is_ours_alone(const char* directory, char* path, size_t room);

// Makes the directory unless it is there. Whether it is ours then, no link, and closed to others.
bool make_own_directory(const char* path);

// A directory of that kind which every process of this user finds.
bool find_private_place(char* path, size_t room);

// Tells the collectors of this user what this process wants of the run that it is attached to:
// `what` and `where` make one record. Whether they can know.
bool note_wish(const char* what, const char* where);

// Facts of what a path leads to; of the link itself where it is one.
bool look_at(const char* path, struct stat& facts);
// Of the directory itself where `path` is "".
bool look_at(int directory, const char* path, struct stat& facts);

}  // namespace fathom::guest
