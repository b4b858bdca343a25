// SPDX-License-Identifier: MIT
// The frames of Python as they lie in a process: lists of interpreters, of their threads, and of a
// thread's frames.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sources/perf/python/code_objects.h"
#include "sources/perf/python/foreign_memory.h"
#include "sources/perf/python/layout.h"

namespace fathom::sources {

// A frame that runs or waits for a callee.
struct PythonFrame {
  std::uint64_t address = 0;
  CodePointer code;
  std::uint64_t instruction = 0;  // that is being done, or was done last
  // The outermost that its C function runs, and something of it that lies on the C stack; 0: not
  // known.
  bool ends_entry = false;
  std::uint64_t anchor = 0;
  std::uint32_t age = 0;  // how many readings before found it and its callers, one after the other
};

// Innermost first.
struct PythonStack {
  std::vector<PythonFrame> frames;
  bool whole = false;              // up to the outermost
  std::size_t lasting = 0;         // outermost frames that the reading before had found, too
  std::vector<PythonFrame> ended;  // the others that it had found, innermost first

  void compare_with(const PythonStack& before);
};

// A thread by the interpreter's own structure, and by its number where that is told.
struct PythonThread {
  std::uint64_t address = 0;
  std::uint64_t native_id = 0;  // 0: not known
};

// One thread at a time.
class FrameReader {
 public:
  FrameReader(ForeignMemory& memory, const PythonLayout& layout, CodeObjects& codes)
      : memory_(memory), layout_(layout), codes_(codes) {}

  // Of all interpreters of a process.
  [[nodiscard]] std::vector<PythonThread> threads(std::uint64_t runtime);
  [[nodiscard]] PythonStack stack(std::uint64_t thread);

  // Whether one C function runs several functions of Python.
  [[nodiscard]] bool shares_loops() const { return layout_.marks_entries(); }

  // What lies at an address, if that is, or was just now, a frame.
  struct Found {
    PythonFrame frame;
    std::uint64_t outer = 0;
    bool is_mark = false;  // of an entry: there is no function of Python
  };
  [[nodiscard]] std::optional<Found> frame_at(std::uint64_t address);

 private:
  void add_threads(std::uint64_t interpreter, std::vector<PythonThread>& threads);

  ForeignMemory& memory_;
  const PythonLayout& layout_;
  CodeObjects& codes_;
};

}  // namespace fathom::sources
