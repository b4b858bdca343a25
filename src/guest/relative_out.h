// SPDX-License-Identifier: MIT
// FATHOM_OUT as this process found it, where that is no absolute path; else nullptr. The spool that
// it was taken for is guest.out.
#pragma once

namespace fathom::guest {

extern const char* relative_out;

}  // namespace fathom::guest
