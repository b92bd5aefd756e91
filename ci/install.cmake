# What `cmake --install` lays down: the libraries, the public headers, and the packages for
# find_package(cairn) and for pkg-config. With component `simulator` also what users of the
# simulated GPU need.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)

set_target_properties(cairn_static PROPERTIES EXPORT_NAME cairn)
set_target_properties(cairn_driver PROPERTIES EXPORT_NAME driver)
install(TARGETS cairn_static cairn_shared cairn_driver EXPORT cairn COMPONENT cairn)
if(TARGET cairn_preload)  # For LD_PRELOAD: nothing links it, so no package names it.
  install(TARGETS cairn_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cairn)
endif()
install(EXPORT cairn NAMESPACE cairn:: DESTINATION ${package} FILE cairn-targets.cmake
        COMPONENT cairn)
install(DIRECTORY src/cairn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cairn
        FILES_MATCHING PATTERN "*.h" PATTERN "settings_*.h" EXCLUDE)  # Those are the parser's own.
install(DIRECTORY src/base src/driver DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cairn_driver
        COMPONENT cairn FILES_MATCHING PATTERN "*.h" PATTERN "*_in_test.h" EXCLUDE
        PATTERN "cuda_driver_*.h" EXCLUDE PATTERN "conformance" EXCLUDE)  # They need CUDA's.

if(cairn_with_tool)
  set_target_properties(cairn_simulator PROPERTIES EXPORT_NAME simulator)
  target_include_directories(cairn_simulator INTERFACE $<INSTALL_INTERFACE:include/cairn_simulator>)
  install(TARGETS cairn_simulator EXPORT cairn_simulator COMPONENT simulator)
  install(EXPORT cairn_simulator NAMESPACE cairn:: DESTINATION ${package}
          FILE cairn-simulator-targets.cmake COMPONENT simulator)
  install(DIRECTORY src/simulator COMPONENT simulator
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cairn_simulator FILES_MATCHING PATTERN "*.h"
          PATTERN "libcuda*" EXCLUDE PATTERN "*_in_test.h" EXCLUDE)
endif()

configure_package_config_file(ci/cairn-config.cmake.in ${PROJECT_BINARY_DIR}/cairn-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairn-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cairn-config.cmake
              ${PROJECT_BINARY_DIR}/cairn-config-version.cmake
        DESTINATION ${package} COMPONENT cairn)

# pkg-config: cairn is libcairn.so, or what -static needs; cairn-static is libcairn.a alone;
# cairn-simulator is that with the simulated GPU. They say where they are by their own place, so
# that the tree can be moved.
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix /prefix/${pc_folder} /prefix)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
set(pc_needs "-lstdc++ -lm -ldl -lpthread")
set(pc_name cairn)
set(pc_libs "-L\${libdir} -lcairn")
set(pc_private ${pc_needs})
configure_file(ci/cairn.pc.in ${PROJECT_BINARY_DIR}/cairn.pc @ONLY)
set(pc_name cairn-static)
set(pc_libs "\${libdir}/libcairn.a -Xlinker --exclude-libs=libcairn.a ${pc_needs}")
set(pc_private "")
configure_file(ci/cairn.pc.in ${PROJECT_BINARY_DIR}/cairn-static.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cairn.pc ${PROJECT_BINARY_DIR}/cairn-static.pc
        DESTINATION ${pc_folder} COMPONENT cairn)
if(cairn_with_tool)
  set(pc_name cairn-simulator)
  set(pc_requires cairn-static)
  set(pc_more_headers " -I\${includedir}/cairn_simulator -I\${includedir}/cairn_driver")
  set(pc_libs "\${libdir}/libcairn_simulator.a")
  configure_file(ci/cairn.pc.in ${PROJECT_BINARY_DIR}/cairn-simulator.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cairn-simulator.pc DESTINATION ${pc_folder}
          COMPONENT simulator)
endif()
