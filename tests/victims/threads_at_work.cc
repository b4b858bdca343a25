// SPDX-License-Identifier: MIT
// Three threads that compute, pass on what they made by a queue, and take naps: an ordinary program
// in C++.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3;
constexpr int kJobs = 20;

class Queue {
 public:
  void push(double value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_.push(value);
    more_.notify_one();
  }
  double pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    more_.wait(lock, [this] { return !values_.empty(); });
    const double value = values_.front();
    values_.pop();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::queue<double> values_;
};

double compute(int seed) {
  double value = seed;
  for (int i = 0; i < 500000; i++) value = value * 0.999 + i;
  return value;
}

void work(Queue& done) {
  for (int i = 0; i < kJobs; i++) {
    done.push(compute(i));
    if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

int main() {
  Queue done;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) threads.emplace_back(work, std::ref(done));
  double sum = 0;
  for (int i = 0; i < kThreads * kJobs; i++) sum += done.pop();
  for (std::thread& thread : threads) thread.join();
  std::printf("%f\n", sum);
  return 0;
}
