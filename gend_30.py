def f(a):
    s = 0.0
    for i in range(a.shape[0]):
        s = ((s + (s + a[i, 0] + a[i, 1] + a[i, 2] + a[i, 3] + a[i, 4] + a[i, 5] + a[i, 6] + a[i, 7] + a[i, 8] + a[i, 9] + a[i, 10] + a[i, 11] + a[i, 12] + a[i, 13] + a[i, 14] + a[i, 15] + a[i, 16] + a[i, 17] + a[i, 18] + a[i, 19] + a[i, 20] + a[i, 21] + a[i, 22] + a[i, 23] + a[i, 24] + a[i, 25] + a[i, 26] + a[i, 27] + a[i, 28] + a[i, 29])) + a[i, 79]) + a[i, 78]
    return s
