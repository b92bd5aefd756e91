// The C API: each function is a call of the public face, with what it throws turned into a code and
// kept as the calling thread's last failure.
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "c_api/c_convert.h"
#include "cairn/allocator.h"
#include "cairn/c_handle.h"
#include "cairn/cairn.h"
#include "cairn/cuda_driver.h"
#include "cairn/version.h"

// NOLINTNEXTLINE(readability-identifier-naming): a name of C.
struct cairn_allocator {
  cairn::Allocator* allocator;
  std::unique_ptr<cairn::Allocator> owned;  // The same, or null where it is another's.
  bool is_default = false;
};

namespace cairn {
namespace {

// The calling thread's last failure. Destructors that run after its end may still call: for them
// the code is kept without its words, in what needs no end.
thread_local bool is_over = false;
thread_local cairn_failure without_words{CAIRN_OK, 0, "", nullptr};
struct LastFailure : CFailure {
  ~LastFailure() { is_over = true; }
};
thread_local LastFailure last_failure;

cairn_error fail(const Error& error) noexcept {
  if (!is_over) return last_failure.set(error);
  without_words = {static_cast<cairn_error>(error.code), error.cuda_code,
                   "The thread ends, and what is known of this failure has ended before", nullptr};
  return without_words.code;
}

// Runs act(), which throws nothing but Cairn's exceptions and std::bad_alloc.
template <class Act>
cairn_error attempt(Act&& act) noexcept {
  try {
    act();
    return CAIRN_OK;
  } catch (const Exception& exception) {
    return fail(exception.error());
  } catch (const std::bad_alloc&) {
    return fail(Error{ErrorCode::out_of_host_memory, 0, {}});
  }
}

// What an argument points to; a null one is refused by its name.
template <class T>
T& given(T* argument, const char* name) {
  if (argument == nullptr) {
    throw InvalidArgument({ErrorCode::invalid_argument, 0,
                           "The argument `" + std::string(name) + "` is null; it is needed"});
  }
  return *argument;
}

Allocator& of(const cairn_allocator* allocator) {
  if (allocator == nullptr) {
    throw InvalidArgument({ErrorCode::invalid_argument, 0,
                           "The argument `allocator` is null: get one from "
                           "cairn_allocator_default() or cairn_allocator_create(), and see "
                           "whether that failed"});
  }
  return *allocator->allocator;
}

// Where a new allocator goes; null until it is there.
cairn_allocator*& place_for(cairn_allocator** allocator) {
  return given(allocator, "allocator") = nullptr;
}

cairn_allocator* own(Allocator allocator) {
  auto owned = std::make_unique<Allocator>(std::move(allocator));
  Allocator* const raw = owned.get();
  return new cairn_allocator{raw, std::move(owned)};
}

void keep_id(CallbackId id, cairn_callback_id* out) {
  if (out != nullptr) *out = static_cast<cairn_callback_id>(id);
}

}  // namespace

cairn_allocator* make_c_handle(Allocator& allocator) {
  return new cairn_allocator{&allocator, nullptr};
}

}  // namespace cairn

using cairn::attempt;
using cairn::given;
using cairn::of;

const cairn_failure* cairn_last_failure(void) {
  return cairn::is_over ? &cairn::without_words : &cairn::last_failure.view();
}

const char* cairn_last_error_message(void) { return cairn_last_failure()->message; }

const char* cairn_error_name(cairn_error error) {
  return cairn::to_string(static_cast<cairn::ErrorCode>(error));
}

const char* cairn_version(void) { return CAIRN_VERSION; }

cairn_error cairn_allocator_default(cairn_allocator** allocator) {
  return attempt([&] {
    cairn_allocator*& place = cairn::place_for(allocator);
    // Never destroyed, as the allocator itself.
    static cairn_allocator* const shared =
        new cairn_allocator{&cairn::default_allocator(), nullptr, true};
    place = shared;
  });
}

cairn_error cairn_allocator_create(const char* settings, cairn_allocator** allocator) {
  return attempt([&] {
    cairn_allocator*& place = cairn::place_for(allocator);
    const char* const text = settings == nullptr ? "" : settings;
    place = cairn::own(cairn::Allocator::from_settings(cairn::cuda_driver(), text));
  });
}

cairn_error cairn_allocator_create_from_environment(cairn_allocator** allocator) {
  return attempt([&] {
    cairn_allocator*& place = cairn::place_for(allocator);
    place = cairn::own(cairn::Allocator::from_environment(cairn::cuda_driver()));
  });
}

