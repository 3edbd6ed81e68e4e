#include <weft/npy.h>

#include <weft/error.h>

#include "engine/exchange/npy_header.h"
#include "engine/exchange/npy_stream.h"
#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor_impl.h"
#include "runtime/file.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <system_error>
#include <utility>

namespace weft {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements go to the file as they lie in memory");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header_bytes = std::size_t{1} << 20;
constexpr std::size_t data_alignment_bytes = 64;  // in files that are written, as NumPy has it

class FileSource : public ByteSource {
 public:
  explicit FileSource(InputFile& file) : file_(file) {}
  std::size_t size_bytes() const override { return file_.size_bytes(); }
  std::size_t read(std::span<std::byte> bytes) override { return file_.read(bytes); }

 private:
  InputFile& file_;
};

/// Where the array of a file lies, checked against the file's size.
struct NpyLayout {
  NpyHeader header;
  Dims strides;
  std::size_t data_offset_bytes = 0;
  std::size_t data_bytes = 0;
};

std::string read_text(ByteSource& file, std::size_t size_bytes, std::string_view what) {
  WEFT_CHECK(size_bytes <= file.size_bytes(), ArgumentError, "the file is too short for ", what,
             ": expected ", size_bytes, " bytes, the whole file has ", file.size_bytes());
  std::string text(size_bytes, '\0');
  const std::size_t count = file.read(std::as_writable_bytes(std::span(text)));
  WEFT_CHECK(count == size_bytes, ArgumentError, "the file ends within ", what, ": expected ",
             size_bytes, " bytes, got ", count);
  return text;
}

Dims file_strides(const NpyHeader& header) {
  if (!header.is_fortran_order) return contiguous_strides(header.sizes);
  Dims sizes = header.sizes;
  std::reverse(sizes.begin(), sizes.end());
  Dims strides = contiguous_strides(sizes);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

/// Reads everything before the data.
NpyLayout read_layout(ByteSource& file) {
  const std::string start = read_text(file, magic.size() + 2, "the magic string and the version");
  WEFT_CHECK(start.starts_with(magic), ArgumentError,
             "not a .npy file: it does not begin with \\x93NUMPY");
  const int version = static_cast<unsigned char>(start[magic.size()]);
  WEFT_CHECK(version >= 1 && version <= 3, ArgumentError,
             "expected version 1, 2 or 3 of the .npy format, got ", version);
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::string length = read_text(file, length_bytes, "the length of the header");
  std::uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, length.data(), length_bytes);
  WEFT_CHECK(header_bytes <= max_header_bytes, ArgumentError, "expected a header of at most ",
             max_header_bytes, " bytes, got ", header_bytes);

  NpyLayout layout;
  layout.header = parse_npy_header(read_text(file, header_bytes, "the header"));
  layout.strides = file_strides(layout.header);
  layout.data_offset_bytes = start.size() + length_bytes + header_bytes;
  const Tensor planned = unbacked(layout.header.sizes, layout.strides, layout.header.dtype);
  layout.data_bytes = planned.storage()->size_bytes();
  const std::size_t available =
      file.size_bytes() - std::min(file.size_bytes(), layout.data_offset_bytes);
  WEFT_CHECK(layout.data_bytes <= available, ArgumentError,
             "the data is truncated: ", layout_text(planned), " needs ", layout.data_bytes,
             " bytes, the file has ", available);
  return layout;
}

/// A byte that is neither 0 nor 1 is no bool; NumPy takes it for true.
void normalise_bools(const NpyLayout& layout, std::byte* data) {
  if (layout.header.dtype != DType::boolean) return;
  for (std::size_t i = 0; i < layout.data_bytes; ++i)
    if (data[i] > std::byte{1}) data[i] = std::byte{1};
}

Tensor read_data(ByteSource& file, const NpyLayout& layout) {
  Tensor result = empty_strided(layout.header.sizes, layout.strides, {layout.header.dtype, {}, {}});
  std::byte* data = result.storage()->data();
  const std::size_t count = file.read({data, layout.data_bytes});
  WEFT_CHECK(count == layout.data_bytes, ArgumentError, "the data is truncated: expected ",
             layout.data_bytes, " bytes, got ", count);
  normalise_bools(layout, data);
  return result;
}

template <class T>
T negated(T value) {
  if constexpr (std::is_same_v<T, c32>) {
    return {{static_cast<std::uint16_t>(value.re.bits ^ 0x8000)},
            {static_cast<std::uint16_t>(value.im.bits ^ 0x8000)}};
  } else if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(0 - static_cast<std::uint64_t>(value));
  } else if constexpr (is_small_float(dtype_of<T>)) {
    using Word = decltype(value.bits);
    return {static_cast<Word>(value.bits ^ (Word{1} << (8 * sizeof(Word) - 1)))};
  } else {
    return -value;
  }
}

