// SPDX-License-Identifier: MIT
// Times of the device where nothing tells them: one launch of many stands between two events of the
// driver's, which are read when both are over, without waiting.
#pragma once

#include "sources/cuda/spec.guest.h"
#include "sources/device_work.guest.h"

namespace fathom::guest::cuda {

struct EventPair;

// Before a launch on that stream: an event, if it is this one's turn. nullptr: it is not, or the
// stream is captured, or all events wait.
EventPair* pair_begins(Handle stream);

// After it: the second one, or, where the launch did not run, none. `row` says what is known of the
// work but its times; `begin` is when it was asked for. Returns the number by which the two are
// told to belong together.
uint64_t pair_ends(EventPair* pair, Handle stream, bool runs, DeviceRow row);

// This thread waited for the device. Where that stream has nothing to do now, it is a moment at
// which the device's clock can be held against ours.
void device_was_waited_for(bool idle, Handle stream);

// Before a context is given up, while its events can still be: ours go. (What comes back to it
// makes new ones.)
void pairs_leave(uint32_t context);
void pairs_leave_device(int device);  // every context there

}  // namespace fathom::guest::cuda
