#include "arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cairn::exhaust::arena {
namespace {

constexpr std::size_t capacity = std::size_t{256} << 20;
constexpr std::size_t grain = 16;
constexpr std::size_t small_classes = 64;  // Of 16 bytes each step.
constexpr std::size_t classes = small_classes + 32;

// Before each allocation: of which class it is, and how far behind the start of its room.
struct Mark {
  std::uint64_t size_class;
  std::uint64_t offset;
};
struct Free {
  Free* next;
};
// At the arena's beginning, so that it is saved and restored as well.
struct alignas(64) Head {
  std::byte* top;
  std::array<Free*, classes> free;
};

constexpr std::size_t piece = 256;

std::byte* begin = nullptr;
std::byte* highest = nullptr;           // Nothing was ever written from here on.
std::vector<std::byte> base;            // Zero from its end on.
std::vector<std::size_t> changing;      // Pieces that images have.
std::vector<std::uint8_t> is_changing;  // By piece.
// Bytes that never changed, side by side.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_zero = false;
};
std::vector<Run> runs;
constexpr std::array<std::byte, 4096> zeros{};
bool is_entered = false;

Head& head() { return *reinterpret_cast<Head*>(begin); }

void make() {
  void* const memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  begin = static_cast<std::byte*>(memory);
  clear();
}

std::size_t class_of(std::size_t size) {
  if (size <= small_classes * grain) return (size + grain - 1) / grain - 1;
  return small_classes + static_cast<std::size_t>(std::bit_width(size - 1)) - 11;
}
std::size_t size_of(std::size_t size_class) {
  if (size_class < small_classes) return (size_class + 1) * grain;
  return std::size_t{1} << (size_class - small_classes + 11);
}

std::byte* take_room(std::size_t size_class) {
  Head& state = head();
  if (Free* const first = state.free[size_class]) {
    state.free[size_class] = first->next;
    return reinterpret_cast<std::byte*>(first);
  }
  std::byte* const room = state.top;
  const std::size_t size = size_of(size_class);
  if (static_cast<std::size_t>(begin + capacity - room) < size) {
    std::fputs("exhaust: the arena is full\n", stderr);
    std::abort();
  }
  state.top += size;
  highest = std::max(highest, state.top);
  return room;
}

void* take(std::size_t size, std::size_t alignment) {
  const std::size_t more = sizeof(Mark) + (alignment > grain ? alignment : 0);
  const std::size_t size_class = class_of(size + more);
  std::byte* const room = take_room(size_class);
  auto place = reinterpret_cast<std::uintptr_t>(room) + sizeof(Mark);
  place = (place + alignment - 1) / alignment * alignment;
  const std::uint64_t offset = place - reinterpret_cast<std::uintptr_t>(room);
  std::byte* const given = room + offset;
  *reinterpret_cast<Mark*>(given - sizeof(Mark)) = {size_class, offset};
  return given;
}

void give_back(void* memory) {
  auto* const given = static_cast<std::byte*>(memory);
  const Mark mark = *reinterpret_cast<Mark*>(given - sizeof(Mark));
  auto* const room = reinterpret_cast<Free*>(given - mark.offset);
  room->next = head().free[mark.size_class];
  head().free[mark.size_class] = room;
}

bool holds(const void* memory) {
  const auto place = reinterpret_cast<std::uintptr_t>(memory);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return begin != nullptr && place >= first && place < first + capacity;
}

}  // namespace

void enter() {
  if (begin == nullptr) make();
  is_entered = true;
}
void leave() { is_entered = false; }

void clear() {
  if (madvise(begin, highest == nullptr ? capacity : static_cast<std::size_t>(highest - begin),
              MADV_DONTNEED) != 0)
    std::abort();
  head().top = begin + sizeof(Head);
  head().free.fill(nullptr);
  highest = head().top;
  base.clear();
  changing.clear();
  is_changing.clear();
  runs.clear();
}

void set_base() {
  base.assign(begin, head().top);
  changing.clear();
  is_changing.clear();
  runs.clear();
}

namespace {

// The run, unless it is empty, in steps that are compared fast.
void add_run(Run run) {
  while (run.begin < run.end) {
    const std::size_t end = std::min(run.end, run.begin + zeros.size());
    const std::byte* const from = base.data() + run.begin;
    const bool is_zero = std::memcmp(from, zeros.data(), end - run.begin) == 0;
    runs.push_back({run.begin, end, is_zero});
    run.begin = end;
  }
}

void list_runs() {
  base.resize(is_changing.size() * piece);
  runs.clear();
  Run run;
  for (std::size_t i = 0; i < is_changing.size(); ++i) {
    if (is_changing[i] == 0) {
      run.end = (i + 1) * piece;
      continue;
    }
    add_run(run);
    run = {(i + 1) * piece, (i + 1) * piece, false};
  }
  add_run(run);
}

void note_changes(const Run& run) {
  for (std::size_t i = run.begin / piece; i < run.end / piece; ++i) {
    if (std::memcmp(begin + i * piece, base.data() + i * piece, piece) == 0) continue;
    is_changing[i] = 1;
    changing.push_back(i);
  }
}

// An image of before has not what changes only now: that was as in the base.
void find_changes() {
  const std::size_t known = changing.size();
  const auto pieces = (static_cast<std::size_t>(highest - begin) + piece - 1) / piece;
  const bool is_more = is_changing.size() < pieces;
  is_changing.resize(std::max(pieces, is_changing.size()));
  if (is_more) list_runs();
  for (const Run& run : runs) {
    const std::byte* const as_before = run.is_zero ? zeros.data() : base.data() + run.begin;
    if (std::memcmp(begin + run.begin, as_before, run.end - run.begin) != 0) [[unlikely]]
      note_changes(run);
  }
  if (changing.size() != known) list_runs();
}

}  // namespace

std::size_t bytes_used() { return static_cast<std::size_t>(highest - begin); }
std::size_t bytes_in_images() { return changing.size() * piece; }

void Image::save() {
  find_changes();
  bytes_.resize(changing.size() * piece);
  for (std::size_t i = 0; i < changing.size(); ++i)
    std::memcpy(bytes_.data() + i * piece, begin + changing[i] * piece, piece);
}

void Image::restore() const {
  find_changes();
  const std::size_t saved = bytes_.size() / piece;
  for (std::size_t i = 0; i < saved; ++i)
    std::memcpy(begin + changing[i] * piece, bytes_.data() + i * piece, piece);
  for (std::size_t i = saved; i < changing.size(); ++i)
    std::memcpy(begin + changing[i] * piece, base.data() + changing[i] * piece, piece);
}

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
  if (size == 0) size = 1;
  if (is_entered) return take(size, alignment);
  void* const given =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size)
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (given == nullptr) throw std::bad_alloc();
  return given;
}

void release(void* memory) {
  if (holds(memory)) return give_back(memory);
  std::free(memory);
}

}  // namespace
}  // namespace cairn::exhaust::arena

void* operator new(std::size_t size) {
  return cairn::exhaust::arena::allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return cairn::exhaust::arena::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { cairn::exhaust::arena::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { cairn::exhaust::arena::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  cairn::exhaust::arena::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  cairn::exhaust::arena::release(memory);
}
