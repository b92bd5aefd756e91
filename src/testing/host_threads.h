// The host threads of a Program. Thread 0 is the one that calls; each other number is a real thread
// of the process, from its first task until its end. One task runs at a time, while the caller
// waits.
//
// Not thread-safe: belongs to the thread that uses it.
#pragma once

#include <functional>
#include <map>
#include <memory>

namespace cairn::testing {

class HostThreads {
 public:
  HostThreads();
  ~HostThreads();  // Ends all of them.
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  // Returns when the task is done. What it throws is thrown here.
  void run(int thread, const std::function<void()>& task);
  // A later task of this number runs on a new thread.
  void end(int thread);

 private:
  class Worker;
  std::map<int, std::unique_ptr<Worker>> workers_;
};

}  // namespace cairn::testing
