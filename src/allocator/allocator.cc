// The public face: turns results into exceptions, and pointers into addresses.
#include "cairn/allocator.h"

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "allocator/all_devices.h"
#include "allocator/checked_options.h"
#include "allocator/error_text.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

Address address_of(void* pointer) {
  return {static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer))};
}

void* pointer_to(Address address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.value));
}

template <class T>
const T& value_or_throw(const Result<T, Error>& result) {
  if (!result) {
    CAIRN_PROBE("face.throws");
    throw_error(result.error());
  }
  return *result;
}

// What act() gives; or nothing, and the reason in `why`.
template <class Act>
auto attempt(Act&& act, Error* why) noexcept {
  using Value = std::decay_t<decltype(*act())>;
  try {
    const auto result = act();
    if (result) return std::optional<Value>(*result);
    CAIRN_PROBE("face.says_why");
    if (why != nullptr) *why = result.error();
  } catch (const std::bad_alloc&) {
    CAIRN_PROBE("face.no_host_memory");
    if (why != nullptr) *why = Error{ErrorCode::out_of_host_memory, 0, {}};
  }
  return std::optional<Value>();
}

DeviceAllocator& device_or_throw(AllDevices& devices, int index) {
  DeviceAllocator* device = devices.find_device(index);
  if (device == nullptr) {
    CAIRN_PROBE("face.no_such_device");
    throw_error(no_such_device(index, devices.device_count()));
  }
  return *device;
}

// What is left to do where there is no hit: out of line, so that a hit needs no room on the stack
// for errors.
[[gnu::noinline]] void* miss(AllDevices& devices, const Request& request) {
  return pointer_to(value_or_throw(devices.miss(request)));
}
[[gnu::noinline]] void free_any(AllDevices& devices, Address address) {
  value_or_throw(devices.free_any(address, nullptr));
}

FreeCheck make_check(std::size_t size_bytes, Stream stream) { return {Bytes{size_bytes}, stream}; }

}  // namespace

Allocator::Allocator(Driver& driver, const Options& options)
    : devices_(std::make_unique<AllDevices>(driver, checked(options))) {}

Allocator Allocator::from_settings(Driver& driver, std::string_view text) {
  return Allocator(driver, checked(parse_settings(text)));
}

Allocator Allocator::from_environment(Driver& driver) {
  return Allocator(driver, options_from_environment());
}

Allocator::~Allocator() = default;
Allocator::Allocator(Allocator&&) noexcept = default;
Allocator& Allocator::operator=(Allocator&&) noexcept = default;

void* Allocator::allocate(const Request& request) {
  const Address hit = devices_->hit(request);
  if (hit != Address{}) [[likely]]
    return pointer_to(hit);
  return miss(*devices_, request);
}

void* Allocator::try_allocate(const Request& request, Error* why) noexcept {
  return pointer_to(attempt([&] { return devices_->allocate(request); }, why).value_or(Address{}));
}

void Allocator::free(void* pointer) {
  const Address address = address_of(pointer);
  if (devices_->free_unused(address)) [[likely]]
    return;
  free_any(*devices_, address);
}

bool Allocator::try_free(void* pointer, Error* why) noexcept {
  return attempt([&] { return devices_->free(address_of(pointer), nullptr); }, why).has_value();
}

void Allocator::free(void* pointer, std::size_t size_bytes, StreamArgument stream) {
  const FreeCheck check = make_check(size_bytes, stream);
  value_or_throw(devices_->free(address_of(pointer), &check));
}

bool Allocator::try_free(void* pointer, std::size_t size_bytes, StreamArgument stream,
                         Error* why) noexcept {
  const FreeCheck check = make_check(size_bytes, stream);
  return attempt([&] { return devices_->free(address_of(pointer), &check); }, why).has_value();
}

void Allocator::record_stream(void* pointer, StreamArgument stream, int device) {
  value_or_throw(devices_->record_stream(address_of(pointer), stream, device));
}

bool Allocator::try_record_stream(void* pointer, StreamArgument stream, int device,
                                  Error* why) noexcept {
  const Address address = address_of(pointer);
  return attempt([&] { return devices_->record_stream(address, stream, device); }, why).has_value();
}

void Allocator::free_on(void* pointer, StreamArgument stream, int device) {
  value_or_throw(devices_->free_on(address_of(pointer), stream, device));
}

bool Allocator::try_free_on(void* pointer, StreamArgument stream, int device, Error* why) noexcept {
  const Address address = address_of(pointer);
  return attempt([&] { return devices_->free_on(address, stream, device); }, why).has_value();
}

void Allocator::forget_stream(int device, StreamArgument stream) {
  value_or_throw(devices_->forget_stream(device, stream));
}

bool Allocator::try_forget_stream(int device, StreamArgument stream, Error* why) noexcept {
  return attempt([&] { return devices_->forget_stream(device, stream); }, why).has_value();
}

void Allocator::process_events(int device) { value_or_throw(devices_->process_events(device)); }

bool Allocator::try_process_events(int device, Error* why) noexcept {
  return attempt([&] { return devices_->process_events(device); }, why).has_value();
}

void Allocator::set_memory_fraction(int device, double fraction) {
  value_or_throw(devices_->set_memory_fraction(device, fraction));
}

double Allocator::memory_fraction(int device) const {
  return device_or_throw(*devices_, device).memory_fraction();
}

void Allocator::reconfigure(std::string_view text) { value_or_throw(devices_->reconfigure(text)); }

CallbackId Allocator::add_free_memory_callback(std::function<bool(int)> callback) {
  return devices_->callbacks().add(std::move(callback));
}

CallbackId Allocator::add_out_of_memory_observer(std::function<void(const Error&)> observer) {
  return devices_->callbacks().add(std::move(observer));
}

void Allocator::remove_callback(CallbackId id) noexcept { devices_->callbacks().remove(id); }

void Allocator::empty_cache() { value_or_throw(devices_->empty_cache()); }

bool Allocator::try_empty_cache(Error* why) noexcept {
  return attempt([&] { return devices_->empty_cache(); }, why).has_value();
}

int Allocator::device_count() const noexcept { return devices_->device_count(); }

DeviceStats Allocator::stats(int device) const {
  return device_or_throw(*devices_, device).stats();
}

void Allocator::reset_peak_stats(int device) {
  device_or_throw(*devices_, device).reset_peak_stats();
}

void Allocator::reset_accumulated_stats(int device) {
  device_or_throw(*devices_, device).reset_accumulated_stats();
}

BlockMap Allocator::block_map(int device) const { return device_or_throw(*devices_, device).map(); }

}  // namespace cairn
