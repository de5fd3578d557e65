#ifndef VZ_BASE_MARKS_H
#define VZ_BASE_MARKS_H
/* Words between those who write C text and those who have it compiled: in a
 * comment of the text, they choose an option of the C compiler. */

/* gcc 12 drops both conversions of (double)(float)x where it makes vectors of
 * statements that stand side by side, as it does of the lanes of small arrays
 * for AVX-512; loops are not affected.  So text that converts both ways says
 * that this must not be done. */
#define VZ_NO_SLP "no vectors of statements side by side"

/* gcc may compute ahead what then isn't needed, and so raise a flag in vain.
 * It doesn't where arithmetic might trap; but then, without AVX-512, there is
 * no SIMD for loops that choose between values either. */
#define VZ_MAY_TRAP "arithmetic may trap"
#endif
