// A value, or the reason why there is none: how the world's failures (device out of memory, driver
// error) travel inside the library. Nothing here throws.
#pragma once

#include <utility>
#include <variant>

namespace cairn {

template <class E>
struct Failure {
  E error;
};
template <class E>
Failure(E) -> Failure<E>;

template <class T, class E>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}             // NOLINT
  Result(Failure<E> why) : state_(std::in_place_index<1>, std::move(why.error)) {}  // NOLINT

  explicit operator bool() const { return state_.index() == 0; }
  bool failed() const { return state_.index() != 0; }

  // REQUIRES: a value is there.
  const T& operator*() const { return *std::get_if<0>(&state_); }
  T& operator*() { return *std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  // REQUIRES: no value is there.
  const E& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, E> state_;
};

// For calls that give nothing back but that they were done.
struct Done {};

}  // namespace cairn
