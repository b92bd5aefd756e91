#include "face.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cairn/allocator.h"
#include "cairn/cuda_driver.h"
#include "driver/fault_injector.h"
#include "invariants/catalogue/report.h"
#include "plan.h"
#include "simulator/simulated_driver.h"
#include "simulator/simulated_gpu.h"
#include "strange_driver.h"
#include "testing/difference.h"
#include "testing/documented_errors.h"
#include "testing/host_memory_in_test.h"
#include "watch.h"

namespace cairn::faults {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr CudaStatus launch_failed{719};

Stream as_stream(std::uint64_t handle) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's handles are such pointers.
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(handle));
}

// Calls for which the host has no memory.
struct OutOfHostMemory : testing::Liar {
  using Liar::Liar;
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override {
    if (std::exchange(at_event_create, false)) throw std::bad_alloc();
    return Liar::event_create(device, context);
  }
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override {
    if (std::exchange(at_event_sync, false)) throw std::bad_alloc();
    return Liar::event_sync(device, event);
  }
  bool at_event_create = false;  // Once.
  bool at_event_sync = false;
};

struct Machine {
  explicit Machine(const Options& options = {}) { allocator.emplace(watch, options); }

  Stream new_stream() { return as_stream(gpu.make_stream({})->handle); }
  DeviceStats stats() const { return allocator->stats(0); }

  simulator::SimulatedGpu gpu{{{.memory = Bytes{256 * mib}}}};
  simulator::SimulatedDriver bottom{gpu};
  FaultInjector faults{bottom};
  proptests::StrangeDriver strange{faults};
  OutOfHostMemory top{strange};
  Watched watched;
  Watch watch{top, watched};
  std::optional<Allocator> allocator;
};

class Face {
 public:
  // `act` throws an Exception with that code.
  void expect(const char* what, ErrorCode code, const std::function<void()>& act) {
    ErrorCode got = ErrorCode::none;
    try {
      act();
    } catch (const Exception& thrown) {
      got = thrown.error().code;
    } catch (const std::bad_alloc&) {
      got = ErrorCode::out_of_host_memory;
    }
    expect(what, code, got);
  }
  void expect(const char* what, ErrorCode code, ErrorCode got) {
    if (got != code)
      wrong.push_back(std::string(what) + ": expected " + to_string(code) + ", found " +
                      to_string(got));
  }
  // The same, and neither statistics nor map have changed.
  void refuse(const char* what, ErrorCode code, Machine& machine, std::function<void()> act) {
    const DeviceStats stats = machine.stats();
    const BlockMap map = machine.allocator->block_map(0);
    expect(what, code, act);
    const bool is_same = !testing::compare(stats, machine.stats()) &&
                         !testing::compare(map, machine.allocator->block_map(0));
    if (!is_same) wrong.push_back(std::string(what) + ": something has changed");
  }

  std::vector<std::string> wrong;
};

void check_mistakes(Face& face) {
  Machine machine;
  Allocator& allocator = *machine.allocator;
  void* const block = allocator.allocate({600, 0, nullptr});
  const auto refuse = [&](const char* what, std::function<void()> act,
                          ErrorCode code = ErrorCode::invalid_argument) {
    face.refuse(what, code, machine, std::move(act));
  };
  int foreign = 0;
  const Stream impossible = as_stream(std::uint64_t{1} << 62);
  refuse("a device that is not there", [&] { allocator.allocate({600, 7, nullptr}); });
  refuse("an alignment of 3", [&] { allocator.allocate({600, 0, nullptr, 3}); });
  refuse(
      "2^60 bytes", [&] { allocator.allocate({std::size_t{1} << 60, 0, nullptr}); },
      ErrorCode::out_of_memory);
  refuse("an impossible stream", [&] { allocator.allocate({600, 0, impossible}); });
  refuse("a free of what is foreign", [&] { allocator.free(&foreign); });
  refuse("a free inside", [&] { allocator.free(static_cast<char*>(block) + 512); });
  refuse("a free of a wrong size", [&] { allocator.free(block, 512, nullptr); });
  refuse("a free with a wrong stream", [&] { allocator.free(block, 600, machine.new_stream()); });
  refuse("a checked free with an impossible stream",
         [&] { allocator.free(block, 600, impossible); });
  refuse("a use on a device that is not there",
         [&] { allocator.record_stream(block, nullptr, 7); });
  refuse("a use by an impossible stream", [&] { allocator.record_stream(block, impossible); });
  refuse("a free on an impossible stream", [&] { allocator.free_on(block, impossible); });
  refuse("the end of a stream elsewhere", [&] { allocator.forget_stream(7, impossible); });
  refuse("the end of an impossible stream", [&] { allocator.forget_stream(0, impossible); });
  refuse("the end of a default stream", [&] { allocator.forget_stream(0, nullptr); });
  refuse("events of a device that is not there", [&] { allocator.process_events(7); });
  refuse("a limit of a device that is not there", [&] { allocator.set_memory_fraction(7, 0.5); });
  refuse("a limit of more than all", [&] { allocator.set_memory_fraction(0, 1.5); });
  refuse("statistics of a device that is not there", [&] { (void)allocator.stats(7); });
  refuse("settings that cannot be read", [&] { allocator.reconfigure("nonsense:1"); });
  refuse(
      "settings that cannot be", [&] { allocator.reconfigure("expandable_segments:True"); },
      ErrorCode::unsupported);
  refuse(
      "settings that cannot change", [&] { allocator.reconfigure("stream_identity:id"); },
      ErrorCode::unsupported);
  Error why;
  if (allocator.try_free(&foreign, &why)) face.wrong.emplace_back("a foreign free succeeded");
  face.expect("the reason of a free that fails", ErrorCode::invalid_argument, why.code);
}

