// SPDX-License-Identifier: MIT
// Files are fallocated before they are mapped, since a hole on a full disk would be SIGBUS in the
// program. The run's budget is booked before the file is made.
#include "guest/pool_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "guest/attach.h"
#include "guest/broker.h"
#include "guest/own_files.h"
#include "guest/schema.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "wire/exec.h"

namespace fathom::guest {
namespace {

// Not on the stack: it may be tiny. Whoever uses it is the process's one maker (pool.cc). Most are
// short: theirs lies beside our variables (start.ld).
constexpr size_t kName = 40;  // behind the directory
alignas(kLarge) constinit char long_path[kSpoolRoom + kName] = {};
constinit char short_path[kShortSpool + kName] = {};
constinit char* path = short_path;

Text path_in_spool() {
  const size_t length = strlen(guest.out);
  path = length < kShortSpool ? short_path : long_path;
  return Text(path, length < kShortSpool ? sizeof short_path : sizeof long_path).add(guest.out);
}

size_t pool_bytes(uint32_t segments) {
  return FATHOM_POOL_HEADER_SIZE + static_cast<size_t>(segments) * FATHOM_SEGMENT_SIZE;
}

// What is mapped here of the address space that RLIMIT_AS allows: of the process's one maker.
constinit size_t mapped_bytes = 0;

bool within_addresses(size_t bytes) {
  const uint64_t limit = address_limit();
  return limit == UINT64_MAX || mapped_bytes + bytes <= limit / FATHOM_ADDRESS_SHARE;
}

constinit bool refused_by_limit = false;  // atomic

bool within_limit(size_t bytes) {
  const bool allowed = allowed_size(bytes);
  __atomic_store_n(&refused_by_limit, !allowed, __ATOMIC_RELAXED);
  return allowed;
}

// Books room in the run's budget.
bool within_budget(size_t bytes) {
  if (guest.run == nullptr) return true;
  const uint64_t before = __atomic_fetch_add(&guest.run->pool_bytes, bytes, __ATOMIC_RELAXED);
  if (guest.run->spool_max == 0 || before + bytes <= guest.run->spool_max) return true;
  __atomic_fetch_sub(&guest.run->pool_bytes, bytes, __ATOMIC_RELAXED);
  return false;
}

void give_back_budget(size_t bytes) {
  if (guest.run != nullptr) __atomic_fetch_sub(&guest.run->pool_bytes, bytes, __ATOMIC_RELAXED);
}

void name_pool(uint32_t number) {
  path_in_spool().add("/").add_number(number).add(FATHOM_POOL_SUFFIX);
}

// A number may be taken though the run's page says otherwise: the page is memory of programs.
int create_numbered(uint32_t* number) {
  constexpr int kTries = 64;
  int fd = -EEXIST;
  for (int i = 0; i < kTries && fd == -EEXIST; i++) {
    *number = __atomic_add_fetch(&run_shared()->pools_made, 1, __ATOMIC_RELAXED);
    name_pool(*number);
    fd = create_own_file(path, O_RDWR);
  }
  return fd;
}

// Allocated, not a hole: touching a hole on a full disk is SIGBUS in the program.
void* map_new_file(int fd, size_t bytes) {
  if (raw_syscall(SYS_fallocate, fd, 0, 0, static_cast<long>(bytes)) != 0) return nullptr;
  return sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
}

// A file of our own; an error as the kernel tells it where it could not be opened.
void* map_own_file(size_t bytes, uint32_t* number, long* error) {
  *error = guest.brokered ? -EACCES : 0;
  if (guest.brokered || !within_limit(bytes) || !within_budget(bytes)) return nullptr;
  const int fd = create_numbered(number);
  void* const at = fd >= 0 ? map_new_file(fd, bytes) : nullptr;
  if (fd >= 0) sys_close(fd);
  if (at != nullptr) return at;
  if (fd >= 0) raw_syscall(SYS_unlinkat, AT_FDCWD, as_long(path), 0);
  if (fd < 0) *error = fd;
  give_back_budget(bytes);
  return nullptr;
}

// One that the recorder made for this process and its children: nobody else joins it.
void* map_brokered_file(uint32_t segments, size_t bytes, uint32_t* number) {
  static constinit uint32_t serial = 0;
  const int fd = brokered_pool(segments, ++serial);
  *number = FATHOM_POOL_BROKERED | serial;
  if (fd < 0) return nullptr;
  void* const at = sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  sys_close(fd);
  return at;
}

void fill_header(fathom_pool_header* pool, uint32_t segments, uint32_t number) {
  pool->version = FATHOM_WIRE_VERSION;
  pool->segment_size = FATHOM_SEGMENT_SIZE;
  pool->segment_count = segments;
  pool->schema_hash = schema_hash();
  memcpy(pool->run_id, guest.run->run_id, sizeof pool->run_id);
  pool->creator_key = guest.process_key;
  pool->creator_pid = static_cast<uint32_t>(guest.pid);
  pool->creator_space = guest.space;
  pool->number = number;
  pool->state = FATHOM_POOL_OPEN;
  __atomic_store_n(&pool->magic, FATHOM_POOL_MAGIC, __ATOMIC_RELEASE);
}

// Bytes of the file that a pool of ours needs, 0 if this is none.
size_t bytes_needed(const fathom_pool_header* pool) {
  const bool ours = __atomic_load_n(&pool->magic, __ATOMIC_ACQUIRE) == FATHOM_POOL_MAGIC &&
                    pool->version == FATHOM_WIRE_VERSION &&
                    pool->segment_size == FATHOM_SEGMENT_SIZE && pool->segment_count <= 1u << 16 &&
                    pool->schema_hash == schema_hash() &&
                    memcmp(pool->run_id, guest.run->run_id, sizeof pool->run_id) == 0 &&
                    __atomic_load_n(&pool->state, __ATOMIC_ACQUIRE) == FATHOM_POOL_OPEN;
  return ours ? pool_bytes(pool->segment_count) : 0;
}

}  // namespace

// RLIMIT_FSIZE: a file that would become too large costs the program a SIGXFSZ, so it is asked
// first.
bool allowed_size(size_t bytes) {
  rlimit limit{};
  if (raw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, as_long(&limit)) != 0) return true;
  return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

bool limit_refused_pool() { return __atomic_load_n(&refused_by_limit, __ATOMIC_RELAXED); }

uint64_t address_limit() {
  rlimit limit{};
  const bool known = raw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, as_long(&limit)) == 0;
  return known && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

void nap(long microseconds) {
  const timespec time{0, microseconds * 1000};
  raw_syscall(SYS_nanosleep, as_long(&time), 0);
}

fathom_pool_header* make_pool_file(uint32_t segments, uint32_t* number) {
  const size_t bytes = pool_bytes(segments);
  if (!within_addresses(bytes)) return nullptr;
  long error = 0;
  void* at = map_own_file(bytes, number, &error);
  const bool brokered = at == nullptr && is_out_of_reach(error) &&
                        (at = map_brokered_file(segments, bytes, number)) != nullptr;
  // Nobody records any more, or ever did, and the spool is gone.
  if (at == nullptr && error == -ENOENT && remake_spool()) at = map_own_file(bytes, number, &error);
  if (at == nullptr) return nullptr;
  mapped_bytes += bytes;
  raw_syscall(SYS_madvise, as_long(at), static_cast<long>(bytes), MADV_DONTDUMP);
  auto* pool = static_cast<fathom_pool_header*>(at);
  fill_header(pool, segments, *number);
  if (!brokered) {
    __atomic_store_n(&run_shared()->newest_pool, *number, __ATOMIC_RELEASE);
    return pool;
  }
  *number = 0;
  if (guest.brokered)
    guest.shared =
        reinterpret_cast<fathom_run_shared*>(static_cast<uint8_t*>(at) + FATHOM_POOL_SHARED_OFFSET);
  return pool;
}

fathom_pool_header* join_pool_file(uint32_t number) {
  name_pool(number);
  const int fd = sys_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return nullptr;
  const long size = raw_syscall(SYS_lseek, fd, 0, 2 /* SEEK_END */);
  void* at = nullptr;
  if (size >= FATHOM_POOL_HEADER_SIZE)
    at = sys_mmap(static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  sys_close(fd);
  if (at == nullptr) return nullptr;
  auto* pool = static_cast<fathom_pool_header*>(at);
  const size_t needed = bytes_needed(pool);
  if (needed == 0 || needed > static_cast<size_t>(size)) {
    sys_munmap(at, static_cast<size_t>(size));
    return nullptr;
  }
  mapped_bytes += static_cast<size_t>(size);
  raw_syscall(SYS_madvise, as_long(at), size, MADV_DONTDUMP);
  return pool;
}

// A thread may be looking at it: it finds nothing there.
void unmap_pool(fathom_pool_header* pool) {
  raw_syscall(SYS_mmap, as_long(pool), static_cast<long>(pool_bytes(pool->segment_count)),
              PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
              0);
}

bool PoolMakerLock::attempt() {
  if (fd_ < 0) {
    path_in_spool().add("/" FATHOM_RUN_FILE);
    fd_ = sys_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0);
  }
  if (fd_ < 0) return true;
  // Of the process, not of the open file: a child that is forked meanwhile does not prolong it.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_len = 1;
  const long taken = raw_syscall(SYS_fcntl, fd_, F_SETLK, as_long(&lock));
  return taken != -EAGAIN && taken != -EACCES;
}

PoolMakerLock::~PoolMakerLock() {
  if (fd_ >= 0) sys_close(fd_);
}

}  // namespace fathom::guest
