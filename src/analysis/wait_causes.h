// SPDX-License-Identifier: MIT
// What a thread waits for, by the function that it waits in: calls of libc, as layers of the
// program record them and stacks show them, and functions of the kernel.
#pragma once

#include <string_view>

namespace fathom::analysis {

struct WaitCause {
  std::string_view cause;
  // By spaces. Those of libraries stand here without what a C library puts in front of its own
  // names: `wait4` is __wait4 and __GI___wait4, too.
  std::string_view functions;
};

// Of several functions in one stack, the one that stands first here tells: who joins a thread does
// so by a futex, who meets a page fault may wait for a file.
inline constexpr WaitCause kWaitCauses[] = {
    {"gpu",
     "cuCtxSynchronize cuStreamSynchronize cuEventSynchronize cudaDeviceSynchronize "
     "cudaStreamSynchronize cudaEventSynchronize hipDeviceSynchronize hipStreamSynchronize"},
    {"join",
     "pthread_join pthread_clockjoin_ex pthread_timedjoin_np pthread_clockjoin_np thrd_join"},
    // A thread of Go that has nothing to run waits until it is told that there is something.
    {"condition",
     "pthread_cond_wait pthread_cond_timedwait pthread_cond_timedwait64 pthread_cond_clockwait "
     "pthread_barrier_wait cnd_wait cnd_timedwait eventfd_read eventfd_write runtime.notesleep "
     "runtime.notetsleep runtime.notetsleepg runtime.stopm runtime.mPark"},
    {"sleep",
     "nanosleep clock_nanosleep usleep sleep hrtimer_nanosleep do_nanosleep common_nsleep "
     "timerfd_read timerfd_read_iter runtime.usleep"},
    {"poll",
     "poll ppoll select pselect pselect6 epoll_wait epoll_pwait epoll_pwait2 do_poll do_sys_poll "
     "do_select "
     "ep_poll do_epoll_wait io_cqring_wait"},
    {"child",
     "wait waitpid wait3 wait4 waitid vfork do_wait kernel_wait4 kernel_waitid __do_sys_vfork "
     "__ia32_sys_vfork __x64_sys_vfork"},
    {"pipe",
     "pipe_read pipe_write anon_pipe_read anon_pipe_write fifo_pipe_read fifo_pipe_write fifo_open "
     "wait_for_partner pipe_wait_readable pipe_wait_writable"},
    {"socket",
     "accept accept4 connect recv recvfrom recvmsg recvmmsg send sendto sendmsg sendmmsg "
     "unix_stream_read_generic unix_stream_data_wait unix_stream_sendmsg "
     "__skb_wait_for_more_packets "
     "sk_wait_data sk_stream_wait_memory tcp_recvmsg tcp_sendmsg inet_csk_accept inet_accept "
     "unix_accept inet_stream_connect sock_recvmsg sock_sendmsg"},
    {"page fault",
     "handle_userfault do_swap_page filemap_fault exc_page_fault asm_exc_page_fault do_page_fault "
     "do_user_addr_fault do_mem_abort"},
    {"file",
     "fsync fdatasync sync syncfs msync flock io_schedule folio_wait_bit_common folio_wait_bit "
     "wait_on_page_bit jbd2_log_wait_commit vfs_fsync_range submit_bio_wait blk_io_schedule "
     "filemap_read ext4_file_read_iter xfs_file_read_iter btrfs_file_read_iter nfs_file_read "
     "locks_lock_inode_wait read_events balance_dirty_pages rpc_wait_bit_killable"},
    {"lock",
     "pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_clocklock pthread_rwlock_rdlock "
     "pthread_rwlock_wrlock sem_wait sem_timedwait sem_clockwait lll_lock_wait "
     "lll_lock_wait_private runtime.lock2 futex futex_wait futex_wait_queue __futex_wait "
     "futex_do_wait "
     "do_futex rwsem_down_read_slowpath rwsem_down_write_slowpath __mutex_lock"},
};

}  // namespace fathom::analysis
