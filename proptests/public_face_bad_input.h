// Commands that pass what cannot be. Each call is refused with the documented error, by its form
// that throws and by the one that tries, and nothing changes; those that mean nothing do nothing.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "public_face_commands.h"

namespace cairn::proptests {

// That means nothing to the model.
class Refused : public FaceCommand {
 public:
  explicit Refused(const char* name) : name_(name), choice_(draw<std::size_t>(0, 1000)) {}
  void show(std::ostream& out) const override;

 protected:
  template <class List>
  const auto& chosen(const List& list) const {
    return list[choice_ % list.size()];
  }

 private:
  const char* name_;
  std::size_t choice_;
};

// In every call that takes one.
class NoSuchDevice final : public Refused {
 public:
  NoSuchDevice() : Refused("no such device") {}

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// No power of two, or above 2 MiB.
class BadAlignment final : public Refused {
 public:
  BadAlignment() : Refused("bad alignment") {}

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// Of 2^60 bytes and more, which is out of memory without a look at any.
class ImpossibleSize final : public Refused {
 public:
  ImpossibleSize() : Refused("impossible size") {}

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// Outside [0, 1], or not a number. What can be is told by memory_fraction().
class BadFraction final : public Refused {
 public:
  BadFraction() : Refused("bad fraction"), good_(draw(0, 101) / 100.0) {}

 private:
  void act(const FaceModel& before, Face& face) const override;

  double good_;
};

// A text that cannot be read, with one change before it that could be made.
class UnreadableSettings final : public Refused {
 public:
  UnreadableSettings() : Refused("unreadable settings") {}

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// Settings that nobody has yet, or that cannot change any more.
class UnchangeableSettings final : public Refused {
 public:
  UnchangeableSettings() : Refused("unchangeable settings") {}

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// A handle that no stream can have, in every call that names one.
class ImpossibleStream final : public Refused {
 public:
  ImpossibleStream() : Refused("impossible stream") {}

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// A default stream never ends.
class ForgetDefaultStream final : public Refused {
 public:
  ForgetDefaultStream() : Refused("forget a default stream") {}

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// What was freed last, and an address of the host, in every call that takes a pointer.
class DeadPointers final : public Refused {
 public:
  DeadPointers() : Refused("dead pointers") {}
  void checkPreconditions(const FaceModel& before) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// Null pointers and requests of 0 bytes.
class Nothing final : public Refused {
 public:
  Nothing() : Refused("nothing") {}

 private:
  void act(const FaceModel& before, Face& face) const override;
};

}  // namespace cairn::proptests
