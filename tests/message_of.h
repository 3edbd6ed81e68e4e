// What a call that is refused says.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace weft::test {

/// The text of what `call` throws; another class, and nothing, is a failure.
template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another class: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace weft::test