void check_settings(Face& face) {
  Machine machine;
  Options bad;
  bad.garbage_collection_threshold = 7.0;
  Options unsupported;
  unsupported.expandable_segments = true;
  face.expect("options that are wrong", ErrorCode::invalid_argument,
              [&] { Allocator(machine.top, bad); });
  face.expect("options that cannot be", ErrorCode::unsupported,
              [&] { Allocator(machine.top, unsupported); });
  face.expect("settings that cannot be read", ErrorCode::invalid_argument,
              [&] { Allocator::from_settings(machine.top, "nonsense:1"); });
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread.
  setenv("CAIRN_ALLOC_CONF", "expandable_segments:True", 1);
  face.expect("an environment that cannot be", ErrorCode::unsupported,
              [&] { Allocator::from_environment(machine.top); });
  unsetenv("CAIRN_ALLOC_CONF");
  setenv("CUDA_VISIBLE_DEVICES", "", 1);  // Where there is a driver, it finds no GPU.
  face.expect("a machine without a GPU", ErrorCode::unsupported, [] { (void)cuda_driver(); });
  unsetenv("CUDA_VISIBLE_DEVICES");
  // NOLINTEND(concurrency-mt-unsafe)
}

void check_strange_answers(Face& face) {
  Options by_id;
  by_id.stream_identity = StreamIdentity::id;
  Machine named(by_id);
  named.strange.id = 0;
  const Stream stream = named.new_stream();
  face.refuse("a stream id of 0", ErrorCode::invalid_argument, named,
              [&] { named.allocator->allocate({600, 0, stream}); });
  named.strange.id.reset();
  void* const block = named.allocator->allocate({600, 0, stream});
  named.faults.add({DriverCall::stream_id, 1, launch_failed, 1, true});
  face.expect("a device that is lost by a question", ErrorCode::cuda_error,
              [&] { named.allocator->allocate({600, 0, stream}); });
  face.expect("a stream that a lost device never named", ErrorCode::cuda_error,
              [&] { named.allocator->record_stream(block, named.new_stream()); });

  Machine machine;
  machine.allocator->allocate({600, 0, nullptr});
  machine.strange.next_address = Address{};
  face.refuse("a segment at null", ErrorCode::cuda_error, machine,
              [&] { machine.allocator->allocate({20 * mib, 0, nullptr}); });
}

