#include "testing/gzip_file.h"

#define ZLIB_CONST  // NOLINT(readability-identifier-naming): what is packed is read only.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

namespace cairn::testing {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
constexpr int gzip_window_bits = 15 + 16;  // The largest window, in gzip's format.
constexpr int default_memory_level = 8;

std::string over_limit(Bytes limit) {
  return "holds more than " + std::to_string(limit.count) + " bytes, the limit";
}

// zlib counts its input in 32 bits, so it is fed in pieces.
class Inflater {
 public:
  explicit Inflater(std::string_view data) : data_(data) {
    ready_ = inflateInit2(&stream_, gzip_window_bits) == Z_OK;
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ready() const { return ready_; }
  std::size_t consumed() const { return fed_ - stream_.avail_in; }
  bool restart() { return inflateReset(&stream_) == Z_OK; }
  std::size_t produced() const { return chunk_.size() - stream_.avail_out; }
  std::string_view chunk() const { return {chunk_.data(), produced()}; }
  const char* message() const { return stream_.msg != nullptr ? stream_.msg : "damaged data"; }

  // Unpacks up to one chunk.
  int step() {
    if (stream_.avail_in == 0) feed();
    stream_.next_out = reinterpret_cast<Bytef*>(chunk_.data());
    stream_.avail_out = static_cast<uInt>(chunk_.size());
    return inflate(&stream_, Z_NO_FLUSH);
  }

 private:
  void feed() {
    const std::size_t piece = std::min(data_.size() - fed_, std::size_t{1} << 30);
    stream_.next_in = reinterpret_cast<const Bytef*>(data_.data() + fed_);
    stream_.avail_in = static_cast<uInt>(piece);
    fed_ += piece;
  }

  std::string_view data_;
  std::size_t fed_ = 0;
  std::array<char, chunk_bytes> chunk_;
  z_stream stream_{};
  bool ready_ = false;
};

FileResult<std::string> read_stream(std::istream& in, Bytes limit) {
  std::string data;
  std::string chunk(chunk_bytes, '\0');
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    data.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
    if (data.size() > limit.count) return Failure{over_limit(limit)};
  }
  if (in.bad()) return Failure{std::string("cannot be read")};
  return data;
}

std::string system_reason() { return std::strerror(errno); }

}  // namespace

bool is_gzip(std::string_view data) { return data.substr(0, 2) == "\x1f\x8b"; }

FileResult<std::string> gunzip(std::string_view data, Bytes limit) {
  const auto inflater = std::make_unique<Inflater>(data);
  if (!inflater->ready()) return Failure{std::string("zlib cannot start")};
  std::string content;
  while (true) {
    const int status = inflater->step();
    content += inflater->chunk();
    const std::string place =
        "byte " + std::to_string(inflater->consumed()) + " of the gzip data: ";
    if (content.size() > limit.count) return Failure{"unpacked, it " + over_limit(limit)};
    if (status == Z_OK) continue;
    if (status == Z_BUF_ERROR) return Failure{place + "the data end too early"};
    if (status != Z_STREAM_END) return Failure{place + inflater->message()};
    const std::string_view rest = data.substr(inflater->consumed());
    if (rest.empty()) return content;
    if (!is_gzip(rest)) return Failure{place + "something that is not gzip data follows"};
    if (!inflater->restart()) return Failure{place + inflater->message()};
  }
}

FileResult<std::string> gzip(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits,
                   default_memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Failure{std::string("zlib cannot start")};
  }
  std::string packed;
  std::string chunk(chunk_bytes, '\0');
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0 && !content.empty()) {
      const std::size_t piece = std::min(content.size(), std::size_t{1} << 30);
      stream.next_in = reinterpret_cast<const Bytef*>(content.data());
      stream.avail_in = static_cast<uInt>(piece);
      content.remove_prefix(piece);
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = deflate(&stream, content.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(chunk, 0, chunk.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return Failure{std::string("zlib failed")};
  return packed;
}

FileResult<std::string> read_content(const std::string& path, Bytes limit) {
  std::ifstream file;
  if (path != "-") {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return Failure{std::string("it is a folder")};
    file.open(path, std::ios::binary);
    if (!file) return Failure{"cannot be opened: " + system_reason()};
  }
  auto data = read_stream(path == "-" ? std::cin : file, limit);
  if (!data || !is_gzip(*data)) return data;
  return gunzip(*data, limit);
}

FileResult<Done> write_content(const std::string& path, std::string_view content) {
  std::string packed;
  if (path.ends_with(".gz")) {
    auto result = gzip(content);
    if (!result) return Failure{result.error()};
    packed = std::move(*result);
    content = packed;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) return Failure{"cannot be written: " + system_reason()};
  return Done{};
}

}  // namespace cairn::testing
