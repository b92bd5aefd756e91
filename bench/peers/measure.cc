#include "bench/peers/measure.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "bench/peers/smallest.h"

namespace cairn::bench::peers {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned longest_child_s = 120;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

const char* usage_text =
    "usage: %s time|held|fits WORKLOAD...\n"
    "\n"
    "Carries out each WORKLOAD from empty and prints a line of JSON for it.\n"
    "  time   the processor time of a step, in ns: the median of several runs\n"
    "  held   on the null device the calls of it, on the simulated one the most memory held\n"
    "  fits   the least memory of a simulated device that the workload gets by with\n"
    "WORKLOAD: a file that peer_workloads wrote.\n"
    "The device is that of the libcudart.so.13 and libcuda.so.1 that are found first: see\n"
    "bench/README.md. Exits with 1 where a workload failed, 2 for what cannot be understood.\n";

// What a child says. It is copied through a pipe.
struct Answer {
  double ns = 0;
  std::uint64_t most_held = 0;
  NullCalls calls{};
  std::array<char, 240> failure{};  // Empty: none.
};

void say(Answer& answer, std::string_view failure) {
  const std::size_t length = std::min(failure.size(), answer.failure.size() - 1);
  std::copy_n(failure.begin(), length, answer.failure.begin());
}

Answer try_to(const std::function<Answer()>& act) {
  Answer answer;
  try {
    return act();
  } catch (const std::exception& error) {
    say(answer, error.what());
    if (answer.failure[0] == '\0') say(answer, "failed without a word");
    return answer;
  }
}

// Nothing of what the child does comes back but its answer: every device and peer begins anew.
Answer in_a_child(const std::function<Answer()>& act) {
  std::array<int, 2> ends{};
  Answer answer;
  if (pipe(ends.data()) != 0) {
    say(answer, "no pipe");
    return answer;
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(longest_child_s);
    // Where only one thread ever ran, the C library spares a mutex its atomics.
    std::thread([] {}).join();
    answer = try_to(act);
    const bool is_said = write(ends[1], &answer, sizeof answer) == sizeof answer;
    _exit(is_said ? 0 : 1);
  }
  close(ends[1]);
  const bool is_heard = child > 0 && read(ends[0], &answer, sizeof answer) == sizeof answer;
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (!is_heard) {
    const bool is_slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    say(answer, is_slow ? "it took more than two minutes" : "it ended the process");
  }
  return answer;
}

// The first run is there to warm up, unless it took long.
Answer time_of(PlayerOfAPeer& player, std::size_t steps) {
  constexpr double long_ns = 1e9;
  constexpr double enough_ns = 3e8;
  constexpr std::size_t least_runs = 3;
  std::vector<double> runs{player.time_once()};
  double total = runs.front() * static_cast<double>(steps);
  if (total < long_ns) {
    runs.clear();
    for (total = 0; runs.size() < least_runs || total < enough_ns;) {
      runs.push_back(player.time_once());
      total += runs.back() * static_cast<double>(steps);
    }
  }
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end());
  Answer answer;
  answer.ns = *middle;
  return answer;
}

Answer held_by(PlayerOfAPeer& player) {
  Watcher watcher;
  player.watch(watcher);
  Answer answer;
  answer.most_held = watcher.most_held();
  answer.calls = watcher.calls();
  return answer;
}

// Null where the device is another than the null one.
const NullCalls* calls_of_null_device() {
  using Calls = NullCalls*();
  auto* const calls = reinterpret_cast<Calls*>(dlsym(RTLD_DEFAULT, "cairn_null_device_calls"));
  return calls == nullptr ? nullptr : calls();
}
bool is_null_device() { return calls_of_null_device() != nullptr; }

void add_calls(Json& line, const NullCalls& calls) {
  constexpr std::array names{"malloc",        "free", "event_create", "event_record", "event_query",
                             "event_destroy", "wait", "context",      "other"};
  static_assert(names.size() == std::tuple_size_v<NullCalls>);
  for (std::size_t i = 0; i < names.size(); ++i) line["calls"][names[i]] = calls[i];
}

// Adds what was measured to the line, or why it was not.
class Measures {
 public:
  Measures(const Workload& workload, const MakePlayer& make_player)
      : workload_(workload), make_player_(make_player) {}

