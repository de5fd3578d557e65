#ifndef VZ_BASE_MAP_H
#define VZ_BASE_MAP_H
/* A hash map from pointers (Sym, Var *, Buf * ...) to pointers, in an arena.
 * Iteration order is insertion order, so output never depends on addresses. */
#include <stdbool.h>

#include "csrc/base/arena.h"

typedef struct MapEntry {
    const void *key;
    void *value;
} MapEntry;

typedef struct Map {
    Arena *arena;
    MapEntry *entries; /* in insertion order */
    int n;
    int cap;
    int *index; /* open addressing, holds entry number + 1 */
    int index_cap;
} Map;

Map map_new(Arena *arena);
/* NULL when 'key' is absent. */
void *map_get(const Map *map, const void *key);
bool map_has(const Map *map, const void *key);
void map_set(Map *map, const void *key, void *value);
/* A shallow copy in the same arena. */
Map map_copy(const Map *map);
#endif
