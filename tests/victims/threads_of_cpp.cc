// SPDX-License-Identifier: MIT
// threads_of_cpp: a thread of the C++ library that does nothing.
#include <thread>

int main() {
  std::thread([] {}).join();
  return 12;
}
