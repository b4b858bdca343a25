// SPDX-License-Identifier: MIT
// Which recordings may make us look at files of this machine. A recording names programs and
// modules; one that somebody sent may name any file, and to open it could hang, do something
// (devices, automounts) or tell.
#pragma once

#include "base/directory.h"
#include "base/result.h"
#include "trace/rows/definitions.h"
#include "trace/spool/spool.h"

namespace fathom::trace {

// This user's own recording, made since this machine was started: nobody elsewhere knows the id of
// that.
[[nodiscard]] bool is_ours(const Directory& recording, const Spool& spool);

// kDenied where a recording, or its spool, belongs to another user.
Status check_owner(const std::string& recording);

// The resolver, for modules alone that are files as they were when the spool was written last:
// names out of a file that was replaced since would be wrong.
[[nodiscard]] NameResolver for_unchanged_modules(NameResolver resolver, const Spool& spool);

}  // namespace fathom::trace
