// SPDX-License-Identifier: MIT
// Which thread of Python a sample is of, the sample says itself: the C function that runs Python
// has the thread's address at hand. So numbers of threads, which differ by pid namespace, matter
// only where that function lies too deep to be copied.
#include "sources/perf/python/python_process.h"

#include <algorithm>

#include "base/files.h"
#include "base/text.h"

namespace fathom::sources {
namespace {

// A process in another pid namespace has one more number there.
bool counts_as_we_do(pid_t process) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(process) + "/status");
  if (!text) return false;
  for (const std::string_view line : split(*text, '\n')) {
    if (!line.starts_with("NSpid:")) continue;
    return split(trim(line.substr(line.find(':') + 1)), '\t').size() == 1;
  }
  return false;
}

}  // namespace

PythonProcess::PythonProcess(pid_t process, const InterpreterFile& file, std::uint64_t bias,
                             LoopPlaces& places)
    : file_(file),
      bias_(bias),
      places_(places),
      memory_(process),
      own_numbers_(counts_as_we_do(process)) {}

// The interpreter fills in its own structures before it runs any Python.
bool PythonProcess::learn_layout() {
  if (layout_) return true;
  layout_ = file_.minor() >= 13 ? PythonLayout::read(memory_, bias_ + file_.runtime())
                                : PythonLayout::of_version(file_.minor());
  if (!layout_) return false;
  codes_.emplace(memory_, *layout_, bias_ + file_.code_type());
  reader_.emplace(memory_, *layout_, *codes_);
  return true;
}

void PythonProcess::forget() {
  constexpr std::size_t kMostThreadsBefore = 16384;
  memory_.forget();
  if (codes_) codes_->forget();
  threads_.reset();
  for (auto& [thread, stack] : stacks_) stacks_before_[thread] = std::move(stack);
  if (stacks_before_.size() > kMostThreadsBefore) stacks_before_.clear();
  stacks_.clear();
}

const std::vector<PythonThread>& PythonProcess::threads() {
  if (!threads_) threads_ = reader_->threads(bias_ + file_.runtime());
  return *threads_;
}

bool PythonProcess::has_thread(std::uint64_t thread) {
  return std::ranges::any_of(threads(),
                             [&](const PythonThread& one) { return one.address == thread; });
}

std::optional<std::uint64_t> PythonProcess::thread_in(const SampledStack& stack) {
  for (const SampledLoop& loop : stack.loops) {
    for (const SampledWord& word : words_of(loop, stack.copy))
      if (has_thread(word.value)) return word.value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> PythonProcess::thread_of(std::int32_t tid, const SampledStack& stack) {
  if (const std::optional<std::uint64_t> thread = thread_in(stack)) {
    threads_of_[tid] = *thread;
    return thread;
  }
  const auto known = threads_of_.find(tid);
  if (known != threads_of_.end() && has_thread(known->second)) return known->second;
  if (!own_numbers_) return std::nullopt;
  const auto found =
      std::ranges::find(threads(), static_cast<std::uint64_t>(tid), &PythonThread::native_id);
  return found != threads().end() ? std::optional(found->address) : std::nullopt;
}

// The thread goes on while it is read; there are not many instructions in which that matters.
const PythonStack& PythonProcess::live_stack(std::uint64_t thread) {
  constexpr int kTries = 5;
  const auto [stack, is_new] = stacks_.try_emplace(thread);
  for (int i = 0; is_new && i < kTries && !stack->second.whole; i++) {
    if (i > 0) memory_.forget();
    codes_->forget();
    stack->second = reader_->stack(thread);
  }
  if (is_new) stack->second.compare_with(stacks_before_[thread]);
  return stack->second;
}

std::vector<MergedFrame> PythonProcess::merge(std::int32_t tid, const SampledStack& stack) {
  const bool runs_python = std::ranges::find(stack.roles, NativeRole::kLoop) != stack.roles.end();
  if (stack.whole && !runs_python) return {};
  const std::optional<std::uint64_t> thread = learn_layout() ? thread_of(tid, stack) : std::nullopt;
  if (!thread) {
    if (runs_python) unread_++;
    return {};
  }
  StackMerge merge(*reader_, *codes_, places_, live_stack(*thread));
  std::vector<MergedFrame> merged = merge.merge(stack);
  if (merge.is_uncertain()) uncertain_++;
  return merged;
}

}  // namespace fathom::sources
