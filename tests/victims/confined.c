/* SPDX-License-Identifier: MIT
 * confined HOW [NUMBER]: reads 10 times, gives up rights, reads NUMBER times more (100), and ends.
 * Every filter ends the process for a call that the program does not make. Prints nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(condition)                                                               \
  do {                                                                                \
    if (!(condition)) {                                                               \
      dprintf(2, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno)); \
      _exit(99);                                                                      \
    }                                                                                 \
  } while (0)
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static int data;
static long number = 100;
static const char* self;

/* --- filters: of calls that are allowed, or of calls that kill */

enum { kMost = 64 };
struct filter {
  struct sock_filter steps[2 * kMost + 4];
  struct sock_fprog program;
};

static struct sock_fprog* make_filter(const int* calls, size_t count, int listed, int others) {
  static struct filter filter;
  size_t length = 0;
  filter.steps[length++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < count; i++) {
    filter.steps[length++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
    filter.steps[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
  }
  filter.steps[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
  filter.program = (struct sock_fprog){(unsigned short)length, filter.steps};
  return &filter.program;
}

static void install(struct sock_fprog* program) {
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == 0);
}

#define BASIC SYS_read, SYS_pread64, SYS_write, SYS_exit_group, SYS_exit, SYS_rt_sigreturn
#define THREADS                                                                      \
  SYS_clone, SYS_clone3, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_futex, \
      SYS_set_robust_list, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rseq, SYS_brk, SYS_getrandom

static void allow(const int* calls, size_t count) {
  install(make_filter(calls, count, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS));
}
#define ALLOW(...)                      \
  do {                                  \
    const int calls_[] = {__VA_ARGS__}; \
    allow(calls_, LENGTH(calls_));      \
  } while (0)

/* --- work */

static void preads(int fd, long times) {
  char buffer[13];
  for (long i = 0; i < times; i++) MUST(pread(fd, buffer, sizeof buffer, 0) == sizeof buffer);
}
static void* reads(void* unused) {
  preads(data, number);
  return unused;
}
static void in_a_thread(void) {
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, reads, NULL) == 0 && pthread_join(thread, NULL) == 0);
}
static void await(pid_t child) {
  int status = 0;
  MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}
static void in_a_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    reads(NULL);
    _exit(0);
  }
  await(child);
}

/* --- ways */

static void one_thread(void) {
  ALLOW(BASIC);
  reads(NULL);
}

static void through_libc_syscall(
    void) { /* as libseccomp does it, after it has asked what there is */
  MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) == -1 &&
       errno == EFAULT);
  const int calls[] = {BASIC};
  MUST(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
               make_filter(calls, LENGTH(calls), SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS)) ==
       0);
  reads(NULL);
}

static void later_threads_and_children(void) {
  ALLOW(BASIC, THREADS, SYS_wait4);
  in_a_thread();
  in_a_child();
}

static void raw_child(void) { /* made behind libc's back: nobody knows its number */
  ALLOW(BASIC, THREADS, SYS_wait4);
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    reads(NULL);
    _exit(0);
  }
  await(child);
}

/* Four threads that ask the kernel for positions all the time, since their descriptors are shared,
 * when the door is shut for all of them. */
enum { kWorkers = 4 };
static int shut, working, done;
static void* ask_and_read(void* unused) {
  const int fd = dup(data);
  char buffer[13];
  __atomic_fetch_add(&working, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n(&shut, __ATOMIC_ACQUIRE)) {
    MUST(read(fd, buffer, sizeof buffer) >= 0);
    /* On a busy machine the door may be shut for long before anybody hears of it; the spare room
     * that was made for it must last. */
    for (volatile int pause = 0; pause < 10000; pause++) continue;
  }
  preads(fd, number);
  __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
  for (;;) syscall(SYS_read, -1, NULL, 0);
  return unused;
}
static void all_threads(void) {
  pthread_t thread;
  for (int i = 0; i < kWorkers; i++) MUST(pthread_create(&thread, NULL, ask_and_read, NULL) == 0);
  while (__atomic_load_n(&working, __ATOMIC_SEQ_CST) < kWorkers) usleep(100);
  usleep(2000);
  const int calls[] = {BASIC};
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
               make_filter(calls, LENGTH(calls), SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS)) ==
       0);
  __atomic_store_n(&shut, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < kWorkers) syscall(SYS_read, -1, NULL, 0);
  _exit(0);
}

