// SPDX-License-Identifier: MIT
// What the fake driver's calls come to on the device, for the fake CUPTI (fake_work.h).
#pragma once

#include "fake_state.h"
#include "fake_work.h"

namespace fake {

inline std::atomic<const Watcher*> watcher = nullptr;

inline Work work_on(void* stream, int record) {
  Work work;
  work.record = record;
  work.stream = id_of(stream);
  work.device = current != nullptr ? current->device : 0;
  return work;
}

inline unsigned copy_kind(std::string_view name, const Words& words) {
  if (name.find("HtoD") != name.npos || name.starts_with("cuMemcpy2D")) return 1;
  if (name.find("DtoH") != name.npos) return 2;
  if (name.find("DtoD") != name.npos) return 8;
  unsigned to = 0, from = 0;
  memory_type(&to, words[0]);
  memory_type(&from, words[1]);
  return to == 2 ? (from == 2 ? 8 : 1) : (from == 2 ? 2 : 9);
}

inline std::uint64_t copied(std::string_view name, const Words& words) {
  if (!name.starts_with("cuMemcpy2D")) return words[name.starts_with("cuMemcpyPeer") ? 4 : 2];
  const auto* plane = as<const std::uint64_t*>(words, 0);
  return plane[14] * plane[15];
}

inline std::uint64_t was_set(std::string_view name, const Words& words) {
  const std::uint64_t unit = name.find("32") != name.npos   ? 4
                             : name.find("16") != name.npos ? 2
                                                            : 1;
  return name.starts_with("cuMemsetD2D") ? words[3] * words[4] * unit : words[2] * unit;
}

inline void tell_graph(const Watcher& to, const Words& words) {
  const auto* graph = as<const Graph*>(words, 0);
  Work whole = work_on(as<void*>(words, 1), kGraph);
  whole.graph = graph->id;
  to.work(whole);
  std::uint64_t number = 0;
  for (const Node& node : graph->nodes) {
    if (node.type > 2) continue;  // no work
    Work work = work_on(as<void*>(words, 1), node.type == 0 ? kKernel : kCopy);
    work.name = node.kernel;
    work.bytes = node.bytes;
    work.copy_kind = 1;
    work.graph = graph->id;
    work.node = static_cast<std::uint64_t>(graph->id) << 32 | ++number;
    to.work(work);
  }
}

inline void tell_launch(const Watcher& to, std::string_view name, const Words& words) {
  const bool config = name == "cuLaunchKernelEx";
  const auto* asked = config ? as<const LaunchConfig*>(words, 0) : nullptr;
  void* stream = config ? asked->stream : as<void*>(words, 8);
  if (captures(stream)) return;
  Work work = work_on(stream, kKernel);
  work.name = as<Function*>(words, config ? 1 : 0)->name.c_str();
  for (unsigned i = 0; i < 6; i++)
    work.extents[i] = config ? (i < 3 ? asked->grid[i] : asked->block[i - 3])
                             : static_cast<std::uint32_t>(words[i + 1]);
  work.shared = config ? asked->shared : static_cast<std::uint32_t>(words[7]);
  to.work(work);
}

// Those whose arguments the fake looks into.
inline bool is_plain_copy(std::string_view name) {
  for (const std::string_view other : {"Batch", "3D", "toA", "Ato"}) {
    if (name.find(other) != name.npos) return false;
  }
  return name.starts_with("cuMemcpy");
}

inline void tell_copy(const Watcher& to, std::string_view name, const Words& words) {
  void* stream = name.ends_with("Async") ? (void*)words.back() : nullptr;
  if (captures(stream)) return;
  Work work = work_on(stream, name.find("Peer") != name.npos ? kPeerCopy : kCopy);
  work.copy_kind = work.record == kPeerCopy ? 10 : copy_kind(name, words);
  work.bytes = copied(name, words);
  to.work(work);
}

// The real one waits for all of the context before it takes away what may be in use there.
inline bool waits_within(std::string_view name, const Words& words) {
  return (name == "cuMemFree" && words[0] != 0) || name == "cuModuleUnload";
}

inline void tell_wait(const Watcher& to, std::string_view name, const Words& words) {
  Work work = work_on(name.starts_with("cuStream") ? as<void*>(words, 0) : nullptr, kSync);
  work.sync_type = name == "cuStreamSynchronize"  ? 3
                   : name == "cuStreamWaitEvent"  ? 2
                   : name == "cuEventSynchronize" ? 1
                                                  : 4;
  if (work.sync_type == 1 || work.sync_type == 4) work.stream = UINT32_MAX;
  to.work(work);
}

// A call, from its begin to its end.
class Watched {
 public:
  explicit Watched(const char* symbol) : watcher_(watcher), symbol_(symbol) {
    if (watcher_ != nullptr) watcher_->call(false, symbol_);
  }
  ~Watched() {
    if (watcher_ != nullptr) watcher_->call(true, symbol_);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void tell(std::string_view name, const Words& words) const {
    if (watcher_ == nullptr) return;
    if (name == "cuGraphLaunch") return tell_graph(*watcher_, words);
    if (name == "cuLaunchKernel" || name == "cuLaunchKernelEx")
      return tell_launch(*watcher_, name, words);
    if (is_plain_copy(name)) return tell_copy(*watcher_, name, words);
    if (name.ends_with("Synchronize") || name == "cuStreamWaitEvent" || waits_within(name, words))
      return tell_wait(*watcher_, name, words);
    if (!name.starts_with("cuMemset")) return;
    Work work = work_on(name.ends_with("Async") ? (void*)words.back() : nullptr, kSet);
    work.bytes = was_set(name, words);
    watcher_->work(work);
  }

 private:
  const Watcher* watcher_;
  const char* symbol_;
};

}  // namespace fake