// What happens while the allocator waits for the driver or for a callback, without its lock.
void check_meanwhile(Face& face) {
  Options unlocked;
  unlocked.release_lock_on_cudamalloc = true;
  Machine asked(unlocked);
  const auto lose = [](Machine& machine) {
    machine.faults.add({DriverCall::malloc, 1, launch_failed, 1, true});
    (void)machine.allocator->try_allocate({64 * mib, 0, nullptr});
  };
  asked.strange.before_malloc = [&] { lose(asked); };
  face.expect("a device lost while it is asked", ErrorCode::cuda_error,
              [&] { asked.allocator->allocate({20 * mib, 0, nullptr}); });

  Machine called;
  called.allocator->add_free_memory_callback([&](int) {
    lose(called);
    return true;
  });
  face.expect("a device lost in a callback", ErrorCode::cuda_error,
              [&] { called.allocator->allocate({20 * mib, 0, nullptr}); });

  Machine full;
  full.allocator->add_free_memory_callback([](int) -> bool { throw std::runtime_error("no"); });
  full.allocator->add_free_memory_callback([](int) -> bool { throw 1; });
  full.allocator->add_out_of_memory_observer([](const Error&) { throw 2; });
  face.expect("callbacks that throw", ErrorCode::out_of_memory,
              [&] { full.allocator->allocate({512 * mib, 0, nullptr}); });
}

void check_callback_that_frees(Face& face) {
  Machine machine;
  void* held = machine.allocator->allocate({200 * mib, 0, nullptr});
  machine.allocator->add_free_memory_callback([&](int) {
    machine.allocator->free(std::exchange(held, nullptr));
    return true;
  });
  if (machine.allocator->try_allocate({200 * mib, 0, nullptr}) == nullptr)
    face.wrong.emplace_back("what a callback frees does not serve the request");
}

void check_host_memory(Face& face) {
  const ErrorCode none_left = ErrorCode::out_of_host_memory;
  Machine machine;
  const Stream stream = machine.new_stream();
  void* const block = machine.allocator->allocate({600, 0, nullptr});
  machine.top.at_event_create = true;
  face.refuse("a free without host memory", none_left, machine,
              [&] { machine.allocator->free_on(block, stream); });
  machine.allocator->free_on(block, stream);
  machine.top.at_event_sync = true;  // When the allocator ends.
  machine.allocator.reset();

  Options unlocked;
  unlocked.release_lock_on_cudamalloc = true;
  Machine asked(unlocked);
  Error why;
  asked.strange.throws_next = true;
  (void)asked.allocator->try_allocate({20 * mib, 0, nullptr}, &why);
  face.expect("a driver without host memory", none_left, why.code);
}

// A segment for which there is no host memory goes back, or that fails too. Gives its call.
WatchedCall lose_segment(Face& face, const std::optional<ErrorInMode>& error) {
  Options unlocked;
  unlocked.release_lock_on_cudamalloc = true;
  Machine machine(unlocked);
  machine.strange.after_malloc = [&] {  // Takes the room that was made for the segment.
    machine.allocator->allocate({20 * mib, 0, nullptr});
    allocations_until_failure = 1;
  };
  if (error) {
    const testing::Fault fault = fault_at({DriverCall::free, 1, 0}, *error);
    machine.faults.add({fault.call, fault.at, fault.error, fault.count, fault.sticky});
  }
  face.expect("a segment without host memory", ErrorCode::out_of_host_memory,
              [&] { machine.allocator->allocate({40 * mib, 0, nullptr}); });
  allocations_until_failure = 0;
  const WatchedCall freed = machine.watched.calls.back();
  machine.faults.clear();
  const bool is_lost = error && testing::loses_device(error->error);
  face.expect("an allocation after it", is_lost ? ErrorCode::cuda_error : ErrorCode::none,
              [&] { machine.allocator->allocate({4 * mib, 0, nullptr}); });
  machine.allocator.reset();
  for (const std::string& words : machine.watched.left_over()) face.wrong.push_back(words);
  for (const std::string& words : machine.watched.wrong) face.wrong.push_back(words);
  return freed;
}

void check_lost_segment(Face& face, Tally& tally) {
  lose_segment(face, std::nullopt);
  for (const ErrorInMode& error : errors_of(DriverCall::free)) {
    const WatchedCall freed = lose_segment(face, error);
    tally.count(freed, error, freed.call == DriverCall::free && freed.status == error.error);
  }
}

}  // namespace

std::vector<std::string> check_face(Tally& tally) {
  const invariants::Recorder recorder;
  Face face;
  check_mistakes(face);
  check_settings(face);
  check_strange_answers(face);
  check_meanwhile(face);
  check_callback_that_frees(face);
  check_host_memory(face);
  check_lost_segment(face, tally);
  for (const auto& violation : recorder.violations()) face.wrong.push_back(to_string(violation));
  return std::move(face.wrong);
}

}  // namespace cairn::faults
