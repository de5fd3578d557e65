/* sha256 of n bytes i*7 % 251 for n = 0 .. 299, one line each, then that of a
 * million letters a; compared with hashlib by tests/test_run.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/run/run.h"

int
main(void)
{
    char hex[65];
    unsigned char bytes[300];
    for (int i = 0; i < 300; i++) {
        bytes[i] = (unsigned char)(i * 7 % 251);
    }
    for (size_t n = 0; n < 300; n++) {
        sha256_hex(bytes, n, hex);
        printf("%s\n", hex);
    }
    char *million = malloc(1000000);
    if (!million) {
        return 1;
    }
    memset(million, 'a', 1000000);
    sha256_hex(million, 1000000, hex);
    printf("%s\n", hex);
    free(million);
    return 0;
}
