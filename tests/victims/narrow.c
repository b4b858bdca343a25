/* SPDX-License-Identifier: MIT
 * A program of 32 bits without a library (-m32 -nostdlib -static): its numbers of calls are those
 * of others in the table of 64 bits. 70 getpid, 30 getuid32, 20 writes of 7 bytes, 5 reads of 4
 * bytes at 3 of `data`, 3 opens in vain. */
static int call(int number, long a, long b, long c, long d, long e) {
  int result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
                   : "memory");
  return result;
}

void _start(void) {
  enum { EXIT = 1, WRITE = 4, OPEN = 5, GETPID = 20, PREAD64 = 180, GETUID32 = 199 };
  static const char words[] = "a word\n";
  static char room[4];
  for (int i = 0; i < 70; i++) call(GETPID, 0, 0, 0, 0, 0);
  for (int i = 0; i < 30; i++) call(GETUID32, 0, 0, 0, 0, 0);
  for (int i = 0; i < 20; i++) call(WRITE, 1, (long)words, 7, 0, 0);
  const int data = call(OPEN, (long)"data", 0, 0, 0, 0);
  for (int i = 0; i < 5; i++) call(PREAD64, data, (long)room, 4, 3, 0);
  for (int i = 0; i < 3; i++) call(OPEN, (long)"missing", 0, 0, 0, 0);
  call(EXIT, 0, 0, 0, 0, 0);
}
