// SPDX-License-Identifier: MIT
// How many files this process may have open.
#pragma once

namespace fathom {

// As many as this user may. Not where a program is started that would inherit it.
void raise_file_limit();

}  // namespace fathom
