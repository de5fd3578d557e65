#ifndef VZ_BASE_MAP_H
#define VZ_BASE_MAP_H
/* A hash map from pointers (Sym, Var *, Buf * ...) to pointers, in an arena.
 * Iteration order is insertion order, so output never depends on addresses. */
#include <stdbool.h>

#include "csrc/base/arena.h"

/* A pair.  Walk the entries of a map by 0 <= i < map.n, in the order in which
 * keys were first set. */
typedef struct MapEntry {
    const void *key;
    void *value;
} MapEntry;

/*   "arena"  receives the tables when they grow.
 *   "entries", "n", "cap"  the pairs, in insertion order.
 *   "index", "index_cap"  open addressing, a power of two; holds entry number +
 *       1, 0 where free. */
typedef struct Map {
    Arena *arena;
    MapEntry *entries; /* in insertion order */
    int n;
    int cap;
    int *index; /* open addressing, holds entry number + 1 */
    int index_cap;
} Map;

/* An empty map, which takes no memory before the first map_set. */
Map map_new(Arena *arena);
/* NULL when 'key' is absent. */
void *map_get(const Map *map, const void *key);
bool map_has(const Map *map, const void *key);
/* 'key' is compared by address and never read through. */
void map_set(Map *map, const void *key, void *value);
/* Drops all entries and keeps the tables for the next ones. */
void map_clear(Map *map);
/* A shallow copy in the same arena. */
Map map_copy(const Map *map);
#endif
