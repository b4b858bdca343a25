// SPDX-License-Identifier: MIT
// A thread is told of when it begins: one that computes, sleeps or waits may never make a call that
// is recorded, and its life counts all the same. It holds no segment for that.
#include <errno.h>
#include <pthread.h>

#include "guest/binding.h"
#include "guest/confinement.h"
#include "guest/runtime.h"

#define FATHOM_EXPORT __attribute__((visibility("default")))
#define FATHOM_HIDDEN __attribute__((visibility("hidden"), used))

namespace fathom::guest::threads {
namespace {

using Start = void* (*)(void*);

// What a new thread is to run. On its way from one thread to the other it lies here: the program's
// heap is not ours, and a wait for the new thread would change the old one's timing.
struct Work {
  Start start;
  void* argument;
};
constexpr unsigned kWords = 16;
constinit Work work[kWords * 64] = {};
constinit uint64_t taken[kWords] = {};  // a bit each; atomic

Work* take() {
  for (unsigned word = 0; word < kWords; word++) {
    uint64_t bits = __atomic_load_n(&taken[word], __ATOMIC_RELAXED);
    while (~bits != 0) {
      const auto bit = static_cast<unsigned>(__builtin_ctzll(~bits));
      if (__atomic_compare_exchange_n(&taken[word], &bits, bits | UINT64_C(1) << bit, false,
                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return &work[word * 64 + bit];
    }
  }
  return nullptr;  // as many are on their way: this one is told of by its first call
}

void give_back(const Work* one) {
  const auto place = static_cast<unsigned>(one - work);
  __atomic_fetch_and(&taken[place / 64], ~(UINT64_C(1) << place % 64), __ATOMIC_RELEASE);
}

int (*original_thrd_create)(void*, int (*)(void*), void*) = nullptr;
int (*original_pthread_create)(pthread_t*, const pthread_attr_t*, Start, void*) = nullptr;

// What is written says when the thread began and who it is.
void tell_of_thread() {
  if (tls.thread != nullptr || !recording(FATHOM_SOURCE_RUNTIME)) return;
  first_record_of_thread();
  if (tls.thread == nullptr) return;
  tls.thread->told = true;
  {
    Writer writer(FATHOM_SOURCE_RUNTIME);
    if (writer.ok()) writer.commit(tls.cursor.at);
  }
  leave_segments();
}

}  // namespace

extern "C" {

FATHOM_HIDDEN void fathom_run_thread();

// By value in two registers, which is where assembler takes it from.
FATHOM_HIDDEN Work fathom_begin_thread(const Work* one) {
  const Work own = *one;
  give_back(one);
  tell_of_thread();
  return own;
}

FATHOM_EXPORT int hook_thrd_create(void* thread, int (*start)(void*),
                                   void* argument) __asm__("thrd_create");
FATHOM_EXPORT int hook_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                      Start start, void* argument) __asm__("pthread_create");

}  // extern "C"

// Jumps to the program's function: a frame of ours below it would be in the way of unwinders, which
// end a thread that is cancelled.
#if defined(__x86_64__)
__asm__(
    ".text\n.globl fathom_run_thread\n.hidden fathom_run_thread\n"
    ".type fathom_run_thread,@function\nfathom_run_thread:\n"
    "  subq $8, %rsp\n"
    "  call fathom_begin_thread\n"
    "  addq $8, %rsp\n"
    "  movq %rdx, %rdi\n"
    "  jmp *%rax\n"
    ".size fathom_run_thread, .-fathom_run_thread\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl fathom_run_thread\n.hidden fathom_run_thread\n"
    ".type fathom_run_thread,%function\nfathom_run_thread:\n"
    "  hint #34\n"  // bti c
    "  stp x29, x30, [sp, #-16]!\n"
    "  bl fathom_begin_thread\n"
    "  ldp x29, x30, [sp], #16\n"
    "  mov x16, x0\n"
    "  mov x0, x1\n"
    "  br x16\n"
    ".size fathom_run_thread, .-fathom_run_thread\n");
#endif

// `create` starts a thread that runs a function with an argument.
template <class Function, class Create>
static int start_thread(Function start, void* argument, Create create) {
  Work* one = recording(FATHOM_SOURCE_RUNTIME) && !is_confined() ? take() : nullptr;
  if (one == nullptr) return create(start, argument);
  using Any = void (*)();  // between two types of functions compilers want this step
  *one = {reinterpret_cast<Start>(reinterpret_cast<Any>(start)), argument};
  const int ret = create(reinterpret_cast<Function>(&fathom_run_thread), one);
  if (ret != 0) give_back(one);
  return ret;
}

int hook_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, Start start,
                        void* argument) {
  resolve(original_pthread_create, "pthread_create");
  if (original_pthread_create == nullptr) return ENOSYS;
  return start_thread(start, argument, [&](Start run, void* with) {
    return original_pthread_create(thread, attributes, run, with);
  });
}

int hook_thrd_create(void* thread, int (*start)(void*), void* argument) {
  constexpr int kError = 2;  // thrd_error of <threads.h>
  resolve(original_thrd_create, "thrd_create");
  if (original_thrd_create == nullptr) return kError;
  return start_thread(start, argument, [&](int (*run)(void*), void* with) {
    return original_thrd_create(thread, run, with);
  });
}

namespace {

const Binding kRows[] = {
    FATHOM_BINDING("pthread_create", &hook_pthread_create, &original_pthread_create),
    FATHOM_BINDING("thrd_create", &hook_thrd_create, &original_thrd_create),
};

}  // namespace
}  // namespace fathom::guest::threads

namespace fathom::guest {

// In a forked child: threads that were on their way begin in the parent.
void forget_starts() {
  for (uint64_t& word : threads::taken) {
    if (word != 0) word = 0;  // a write costs each fork a page
  }
}

extern const Bindings kThreadBindings;
const Bindings kThreadBindings{threads::kRows, sizeof threads::kRows / sizeof *threads::kRows};

}  // namespace fathom::guest
