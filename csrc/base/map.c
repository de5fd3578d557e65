/* The pointer map: an array of entries in insertion order, and an index of
 * entry numbers, open addressing with linear probing, at most half full.
 *
 * Single keys are not removed, so a probe ends at the first empty place.
 * Values may be NULL; map_has tells an absent key from such a value.
 */
#include "csrc/base/map.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_ENTRIES = 8 };

Map
map_new(Arena *arena)
{
    return (Map){.arena = arena};
}

/* Pointers share their low and high bits, so mix before masking (the
 * finaliser of splitmix64). */
static uint64_t
hash_pointer(const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key;
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

/* The place in the index that holds 'key', or where it belongs. */
static int *
find_place(const Map *map, const void *key)
{
    uint64_t mask = (uint64_t)map->index_cap - 1;
    uint64_t at = hash_pointer(key) & mask;
    while (map->index[at] && map->entries[map->index[at] - 1].key != key) {
        at = (at + 1) & mask;
    }
    return &map->index[at];
}

/* The entry of 'key' or NULL; an empty map has no index yet. */
static const MapEntry *
find_entry(const Map *map, const void *key)
{
    if (map->n == 0) {
        return NULL;
    }
    int number = *find_place(map, key);
    return number ? &map->entries[number - 1] : NULL;
}

void *
map_get(const Map *map, const void *key)
{
    const MapEntry *entry = find_entry(map, key);
    return entry ? entry->value : NULL;
}

bool
map_has(const Map *map, const void *key)
{
    return find_entry(map, key) != NULL;
}

/* Doubles the entries and rebuilds the index, four times as long as the
 * entries were, from them. */
static void
map_grow(Map *map)
{
    int cap = map->cap ? map->cap * 2 : FIRST_ENTRIES;
    MapEntry *entries = ARENA_ARRAY(map->arena, MapEntry, cap);
    if (map->n) {
        memcpy(entries, map->entries, sizeof(MapEntry) * (size_t)map->n);
    }
    map->entries = entries;
    map->cap = cap;
    map->index_cap = cap * 2;
    map->index = ARENA_ARRAY(map->arena, int, map->index_cap);
    for (int i = 0; i < map->n; i++) {
        *find_place(map, entries[i].key) = i + 1;
    }
}

/* A new key goes to the end of the entries; an old one keeps its place in
 * the order. */
void
map_set(Map *map, const void *key, void *value)
{
    if (map->n == map->cap) {
        map_grow(map);
    }
    int *place = find_place(map, key);
    if (*place) {
        map->entries[*place - 1].value = value;
        return;
    }
    map->entries[map->n++] = (MapEntry){key, value};
    *place = map->n;
}

void
map_clear(Map *map)
{
    if (map->n > 0) {
        memset(map->index, 0, sizeof(int) * (size_t)map->index_cap);
        map->n = 0;
    }
}

/* Copies the tables and not the keys and values; entries added to one map
 * are not seen in the other. */
Map
map_copy(const Map *map)
{
    Map copy = *map;
    if (map->cap) {
        size_t entries = sizeof(MapEntry) * (size_t)map->cap;
        size_t index = sizeof(int) * (size_t)map->index_cap;
        copy.entries = arena_copy(map->arena, map->entries, entries);
        copy.index = arena_copy(map->arena, map->index, index);
    }
    return copy;
}
