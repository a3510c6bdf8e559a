# SPDX-License-Identifier: Apache-2.0
"""CPython's test_multiprocessing_spawn, which some installations leave out: its tests are elsewhere."""

from test._test_multiprocessing import install_tests_in_module_dict

install_tests_in_module_dict(globals(), "spawn")
