// SPDX-License-Identifier: MIT
// Events as begins and ends that nest, thread by thread: what formats of call stacks need. Memory
// is that of the calls open at one time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "render/export/event_stream.h"

namespace fathom::render {

// Told in this order: thread_begins, begins and ends, thread_ends; then the next thread.
class SpanListener {
 public:
  virtual ~SpanListener() = default;
  // `first` is the thread's first event; begin() follows for it too.
  virtual Status thread_begins(const ExportEvent& first) = 0;
  // Events that overlap without nesting (another layer's, an asynchronous one) are on lanes of
  // their own; lane 0 is the thread's.
  virtual Status begin(std::size_t lane, const ExportEvent& event) = 0;
  // Of the innermost open event of the lane. `self` is its time outside of the events inside it.
  virtual Status end(std::size_t lane, std::int64_t ts, std::int64_t self) = 0;
  virtual Status thread_ends() = 0;
};

// An Error of the stream or of the listener ends the walk and is returned.
Status walk_spans(EventStream& from, SpanListener& listener);

}  // namespace fathom::render
