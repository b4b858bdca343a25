// SPDX-License-Identifier: MIT
// Numbers of processes and threads in the recorder's pid namespace: records bear these, so that
// layers of the library and of the kernel tell of one process by one number.
#include "guest/namespaces.h"

#include <sys/stat.h>

#include "guest/broker.h"
#include "guest/confinement.h"
#include "guest/syscalls.h"

namespace fathom::guest {

uint64_t own_pid_namespace() {
  struct stat facts;
  const long looked =
      raw_syscall(SYS_newfstatat, AT_FDCWD, as_long("/proc/self/ns/pid"), as_long(&facts), 0);
  return looked == 0 ? facts.st_ino : 0;
}

uint32_t own_space() {
  if (guest.run->pid_namespace == 0) return 0;
  const uint64_t own = own_pid_namespace();
  return own == guest.run->pid_namespace ? 0 : fathom_space(own);
}

uint32_t space_of_child(int parent_pid) {
  return parent_pid == guest.pid ? guest.space : own_space();
}

// The recorder is asked once for a process and once for each further thread. Where it does not
// answer, numbers stay those of the namespace.
void learn_outer_numbers(Identity& one) {
  const bool is_lodger = one.key != guest.process_key;
  const int known = is_lodger ? 0 : __atomic_load_n(&guest.outer_pid, __ATOMIC_RELAXED);
  if (known != 0) one.outer_pid = known;
  if (is_confined() || __atomic_load_n(&guest.unheard, __ATOMIC_RELAXED) || !has_broker()) return;
  const Numbers told = brokered_numbers(one.tid != one.pid ? one.tid : 0);
  if (told.pid == 0) return __atomic_store_n(&guest.unheard, true, __ATOMIC_RELAXED);
  one.outer_pid = static_cast<int>(told.pid);
  if (told.tid != 0) one.outer_tid = static_cast<int>(told.tid);
  if (!is_lodger) __atomic_store_n(&guest.outer_pid, one.outer_pid, __ATOMIC_RELAXED);
}

}  // namespace fathom::guest
