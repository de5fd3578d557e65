/* One shaded sphere, 320x480, one ray per pixel. */
#include "real.h"

typedef struct {
    REAL x, y, z;
} v3;
static inline v3
sub(v3 a, v3 b)
{
    return (v3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline v3
mul(v3 a, REAL s)
{
    return (v3){a.x * s, a.y * s, a.z * s};
}

static inline v3
over(v3 a, REAL s)
{
    return (v3){a.x / s, a.y / s, a.z / s};
}

static inline REAL
dot(v3 a, v3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline v3
unitv(v3 a)
{
    return over(a, K(sqrt(dot(a, a))));
}

static inline REAL
pow50(REAL x)
{
    REAL x2 = x * x, x4 = x2 * x2, x8 = x4 * x4, x16 = x8 * x8;
    return x16 * x16 * x16 * x2;
}

static inline REAL
shade(v3 dir, v3 light, v3 eye, v3 ball, int fast)
{
    v3 to = sub(ball, eye);
    REAL v = dot(dir, to), disc = K(22500) - (dot(to, to) - v * v);
    if (disc < 0) {
        return 0;
    }
    REAL t = v - K(sqrt(disc));
    v3 p = {eye.x + t * dir.x, eye.y + t * dir.y, eye.z + t * dir.z};
    v3 n = unitv(sub(p, ball)), l = unitv(sub(light, p));
    REAL dif = dot(l, n);
    v3 refl = sub(mul(n, 2 * dif), l);
    REAL rd = dot(refl, dir);
    REAL spec = fast ? pow50(rd) : K(pow(rd, 50.0));
    if (dif < 0) {
        dif = spec = 0;
    }
    REAL s = K(0.1) + K(0.6) * dif + K(0.3) * spec;
    return s > 1 ? 1 : s;
}

static inline void
render(REAL *out, double time, int fast)
{
    v3 eye = {160, 240, -800}, ball = {160, 240, 250};
    v3 light = {K(160 + 150 * cos(M_PI * time / 2)),
                K(240 + 150 * sin(M_PI * time / 2)), -400};
#pragma omp parallel for schedule(dynamic, 8)
    for (idx r = 0; r < 320; r++) {
        for (idx c = 0; c < 480; c++) {
            REAL *o = out + (r * 480 + c) * 3;
            v3 d = unitv(sub((v3){r, c, 0}, eye));
            o[0] = shade(d, light, eye, ball, fast);
            o[1] = o[2] = 0;
        }
    }
}

void
raytracer(REAL *out, double time)
{
    render(out, time, 0);
}

void
raytracer_pow50(REAL *out, double time)
{
    render(out, time, 1);
}
