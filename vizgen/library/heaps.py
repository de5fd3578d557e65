"""heapq's functions: the steps are those of CPython, so ties end up in the same
order.  Items are compared by `<` only, as there.
"""


def _down(heap, first, at):
    """The item at 'at' moves towards 'first' past those that are larger."""
    item = heap[at]
    while at > first:
        parent = (at - 1) >> 1
        if not item < heap[parent]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


def _up(heap, at):
    """The smaller child moves up until a leaf is free, where the item is put
    and moves back as far as it must."""
    end = len(heap)
    first = at
    item = heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    _down(heap, first, at)


def heappush(heap, item, /):
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap, /):
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _up(heap, 0)
    return first


def heapify(heap, /):
    for i in range(len(heap) // 2 - 1, -1, -1):
        _up(heap, i)


def heapreplace(heap, item, /):
    first = heap[0]
    heap[0] = item
    _up(heap, 0)
    return first


def heappushpop(heap, item, /):
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item
