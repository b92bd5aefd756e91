#include "testing/host_threads.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace cairn::testing {

class HostThreads::Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run(const std::function<void()>& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    changed_.notify_all();
    changed_.wait(lock, [this] { return task_ == nullptr; });
    if (auto thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return task_ != nullptr || is_ending_; });
      if (is_ending_) return;
      try {
        (*task_)();
      } catch (...) {
        thrown_ = std::current_exception();
      }
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;  // Held while a task runs too: its caller waits for nothing else.
  std::condition_variable changed_;
  const std::function<void()>* task_ = nullptr;
  std::exception_ptr thrown_;
  bool is_ending_ = false;
  std::thread thread_;
};

HostThreads::HostThreads() = default;
HostThreads::~HostThreads() = default;

void HostThreads::run(int thread, const std::function<void()>& task) {
  if (thread == 0) return task();
  auto& worker = workers_[thread];
  if (worker == nullptr) worker = std::make_unique<Worker>();
  worker->run(task);
}

void HostThreads::end(int thread) { workers_.erase(thread); }

}  // namespace cairn::testing
