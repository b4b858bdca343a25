// SPDX-License-Identifier: MIT
// Calls by which a program gives up rights (guest/confinement.h). They make no event; what is
// needed later is got before they are made.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "guest/binding.h"
#include "guest/call.h"
#include "guest/confinement.h"
#include "guest/tail_jump.h"

namespace fathom::guest {
namespace confinement {

#define FATHOM_EXPORT __attribute__((visibility("default")))
#define FATHOM_HIDDEN __attribute__((visibility("hidden"), used))

// A filter that is no filter asks whether the kernel knows of any.
bool shuts_in(unsigned long mode, unsigned long filter) {
  return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter != 0);
}

// Whether the process is confined by this call, if it works.
bool before_prctl(int option, unsigned long first, unsigned long second) {
  if (option == PR_SET_TSC && first == PR_TSC_SIGSEGV) lose_counter();
  if (option != PR_SET_SECCOMP || !shuts_in(first, second) || is_confined()) return false;
  confine(first == SECCOMP_MODE_STRICT);
  return true;
}

void before_seccomp(long operation, long filter) {
  if (operation == SECCOMP_SET_MODE_STRICT) confine(true);
  if (operation == SECCOMP_SET_MODE_FILTER && filter != 0) confine(false);
}

extern "C" {

FATHOM_HIDDEN void* fathom_original_setuid = nullptr;
FATHOM_HIDDEN void* fathom_original_setreuid = nullptr;
FATHOM_HIDDEN void* fathom_original_setresuid = nullptr;
FATHOM_HIDDEN void* fathom_before_other_user() {
  rights_go(true);
  return nullptr;
}

FATHOM_EXPORT int hook_setuid(unsigned) __asm__("setuid");
FATHOM_EXPORT int hook_setreuid(unsigned, unsigned) __asm__("setreuid");
FATHOM_EXPORT int hook_setresuid(unsigned, unsigned, unsigned) __asm__("setresuid");
FATHOM_EXPORT int hook_prctl(int, unsigned long, unsigned long, unsigned long,
                             unsigned long) __asm__("prctl");
}

FATHOM_TAIL_JUMP("setuid", "fathom_before_other_user", "fathom_original_setuid")
FATHOM_TAIL_JUMP("setreuid", "fathom_before_other_user", "fathom_original_setreuid")
FATHOM_TAIL_JUMP("setresuid", "fathom_before_other_user", "fathom_original_setresuid")

namespace {

int (*original_prctl)(int, unsigned long, unsigned long, unsigned long, unsigned long) = nullptr;

}  // namespace

extern "C" {

int hook_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  resolve(original_prctl, "prctl");
  const bool confines = before_prctl(option, a, b);
  const int ret = original_prctl(option, a, b, c, d);
  if (confines && ret != 0) unconfine();
  return ret;
}

}  // extern "C"

namespace {

const Binding kRows[] = {
    {"prctl", reinterpret_cast<void*>(&hook_prctl), reinterpret_cast<void**>(&original_prctl)},
    {"setuid", reinterpret_cast<void*>(&hook_setuid), &fathom_original_setuid},
    {"setreuid", reinterpret_cast<void*>(&hook_setreuid), &fathom_original_setreuid},
    {"setresuid", reinterpret_cast<void*>(&hook_setresuid), &fathom_original_setresuid},
};

}  // namespace
}  // namespace confinement

// What comes of a raw call is not seen: one that fails leaves the process confined for us alone.
void before_giving_up_rights(long number, const long* arguments) {
  const auto argument = [=](int place) { return saved_argument(arguments, place); };
  if (number == SYS_seccomp) confinement::before_seccomp(argument(1), argument(3));
  if (number == SYS_prctl)
    confinement::before_prctl(static_cast<int>(argument(1)),
                              static_cast<unsigned long>(argument(2)),
                              static_cast<unsigned long>(argument(3)));
  constexpr long kLandlock = 446;  // landlock_restrict_self, everywhere
  if (number == kLandlock) rights_go(false);
  if (number == SYS_setuid || number == SYS_setreuid || number == SYS_setresuid) rights_go(true);
}

extern const Bindings kConfinementBindings;
const Bindings kConfinementBindings{confinement::kRows,
                                    sizeof confinement::kRows / sizeof *confinement::kRows};

}  // namespace fathom::guest
