// SPDX-License-Identifier: MIT
// Which Pythons are traced: the guest names others, and the host builds no extension for them.
// python/CMakeLists.txt has the same numbers.
#pragma once

enum { FATHOM_PYTHON_FIRST_MINOR = 8, FATHOM_PYTHON_LAST_MINOR = 13 };
#define FATHOM_PYTHON_VERSIONS "this version of Fathom traces 3.8 to 3.13"
