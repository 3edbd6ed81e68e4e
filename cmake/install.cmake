# One library out of the four layers, its public headers, the LLVM module, the program, and what find_package(weft)
# and pkg-config read.
#
# weft::static and weft::shared are the library's two forms; weft::weft is the one that BUILD_SHARED_LIBS says.  A
# project that has weft as a subdirectory builds only that one.
include(CheckCXXSourceRuns)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
find_package(Threads REQUIRED)

# Tables of operators and of loops are full of addresses, and their relocations take 57 KB less if packed.  Older loaders
# don't read them, so a program is run.
if(NOT CMAKE_CROSSCOMPILING)
  set(CMAKE_REQUIRED_FLAGS -fPIE)  # other programs have none
  set(CMAKE_REQUIRED_LINK_OPTIONS -pie LINKER:-z,pack-relative-relocs)
  check_cxx_source_runs("int main(int, char**) { static int (*volatile address)(int, char**) = main; return address == nullptr; }"
    WEFT_PACKED_RELOCATIONS)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()

set(weft_layers weft_runtime weft_ir weft_jit weft_engine)
set(weft_default_form static)
if(BUILD_SHARED_LIBS)
  set(weft_default_form shared)
endif()
set(weft_forms static shared)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(weft_forms ${weft_default_form})
endif()

# weft_assemble(static|shared): the target weft_static or weft_shared.
function(weft_assemble form)
  set(target weft_${form})
  string(TOUPPER ${form} type)
  add_library(${target} ${type})
  add_library(weft::${form} ALIAS ${target})
  foreach(layer IN LISTS weft_layers)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${layer}>)
    target_include_directories(${target}
      PUBLIC $<BUILD_INTERFACE:$<TARGET_PROPERTY:${layer},INTERFACE_INCLUDE_DIRECTORIES>>)
  endforeach()
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME weft EXPORT_NAME ${form} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # By name: paths would tie the installed package to this machine.
  target_link_libraries(${target} PRIVATE Threads::Threads sleef z ${CMAKE_DL_LIBS})
  if(form STREQUAL "shared")
    set(map ${PROJECT_SOURCE_DIR}/cmake/weft.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map} LINKER:--exclude-libs,ALL
      LINKER:--gc-sections LINKER:-Bsymbolic-functions $<$<BOOL:${WEFT_PACKED_RELOCATIONS}>:LINKER:-z,pack-relative-relocs>)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  endif()
  install(TARGETS ${target} EXPORT weft_targets)
endfunction()

foreach(form IN LISTS weft_forms)
  weft_assemble(${form})
endforeach()
add_library(weft::weft ALIAS weft_${weft_default_form})

foreach(layer IN ITEMS runtime ir engine)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${layer}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
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

# Paths from the file itself on, so that a prefix may be moved.
set(weft_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(SET weft_pc_folder NORMALIZE /prefix/${weft_pkgconfig_dir})
file(RELATIVE_PATH weft_prefix_from_pc ${weft_pc_folder} /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${weft_pkgconfig_dir})

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)
endif()
