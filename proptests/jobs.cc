#include "jobs.h"

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <new>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cairn::testing {
namespace {

// The states of all jobs, in memory that processes share.
class SharedStates {
 public:
  explicit SharedStates(std::size_t jobs) : size_(jobs * sizeof(JobState)) {
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    for (std::size_t job = 0; job < jobs; ++job) new (&at(job)) JobState;
  }
  ~SharedStates() { munmap(memory_, size_); }
  SharedStates(const SharedStates&) = delete;
  SharedStates& operator=(const SharedStates&) = delete;

  JobState& at(std::size_t job) { return static_cast<JobState*>(memory_)[job]; }

 private:
  std::size_t size_;
  void* memory_;
};

using Body = std::function<int(int job, JobState& state)>;

int do_job(int job, const Body& body, JobState& state) {
  const int code = body(job, state);
  state.evaluations = invariants::all_evaluations();
  return code;
}

int exit_code_of(int status, const JobState& state) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal != SIGTERM) {
    std::fprintf(stderr, "a job died of signal %d, working on %llu\n", signal,
                 static_cast<unsigned long long>(state.working_on.load()));
  }
  return 1;
}

}  // namespace

int run_jobs(int jobs, const std::function<int(int job, JobState& state)>& body,
             std::uint64_t& done) {
  SharedStates states(static_cast<std::size_t>(jobs));
  std::fflush(nullptr);
  std::vector<pid_t> processes;
  for (int job = 0; job < jobs; ++job) {
    const pid_t process = fork();
    if (process == 0) std::exit(do_job(job, body, states.at(static_cast<std::size_t>(job))));
    processes.push_back(process);
  }
  int worst = 0;
  for (std::size_t ended = 0; ended < processes.size(); ++ended) {
    int status = 0;
    const pid_t process = wait(&status);
    std::size_t job = 0;
    while (job + 1 < processes.size() && processes[job] != process) ++job;
    const int code = exit_code_of(status, states.at(job));
    if (code == 0 || worst != 0) continue;
    worst = code;
    for (const pid_t other : processes) {
      if (other != process) kill(other, SIGTERM);
    }
  }
  done = 0;
  for (std::size_t job = 0; job < processes.size(); ++job) {
    done += states.at(job).done;
    invariants::add_evaluations(states.at(job).evaluations);
  }
  return worst;
}

}  // namespace cairn::testing