template <class T>
T conjugated(T value) {
  if constexpr (std::is_same_v<T, c32>)
    return {value.re, negated(value.im)};
  else if constexpr (is_complex(dtype_of<T>))
    return std::conj(value);
  else
    return value;
}

template <class T>
void apply_lazy_bits(std::span<std::byte> bytes, bool is_conj, bool is_neg) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    if (is_conj) value = conjugated(value);
    if (is_neg) value = negated(value);
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

/// Writes the elements in row-major order through a buffer, lazy bits applied.
template <class T>
void write_gathered(ByteSink& file, const TensorImpl& tensor) {
  constexpr std::size_t buffer_elements = 8192;
  std::vector<std::byte> buffer;
  buffer.reserve(buffer_elements * sizeof(T));
  const auto flush = [&] {
    if (tensor.is_conj || tensor.is_neg) apply_lazy_bits<T>(buffer, tensor.is_conj, tensor.is_neg);
    file.write(buffer);
    buffer.clear();
  };
  const std::byte* data = tensor.data();
  Dims index(tensor.sizes.size());
  std::int64_t offset = 0;
  for (std::int64_t left = tensor.numel; left > 0; --left) {
    const std::byte* element = data + offset * static_cast<std::int64_t>(sizeof(T));
    buffer.insert(buffer.end(), element, element + sizeof(T));
    if (buffer.size() == buffer_elements * sizeof(T)) flush();
    for (std::size_t dim = index.size(); dim-- > 0;) {
      if (tensor.sizes[dim] == 1) continue;  // any stride is allowed there
      offset += tensor.strides[dim];
      if (++index[dim] < tensor.sizes[dim]) break;
      offset -= tensor.sizes[dim] * tensor.strides[dim];
      index[dim] = 0;
    }
  }
  flush();
}

Tensor reversed(const Tensor& tensor) {
  std::vector<int> dims(static_cast<std::size_t>(tensor.dim()));
  std::iota(dims.rbegin(), dims.rend(), 0);
  return tensor.permute(dims);
}

/// Whether strides in row-major order fit 64 bits: those of an array without elements may not.
bool has_row_major_strides(const Dims& sizes) {
  std::int64_t stride = 1;
  for (std::size_t dim = sizes.size(); dim-- > 1;)
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(sizes[dim], 1), &stride))
      return false;
  return true;
}

/// Errors: ArgumentError if nobody could read the file back.
NpyHeader header_of(const Tensor& tensor) {
  const TensorImpl& impl = defined_impl(tensor);
  NpyHeader header{impl.dtype, false, impl.sizes};
  // What has no elements counts as contiguous in row-major order.
  header.is_fortran_order =
      impl.is_contiguous ? !has_row_major_strides(impl.sizes) : reversed(tensor).is_contiguous();
  file_strides(header);
  return header;
}