cairn_error cairn_allocator_destroy(cairn_allocator* allocator) {
  return attempt([&] {
    if (allocator != nullptr && allocator->is_default) {
      throw cairn::InvalidArgument({cairn::ErrorCode::invalid_argument, 0,
                                    "The default allocator is not destroyed: others may use it; "
                                    "cairn_empty_cache() gives back what is free"});
    }
    delete allocator;
  });
}

cairn_error cairn_allocate(cairn_allocator* allocator, const cairn_request* request,
                           void** pointer) {
  return attempt([&] {
    void*& block = given(pointer, "pointer") = nullptr;
    block = of(allocator).allocate(cairn::from_c(given(request, "request")));
  });
}

cairn_error cairn_free(cairn_allocator* allocator, void* pointer) {
  return attempt([&] { of(allocator).free(pointer); });
}

cairn_error cairn_free_checked(cairn_allocator* allocator, void* pointer, size_t size_bytes,
                               cairn_stream stream) {
  return attempt([&] { of(allocator).free(pointer, size_bytes, stream); });
}

cairn_error cairn_free_on(cairn_allocator* allocator, void* pointer, cairn_stream stream,
                          int device) {
  return attempt([&] { of(allocator).free_on(pointer, stream, device); });
}

cairn_error cairn_record_stream(cairn_allocator* allocator, void* pointer, cairn_stream stream,
                                int device) {
  return attempt([&] { of(allocator).record_stream(pointer, stream, device); });
}

cairn_error cairn_forget_stream(cairn_allocator* allocator, int device, cairn_stream stream) {
  return attempt([&] { of(allocator).forget_stream(device, stream); });
}

cairn_error cairn_process_events(cairn_allocator* allocator, int device) {
  return attempt([&] { of(allocator).process_events(device); });
}

cairn_error cairn_empty_cache(cairn_allocator* allocator) {
  return attempt([&] { of(allocator).empty_cache(); });
}

cairn_error cairn_set_memory_fraction(cairn_allocator* allocator, int device, double fraction) {
  return attempt([&] { of(allocator).set_memory_fraction(device, fraction); });
}

cairn_error cairn_get_memory_fraction(const cairn_allocator* allocator, int device,
                                      double* fraction) {
  return attempt([&] { given(fraction, "fraction") = of(allocator).memory_fraction(device); });
}

cairn_error cairn_reconfigure(cairn_allocator* allocator, const char* settings) {
  return attempt([&] { of(allocator).reconfigure(settings == nullptr ? "" : settings); });
}

cairn_error cairn_get_device_count(const cairn_allocator* allocator, int* count) {
  return attempt([&] { given(count, "count") = of(allocator).device_count(); });
}

cairn_error cairn_get_stats(const cairn_allocator* allocator, int device,
                            cairn_device_stats* stats) {
  return attempt([&] { given(stats, "stats") = cairn::as_c(of(allocator).stats(device)); });
}

cairn_error cairn_reset_peak_stats(cairn_allocator* allocator, int device) {
  return attempt([&] { of(allocator).reset_peak_stats(device); });
}

cairn_error cairn_reset_accumulated_stats(cairn_allocator* allocator, int device) {
  return attempt([&] { of(allocator).reset_accumulated_stats(device); });
}

cairn_error cairn_visit_blocks(const cairn_allocator* allocator, int device,
                               cairn_block_visitor visitor, void* context) {
  return attempt([&] {
    const auto& visit = given(visitor, "visitor");
    for (const cairn_block_info& block : cairn::as_c(of(allocator).block_map(device))) {
      visit(&block, context);
    }
  });
}

cairn_error cairn_add_free_memory_callback(cairn_allocator* allocator,
                                           cairn_free_memory_callback callback, void* context,
                                           cairn_callback_id* id) {
  return attempt([&] {
    const auto call = &given(callback, "callback");
    const auto ask = [call, context](int device) { return call(device, context); };
    cairn::keep_id(of(allocator).add_free_memory_callback(ask), id);
  });
}

cairn_error cairn_add_out_of_memory_observer(cairn_allocator* allocator,
                                             cairn_out_of_memory_observer observer, void* context,
                                             cairn_callback_id* id) {
  return attempt([&] {
    const auto call = &given(observer, "observer");
    const auto tell = [call, context](const cairn::Error& error) {
      cairn::CFailure failure;
      failure.set(error);
      call(&failure.view(), context);
    };
    cairn::keep_id(of(allocator).add_out_of_memory_observer(tell), id);
  });
}

cairn_error cairn_remove_callback(cairn_allocator* allocator, cairn_callback_id id) {
  return attempt([&] { of(allocator).remove_callback(cairn::CallbackId{id}); });
}
