/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * What a user may take of the room that all share: where a daemon records everybody, nobody can use
 * it up for the others. */
#pragma once

#include "sources/ebpf/maps.bpf.h"

#define FATHOM_MAX_NAMESPACES 34 /* one inside another: the kernel makes 32 */

struct fathom_namespace_walk {
  struct user_namespace* inside;
};

static long leave_namespace(__u32 index, struct fathom_namespace_walk* walk) {
  struct user_namespace* inside = walk->inside;
  if (BPF_CORE_READ(inside, level) <= 1) return 1;
  walk->inside = BPF_CORE_READ(inside, parent);
  return 0;
}

/* Who made the namespace has all users in it. Of the task that runs. */
__noinline __u32 payer(void) {
  struct task_struct* task = this_task();
  struct fathom_namespace_walk walk = {.inside = BPF_CORE_READ(task, cred, user_ns)};
  FATHOM_LOOP(FATHOM_MAX_NAMESPACES, leave_namespace, &walk);
  struct user_namespace* inside = walk.inside;
  if (BPF_CORE_READ(inside, level) > 0) return BPF_CORE_READ(inside, owner.val);
  return BPF_CORE_READ(task, cred, uid.val);
}

static __always_inline struct fathom_user* user_at(__u32 number) {
  struct fathom_user* user = bpf_map_lookup_elem(&users, &number);
  if (user) return user;
  struct fathom_user fresh = {};
  bpf_map_update_elem(&users, &number, &fresh, BPF_NOEXIST);
  return bpf_map_lookup_elem(&users, &number);
}

/* With what is counted in this window of time. */
static __always_inline struct fathom_user* user_now(__u32 number) {
  struct fathom_user* user = user_at(number);
  if (!user) user = user_at(FATHOM_BPF_EVERYBODY);
  if (!user || !settings.window_ns) return user;
  const __u32 window = (bpf_ktime_get_ns() - settings.start_ns) / settings.window_ns;
  if (user->window != window) {
    user->window = window;
    user->rows = 0;
    user->met = 0;
  }
  return user;
}

enum fathom_row_room { FATHOM_ROW_FITS, FATHOM_ROW_WITHOUT_NAME, FATHOM_ROW_LOST };

/* For one more row of the thread that runs. (What others tell of a thread is few.) */
__noinline int room_for_row(__u32 tid, __u32 file) {
  struct task_struct* task = this_task();
  if (!settings.user_rows || tid != (__u32)FATHOM_FIELD(task, pid)) return FATHOM_ROW_FITS;
  struct fathom_user* user = user_now(payer());
  if (!user || user->rows >= settings.user_most) return FATHOM_ROW_LOST;
  if (user->rows >= settings.user_rows && file > FATHOM_BPF_OTHERS) return FATHOM_ROW_WITHOUT_NAME;
  user->rows += 1;
  return FATHOM_ROW_FITS;
}