/// Magic, version, length and header, filled up so that the data begins at a multiple of 64.
std::string file_start(const NpyHeader& header) {
  std::string text = npy_header_text(header);
  constexpr std::size_t before_text = magic.size() + 2 + sizeof(std::uint16_t);
  const std::size_t unfilled = before_text + text.size() + 1;
  const std::size_t filled =
      (unfilled + data_alignment_bytes - 1) / data_alignment_bytes * data_alignment_bytes;
  text.append(filled - unfilled, ' ');
  text += '\n';
  // 64 dimensions of 20 digits fit easily, so version 1 does.
  WEFT_ASSERT(text.size() <= UINT16_MAX, "the header has ", text.size(), " bytes");
  std::string start(magic);
  start += '\1';
  start += '\0';
  start += static_cast<char>(text.size() & 0xff);
  start += static_cast<char>(text.size() >> 8);
  return start + text;
}

}  // namespace

std::string shown_name(const std::string& path) {
  return path.find('\0') == path.npos ? path : printable(path);
}

Tensor npy_read_from(ByteSource& source) {
  const NpyLayout layout = read_layout(source);
  return read_data(source, layout);
}

Tensor npy_read(const std::string& path) {
  return naming_file(path, [&] {
    InputFile file(path);
    FileSource source(file);
    return npy_read_from(source);
  });
}

Tensor npy_map(const std::string& path) {
  return naming_file(path, [&] {
    InputFile file(path);
    FileSource source(file);
    const NpyLayout layout = read_layout(source);
    // Elements must lie as C++ wants them; NumPy's own files always do.
    const std::size_t itemsize = itemsize_bytes(layout.header.dtype);
    if (layout.data_bytes == 0 || layout.data_offset_bytes % itemsize != 0)
      return read_data(source, layout);
    const std::shared_ptr<std::byte> mapping = file.map();
    std::byte* data = mapping.get() + layout.data_offset_bytes;
    normalise_bools(layout, data);
    auto storage = Storage::borrow(data, layout.data_bytes, [mapping](void*) {});
    return make_tensor(std::move(storage), layout.header.sizes, layout.strides, 0,
                       layout.header.dtype);
  });
}

void npy_write_to(ByteSink& sink, const Tensor& tensor) {
  const TensorImpl& impl = defined_impl(tensor);
  const NpyHeader header = header_of(tensor);
  const std::string start = file_start(header);
  sink.write(std::as_bytes(std::span(start)));
  const Tensor ordered = header.is_fortran_order ? reversed(tensor) : tensor;
  const TensorImpl& elements = *ordered.impl();
  if (elements.is_contiguous && !elements.is_conj && !elements.is_neg)
    sink.write(
        {elements.data(), static_cast<std::size_t>(elements.numel) * itemsize_bytes(impl.dtype)});
  else
    visit_dtype(impl.dtype,
                [&]<class T>(std::type_identity<T>) { write_gathered<T>(sink, elements); });
}

void check_npy_writable(const Tensor& tensor) {
  const TensorImpl& impl = defined_impl(tensor);
  npy_header_text(header_of(tensor));
  WEFT_CHECK(cpu_data(tensor) != nullptr || impl.numel == 0, ArgumentError,
             "expected a tensor with data, got ", describe(tensor));
}

void check_npy_write(const std::string& path, const Tensor& tensor) {
  naming_file(path, [&] {
    check_npy_writable(tensor);
    std::error_code unknown;
    const std::filesystem::file_type type = std::filesystem::status(path, unknown).type();
    const bool is_stream = type == std::filesystem::file_type::fifo ||
                           type == std::filesystem::file_type::character ||
                           type == std::filesystem::file_type::socket;
    if (!is_stream) static_cast<void>(OutputFile(path));
  });
}

void npy_write(const std::string& path, const Tensor& tensor) {
  naming_file(path, [&] {
    check_npy_writable(tensor);
    OutputFile file(path);
    FileSink sink(file);
    npy_write_to(sink, tensor);
    file.commit();
  });
}

}  // namespace weft
