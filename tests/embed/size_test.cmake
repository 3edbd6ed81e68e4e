# The library without LLVM stays under 4 MB stripped; LLVM lies in a module of its own and never counts.
# cmake -DSTRIP=... -DLIBRARY=... -DSTRIPPED=... -P size_test.cmake
execute_process(COMMAND ${STRIP} -o ${STRIPPED} ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${STRIPPED} size_bytes)
file(REMOVE ${STRIPPED})
message("${LIBRARY}: ${size_bytes} bytes stripped")
if(size_bytes GREATER_EQUAL 4000000)
  message(FATAL_ERROR "expected less than 4000000")
endif()
