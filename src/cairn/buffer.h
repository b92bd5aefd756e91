// Device memory with an owner: a block of an Allocator that is freed when its Buffer ends.
//
//     cairn::Buffer buffer(allocator, {n * sizeof(float), 0, stream});
//     fill<<<grid, block, 0, stream>>>(static_cast<float*>(buffer.data()));
//     buffer.record_stream(other);   // where work on `other` uses it too
//
// Stream semantics are those of Allocator::free: a Buffer may end while work on its stream, or on
// streams that were recorded, still uses the memory. Nothing waits; the memory is handed out again
// in stream order. Other streams are to be recorded, or to be done with it, before the end.
//
// Thread safety: one Buffer is for one thread at a time; different ones are independent. The
// allocator must outlive it.
#pragma once

#include <cstddef>
#include <utility>

#include "cairn/allocator.h"

namespace cairn {

class Buffer {
 public:
  // Empty: null, and 0 bytes.
  Buffer() noexcept = default;
  // Throws what Allocator::allocate throws. A request of 0 bytes gives a null pointer.
  Buffer(Allocator& allocator, const Request& request)
      : allocator_(&allocator), request_(request), data_(allocator.allocate(request)) {}
  // Frees the memory. Should that fail (CUDA records no event of a stream that was recorded), the
  // block stays handed out; who wants to know calls free().
  ~Buffer() {
    if (data_ != nullptr) allocator_->try_free(data_);
  }

  // What was moved from is empty.
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t size_bytes() const noexcept { return request_.size_bytes; }
  int device() const noexcept { return request_.device; }
  // As it was requested.
  Stream stream() const noexcept { return request_.stream; }

  // As Allocator::record_stream(), of an empty buffer nothing.
  void record_stream(StreamArgument user, int device = Allocator::block_device) {
    if (data_ != nullptr) allocator_->record_stream(data_, user, device);
  }
  // Frees the memory now, which leaves the buffer empty. Throws as Allocator::free() and free_on(),
  // and then it is as before.
  void free() {
    if (data_ != nullptr) allocator_->free(data_);
    release();
  }
  void free_on(StreamArgument user, int device = Allocator::block_device) {
    if (data_ != nullptr) allocator_->free_on(data_, user, device);
    release();
  }
  // Gives the memory to the caller, who frees it by the allocator, and leaves the buffer empty.
  void* release() noexcept {
    request_ = {};
    return std::exchange(data_, nullptr);
  }

  void swap(Buffer& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(request_, other.request_);
    std::swap(data_, other.data_);
  }

 private:
  Allocator* allocator_ = nullptr;
  Request request_;
  void* data_ = nullptr;
};

}  // namespace cairn
