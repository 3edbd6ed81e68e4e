#include "examples/png_file.h"

#include <weft/error.h>

#include <png.h>

namespace example {

weft::Tensor read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  WEFT_CHECK(png_image_begin_read_from_file(&image, path.c_str()) != 0, ArgumentError, path, ": ",
             image.message);
  image.format = PNG_FORMAT_RGB;
  weft::Tensor photo = weft::empty({image.height, image.width, 3}, weft::DType::u8);
  WEFT_CHECK(png_image_finish_read(&image, nullptr, photo.data(), 0, nullptr) != 0, ArgumentError,
             path, ": ", image.message);
  return photo;
}

void write_png(const std::string& path, const weft::Tensor& photo) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = PNG_FORMAT_RGB;
  image.height = static_cast<png_uint_32>(photo.size(0));
  image.width = static_cast<png_uint_32>(photo.size(1));
  WEFT_CHECK(png_image_write_to_file(&image, path.c_str(), 0, photo.data(), 0, nullptr) != 0,
             DeviceError, path, ": ", image.message);
}

}  // namespace example
