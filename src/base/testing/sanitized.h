// SPDX-License-Identifier: MIT
// For tests that count memory or page faults: ThreadSanitizer adds several of its own to each of
// the program's.
#pragma once

namespace fathom {

#ifdef __SANITIZE_THREAD__
inline constexpr bool kHasShadowMemory = true;
#else
inline constexpr bool kHasShadowMemory = false;
#endif

}  // namespace fathom
