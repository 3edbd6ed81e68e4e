# One library out of the four layers, its public headers, the LLVM module, the program, and the package that
# find_package(weft) reads.  Static unless BUILD_SHARED_LIBS is on.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
find_package(Threads REQUIRED)

set(weft_layers weft_runtime weft_ir weft_jit weft_engine)
add_library(weft_library)  # the output name `weft` is also the program's
add_library(weft::weft ALIAS weft_library)
foreach(layer IN LISTS weft_layers)
  target_sources(weft_library PRIVATE $<TARGET_OBJECTS:${layer}>)
  target_include_directories(weft_library PUBLIC $<BUILD_INTERFACE:$<TARGET_PROPERTY:${layer},INTERFACE_INCLUDE_DIRECTORIES>>)
endforeach()
set_target_properties(weft_library PROPERTIES
  OUTPUT_NAME weft EXPORT_NAME weft LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(weft_library INTERFACE cxx_std_20)
target_include_directories(weft_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# sleef by name: a path would tie the installed package to this machine.
target_link_libraries(weft_library PRIVATE Threads::Threads sleef ${CMAKE_DL_LIBS})

install(TARGETS weft_library EXPORT weft_targets)
foreach(layer IN ITEMS runtime ir engine)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${layer}/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
if(TARGET weft_llvm)
  install(TARGETS weft_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft)
endif()
if(TARGET weft_cli)
  install(TARGETS weft_cli)
endif()

set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(EXPORT weft_targets FILE weft-targets.cmake NAMESPACE weft:: DESTINATION ${weft_package_dir})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/weft-config.cmake.in ${PROJECT_BINARY_DIR}/weft-config.cmake
  INSTALL_DESTINATION ${weft_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
  DESTINATION ${weft_package_dir})
