// SPDX-License-Identifier: Apache-2.0
// As if zstd's functions had leaked out: the program's own zstd would be replaced by ours.
int ZSTD_compress(void);
int ZSTD_compress(void) { return 0; }
