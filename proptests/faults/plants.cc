#include "plants.h"

#include <map>
#include <memory>

#include "allocator/all_devices.h"
#include "watch.h"

namespace cairn::faults {
namespace {

// Each stands where the allocator meets the driver, and does what an allocator should not.

// A device that is lost is asked all the same.
struct AsksWhatIsLost : Watch {
  AsksWhatIsLost(Driver& below, Watched& watched) : Watch(below, watched), watched_(watched) {}
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    auto result = Watch::event_record(stream, event);
    if (watched_.lost.contains(stream.device)) static_cast<void>(Watch::mem_info(stream.device));
    return result;
  }
  Watched& watched_;
};

// That an event could not be recorded is not heard.
struct RecordsInVain : Watch {
  using Watch::Watch;
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    static_cast<void>(Watch::event_record(stream, event));
    return Done{};
  }
};

// A segment that could not be given back is forgotten.
struct ForgetsSegments : Watch {
  using Watch::Watch;
  DriverResult<Done> free(DeviceIndex device, Address address) override {
    static_cast<void>(Watch::free(device, address));
    return Done{};
  }
};

// Work that could not be waited for counts as done.
struct WaitsInVain : Watch {
  using Watch::Watch;
  DriverResult<Done> stream_sync(StreamRef stream) override {
    static_cast<void>(Watch::stream_sync(stream));
    return Done{};
  }
};

// An event whose record failed is not destroyed in the end.
struct LosesEvents : Watch {
  using Watch::Watch;
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    auto result = Watch::event_record(stream, event);
    if (!result) lost_event_ = event;
    return result;
  }
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override {
    if (event == lost_event_) return Done{};
    return Watch::event_destroy(device, event);
  }
  EventHandle lost_event_;
};

template <class Made>
Plant at_the_driver() {
  Plant plant;
  plant.watch = [](Driver& below, Watched& watched) {
    return std::make_unique<Made>(below, watched);
  };
  return plant;
}

// A live block is dropped once the device is lost.
Plant drops_a_block() {
  Plant plant;
  plant.meddle = [](AllDevices& allocator) {
    if (!allocator.device(0).lost()) return;
    for (const SegmentInfo& segment : allocator.device(0).map()) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state != BlockState::active_allocated) continue;
        static_cast<void>(allocator.device(0).free(Address{block.address}, nullptr));
        return;
      }
    }
  };
  return plant;
}

const std::map<std::string, Plant>& plants() {
  static const std::map<std::string, Plant> all{
      {"asks-what-is-lost", at_the_driver<AsksWhatIsLost>()},
      {"records-in-vain", at_the_driver<RecordsInVain>()},
      {"forgets-segments", at_the_driver<ForgetsSegments>()},
      {"waits-in-vain", at_the_driver<WaitsInVain>()},
      {"loses-events", at_the_driver<LosesEvents>()},
      {"drops-a-block", drops_a_block()},
  };
  return all;
}

}  // namespace

std::vector<std::string> names_of_plants() {
  std::vector<std::string> names;
  for (const auto& [name, plant] : plants()) names.push_back(name);
  return names;
}

std::optional<Plant> plant_of(const std::string& name) {
  const auto found = plants().find(name);
  if (found == plants().end()) return std::nullopt;
  return found->second;
}

}  // namespace cairn::faults
