#include "simulator/libcuda/memory_book.h"

#include <sys/mman.h>

#include <cstdio>
#include <iterator>

#include "base/in_words.h"
#include "simulator/address_space.h"
#include "simulator/libcuda/environment.h"

namespace cairn::simulator {
namespace {

std::size_t mapped_size(Bytes size) { return round_up(size, allocation_granularity).count; }

void* map_pages(Address at, Bytes size, int flags) {
  return mmap(reinterpret_cast<void*>(at.value), mapped_size(size), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

void unmap(const Region& region) {
  if (!region.is_backed || region.kind == MemoryKind::registered) return;
  munmap(reinterpret_cast<void*>(region.span.begin.value), mapped_size(region.span.size));
}

}  // namespace

MemoryBook::~MemoryBook() {
  for (const auto& [begin, region] : regions_) unmap(region);
}

bool MemoryBook::add_of_device(Span span, Home home, MemoryKind kind) {
  const bool is_backed = kind == MemoryKind::managed || is_backing_wanted();
  // A kernel that does not know the flag takes the address for a hint.
  if (is_backed) {
    void* const pages = map_pages(span.begin, span.size, MAP_FIXED_NOREPLACE);
    if (reinterpret_cast<std::uint64_t>(pages) != span.begin.value) {
      if (pages != MAP_FAILED) munmap(pages, mapped_size(span.size));
      std::fprintf(stderr, "cairn: simulated CUDA: no host memory can be at %s\n",
                   in_words(span).c_str());
      return false;
    }
  }
  regions_[span.begin] = {span, home, kind, is_backed};
  return true;
}

std::optional<Address> MemoryBook::add_of_host(Bytes size, Home home) {
  void* const pages = map_pages({}, size, 0);
  if (pages == MAP_FAILED) return std::nullopt;
  const Address begin{reinterpret_cast<std::uint64_t>(pages)};
  regions_[begin] = {{begin, size}, home, MemoryKind::host, true};
  return begin;
}

bool MemoryBook::add_registered(Span span, Home home) {
  const auto after = regions_.lower_bound(span.end());
  if (after != regions_.begin() && std::prev(after)->second.span.overlaps(span)) return false;
  regions_[span.begin] = {span, home, MemoryKind::registered, true};
  return true;
}

void MemoryBook::remove(Address begin) {
  const auto found = regions_.find(begin);
  unmap(found->second);
  regions_.erase(found);
}

std::vector<Address> MemoryBook::remove_all(Home home) {
  std::vector<Address> of_device;
  for (auto each = regions_.begin(); each != regions_.end();) {
    const Region& region = each->second;
    if (region.home != home) {
      ++each;
      continue;
    }
    const bool is_of_device =
        region.kind == MemoryKind::device || region.kind == MemoryKind::managed;
    if (is_of_device) of_device.push_back(each->first);
    unmap(region);
    each = regions_.erase(each);
  }
  return of_device;
}

const Region* MemoryBook::beginning_at(Address address) const {
  const auto found = regions_.find(address);
  return found == regions_.end() ? nullptr : &found->second;
}

const Region* MemoryBook::containing(Address address) const {
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  const Region& region = std::prev(after)->second;
  return address < region.span.end() ? &region : nullptr;
}

}  // namespace cairn::simulator
