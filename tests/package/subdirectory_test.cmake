# A project that has weft as a subdirectory: nothing but weft itself is built, a program finds weft's headers, and the
# project's own settings stay as they were.  With ALL=ON the program is linked and run, which compiles all of weft.
# cmake -DBUILD=... -DSOURCE=... -DCXX=... -DCC=... -DALL=ON|OFF -P subdirectory_test.cmake
set(SCRATCH ${BUILD}/subdirectory_test)
file(REMOVE_RECURSE ${SCRATCH})
include(${CMAKE_CURRENT_LIST_DIR}/consumer.cmake)

file(WRITE ${SCRATCH}/source/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES C CXX)
add_subdirectory(${SOURCE} weft)
if(CMAKE_CXX_STANDARD OR CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  message(FATAL_ERROR \"weft changed the settings of its parent\")
endif()
if(NOT TARGET weft::weft OR TARGET weft_bench OR TARGET weft_tests_engine)
  message(FATAL_ERROR \"expected the library and no tests or benchmarks\")
endif()
add_executable(quick_look ${SOURCE}/examples/quick_look.cpp)
target_link_libraries(quick_look PRIVATE weft::weft)
")
run(${CMAKE_COMMAND} -S ${SCRATCH}/source -B ${SCRATCH}/build -G Ninja -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_C_COMPILER=${CC} -DCMAKE_BUILD_TYPE=Release -DWEFT_LLVM=OFF)
if(ALL)
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target quick_look)
  file(GLOB_RECURSE program ${SCRATCH}/build/quick_look)
  run(${program})
else()
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target CMakeFiles/quick_look.dir/${SOURCE}/examples/quick_look.cpp.o)
endif()
