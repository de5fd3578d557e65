#ifndef VZ_BASE_SLP_H
#define VZ_BASE_SLP_H
/* A word between those who write C text and those who have it compiled.
 *
 * gcc 12 drops both conversions of (double)(float)x where it makes vectors of
 * statements that stand side by side, as it does of the lanes of small arrays
 * for AVX-512; loops are not affected.  So text that converts both ways says
 * in a comment that this must not be done.
 */
#define VZ_NO_SLP "no vectors of statements side by side"
#endif