static sigjmp_buf back;
static void interrupt(int unused) {
  (void)unused;
  preads(data, 1);
  static int times;
  if (++times % 8 == 0) siglongjmp(back, 0);
}
static void handlers(void) { /* on a stack of their own, and left by longjmp */
  static char stack[65536];
  MUST(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL) == 0);
  const int flags = SA_ONSTACK | SA_RESTART | SA_NODEFER;
  MUST(sigaction(SIGALRM, &(struct sigaction){.sa_handler = interrupt, .sa_flags = flags}, NULL) ==
       0);
  MUST(setitimer(ITIMER_REAL, &(struct itimerval){{0, 200}, {0, 200}}, NULL) == 0);
  ALLOW(BASIC, SYS_restart_syscall);
  static volatile long left;
  left = number;
  sigsetjmp(back, 0);
  while (left > 0) {
    left = left - 1;
    preads(data, 1);
  }
  _exit(0);
}

static void by_name(void) { /* a file whose position only a question would tell */
  ALLOW(BASIC, SYS_openat, SYS_close);
  const int fd = open("sounding", O_RDONLY);
  char buffer[13];
  for (long i = 0; i < number; i++) MUST(read(fd, buffer, sizeof buffer) == sizeof buffer);
  close(fd);
}

static void strict(void) {
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
  char buffer[13];
  for (long i = 0; i < number; i++) MUST(read(data, buffer, sizeof buffer) == sizeof buffer);
  syscall(SYS_exit, 0);
}

static void without_counter(
    void) { /* in threads and children, too; the loader of a program would not survive it */
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) MUST(errno == EINVAL);
  in_a_thread();
  in_a_child();
}

static void without_counter_and_calls(void) {
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) MUST(errno == EINVAL);
  one_thread();
}

static void only_asks(
    void) { /* whether there are filters, in two ways, and by a filter that is none */
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1 && errno == EFAULT);
  MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1 && errno == EFAULT);
  struct sock_fprog nothing = {0, NULL};
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nothing) == -1 && errno == EINVAL);
  const int fd = open("sounding", O_RDONLY);
  char buffer[13];
  for (long i = 0; i < number; i++) MUST(read(fd, buffer, sizeof buffer) == sizeof buffer);
  close(fd);
}

/* What a program needs to start, and nothing that the loader does not call: others kill. */
static struct sock_fprog* room_for_programs(void) {
  static const int deadly[] = {
      SYS_fallocate, SYS_mkdirat, SYS_linkat,    SYS_getcwd,  SYS_prctl,  SYS_kill,
      SYS_socket,    SYS_getppid, SYS_gettid,    SYS_madvise, SYS_lseek,  SYS_readlinkat,
      SYS_faccessat, SYS_getpid,  SYS_nanosleep, SYS_connect, SYS_sendmsg};
  return make_filter(deadly, LENGTH(deadly), SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
}
static void next_program(void) {
  char times[20];
  snprintf(times, sizeof times, "%ld", number);
  install(room_for_programs());
  execl(self, self, "only-reads", times, NULL);
}

static void vforked(void) { /* the child is confined, the parent is not */
  static struct sock_fprog* program;
  program = room_for_programs();
  char times[20];
  snprintf(times, sizeof times, "%ld", number);
  const pid_t child = vfork();
  if (child == 0) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == 0)
      execl(self, self, "only-reads", times, NULL);
    _exit(97);
  }
  await(child);
  const int fd = open("sounding", O_RDONLY);
  char buffer[13];
  for (long i = 0; i < number; i++) MUST(read(fd, buffer, sizeof buffer) == sizeof buffer);
}

static void landlocked(
    void) { /* no file may be opened, made or written any more; an old kernel refuses */
  struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE |
                                                             LANDLOCK_ACCESS_FS_MAKE_REG |
                                                             LANDLOCK_ACCESS_FS_MAKE_DIR};
  const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  if (ruleset >= 0)
    MUST(syscall(SYS_landlock_restrict_self, ruleset, 0) == 0 && close(ruleset) == 0);
  in_a_thread();
  in_a_child();
  char times[20];
  snprintf(times, sizeof times, "%ld", number);
  execl(self, self, "only-reads", times, NULL);
}

static const struct {
  const char* name;
  void (*way)(void);
} ways[] = {
    {"one-thread", one_thread},
    {"through-syscall", through_libc_syscall},
    {"later", later_threads_and_children},
    {"raw-child", raw_child},
    {"all-threads", all_threads},
    {"handlers", handlers},
    {"by-name", by_name},
    {"strict", strict},
    {"no-counter", without_counter},
    {"no-counter-and-calls", without_counter_and_calls},
    {"asks", only_asks},
    {"program", next_program},
    {"vfork", vforked},
    {"landlock", landlocked},
};

int main(int argc, char** argv) {
  MUST(argc >= 2);
  self = argv[0];
  if (argc > 2) number = atol(argv[2]);
  data = open("sounding", O_RDONLY);
  MUST(data >= 0);
  if (!strcmp(argv[1], "only-reads")) return reads(NULL) != NULL;
  preads(data, 10);
  for (size_t i = 0; i < LENGTH(ways); i++) {
    if (!strcmp(argv[1], ways[i].name)) ways[i].way();
  }
  _exit(0);
}
