// SPDX-License-Identifier: MIT
// Tries the event as asked, then without the kernel's part, which
// /proc/sys/kernel/perf_event_paranoid may forbid. The second answer says that the count is of user
// code only.
#include "perf/counter.h"

#include <utility>

namespace fathom::perf {

Opened open_counter(const Event& event, perf_event_attr attr, const Target& target) {
  if (event.happens_in_kernel() && event.exclude_kernel)
    return {Error{Code::kUnsupported,
                  "this event occurs only in the kernel, but its modifiers exclude the kernel",
                  "leave the modifiers out, or add k"},
            false};
  Opened whole{open_event(attr, target), false};
  const bool may_do_with_less = !whole.fd && whole.fd.error().code == Code::kDenied &&
                                attr.exclude_kernel == 0 && attr.exclude_user == 0 &&
                                !event.happens_in_kernel();
  if (!may_do_with_less) return whole;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  Result<Fd> again = open_event(attr, target);
  // What is not there for users either is not for want of rights.
  if (!again && again.error().code == Code::kDenied) return whole;
  return {std::move(again), !event.is_clock()};
}

}  // namespace fathom::perf