  void time(Json& line) const {
    const Answer answer =
        in_a_child([&] { return time_of(*make_player_(workload_), workload_.timed().size()); });
    if (is_good(answer, line)) line["ns"] = answer.ns;
  }
  void held(Json& line) const {
    const Answer answer = in_a_child([&] { return held_by(*make_player_(workload_)); });
    if (!is_good(answer, line)) return;
    if (is_null_device()) {
      add_calls(line, answer.calls);
    } else {
      line["peak_held_bytes"] = answer.most_held;
    }
  }
  // In pages of 2 MiB, which are whole for every allocation.
  void fits(Json& line) const {
    constexpr std::uint64_t page = 2 * mib;
    const std::uint64_t live = (workload_.peak_live_bytes + page - 1) / page;
    const SearchRange range{live, null_memory_bytes / page, std::max<std::uint64_t>(1, live / 256)};
    const auto smallest =
        smallest_that(range, [&](std::uint64_t pages) { return fits_into(pages * page); });
    if (smallest) {
      line["least_memory_bytes"] = *smallest * page;
      line["least_memory_within_bytes"] = range.within * page;
    } else {
      line["failure"] = "it does not fit into 1 TiB";
    }
  }

 private:
  static bool is_good(const Answer& answer, Json& line) {
    if (answer.failure[0] != '\0') line["failure"] = std::string(answer.failure.data());
    return answer.failure[0] == '\0';
  }
  bool fits_into(std::uint64_t memory) const {
    const Answer answer = in_a_child([&] {
      setenv("CAIRN_SIM_MEMORY", std::to_string(memory).c_str(), 1);
      make_player_(workload_)->run_once();
      return Answer{};
    });
    return answer.failure[0] == '\0';
  }

  const Workload& workload_;
  const MakePlayer& make_player_;
};

}  // namespace

Watcher::Watcher() : counted_(calls_of_null_device()) {}

void Watcher::begin() {
  if (counted_ != nullptr) {
    calls_ = *counted_;
    return;
  }
  std::size_t total = 0;
  std::size_t free = 0;
  cudaMemGetInfo(&free, &total);
  free_before_ = least_free_ = free;
}
void Watcher::look() {
  if (counted_ != nullptr) return;
  std::size_t total = 0;
  std::size_t free = 0;
  cudaMemGetInfo(&free, &total);
  least_free_ = std::min<std::uint64_t>(least_free_, free);
}
void Watcher::end() {
  if (counted_ == nullptr) return;
  for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i] = (*counted_)[i] - calls_[i];
}

std::vector<cudaStream_t> streams_of(const Workload& workload) {
  if (cudaFree(nullptr) != cudaSuccess) throw std::runtime_error("there is no device");
  std::vector<cudaStream_t> streams(std::size_t{workload.last_stream} + 1);
  for (std::size_t i = 1; i < streams.size(); ++i) {
    if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) != cudaSuccess) {
      throw std::runtime_error("there is no stream");
    }
  }
  return streams;
}

double processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

int run(int argc, char** argv, const char* peer, const MakePlayer& make_player) {
  const std::string_view measure = argc > 1 ? argv[1] : "";
  if (measure == "--help" || measure == "-h") {
    std::printf(usage_text, argv[0]);
    return 0;
  }
  const bool is_known = measure == "time" || measure == "held" || measure == "fits";
  if (argc < 3 || !is_known) {
    if (argc > 1 && !is_known) std::fprintf(stderr, "%s: no such measure: %s\n", argv[0], argv[1]);
    std::fprintf(stderr, usage_text, argv[0]);
    return 2;
  }
  if (measure == "fits" && is_null_device()) {
    std::fprintf(stderr, "%s: the null device has no memory to set: use the simulated one\n",
                 argv[0]);
    return 2;
  }
  int status = 0;
  for (int i = 2; i < argc; ++i) {
    const auto workload = read_workload(argv[i]);
    if (!workload) {
      std::fprintf(stderr, "%s: %s\n", argv[0], workload.error().c_str());
      return 2;
    }
    Json line{{"peer", peer},
              {"workload", workload->sequence.name},
              {"steps", workload->sequence.steps.size()},
              {"peak_live_bytes", workload->peak_live_bytes}};
    const Measures measures(*workload, make_player);
    if (measure == "time") measures.time(line);
    if (measure == "held") measures.held(line);
    if (measure == "fits") measures.fits(line);
    if (line.contains("failure")) status = 1;
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
  return status;
}

}  // namespace cairn::bench::peers
