static int
k_quantised_loop10(VzCtx *ctx,
    const int64_t img_0n1,
    const double *restrict img_0,
    int64_t lo, int64_t hi)
{
    int64_t fuel = ctx->fuel;
    for (int64_t y_11 = lo; y_11 < hi; y_11++) {
        if (vz_rare(--fuel < 0) && (fuel = vz_refuel(ctx)) < 0) {
            return VZ_INTERRUPT;
        }
        /* 9: for x in range(img.shape[1]): */
        const double *img_0r0 = &img_0[y_11 * img_0n1];
        int loop12_fails = 0;
#pragma omp simd reduction(|: loop12_fails)
        for (int64_t x_13 = 0; x_13 < img_0n1; x_13++) {
            /* 10: out[y, x] = int(img[y, x] * 255.0 + 0.5) */
            const double t_14 = img_0r0[x_13];
            const double t_15 = t_14 * 255.0;
            const double t_16 = t_15 + 0.5;
            loop12_fails |= !(vz_le(-0x1.0000000000000p63, t_16) & vz_lt(t_16, 0x1.0000000000000p63));
            const int64_t t_17 = vz_i64_f64(t_16);
            loop12_fails |= !((0 <= t_17) & (t_17 <= 255));
        }
        if (vz_rare(loop12_fails)) {
            return VZ_REPLAY;
        }
        fuel -= vz_max_i64(img_0n1 - 0L, 0) >> 3;
    }
    ctx->fuel = fuel;
    return VZ_OK;
}

struct k_quantised_env10 {
    const int64_t img_0n1;
    const double *restrict img_0;
};

static int
k_quantised_range10(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    const struct k_quantised_env10 *e = env;
    return k_quantised_loop10(ctx, e->img_0n1, e->img_0, lo, hi);
}

static int
k_quantised_loop2(VzCtx *ctx,
    const int64_t img_0n1,
    const double *restrict img_0,
    uint8_t *restrict out_1,
    const int64_t out_1n1,
    int64_t lo, int64_t hi)
{
    int64_t fuel = ctx->fuel;
    for (int64_t y_3 = lo; y_3 < hi; y_3++) {
        if (vz_rare(--fuel < 0) && (fuel = vz_refuel(ctx)) < 0) {
            return VZ_INTERRUPT;
        }
        /* 9: for x in range(img.shape[1]): */
        const double *img_0r0 = &img_0[y_3 * img_0n1];
        uint8_t *out_1r1 = &out_1[y_3 * out_1n1];
#pragma omp simd
        for (int64_t x_5 = 0; x_5 < img_0n1; x_5++) {
            /* 10: out[y, x] = int(img[y, x] * 255.0 + 0.5) */
            const double t_6 = img_0r0[x_5];
            const double t_7 = t_6 * 255.0;
            const double t_8 = t_7 + 0.5;
            const int64_t t_9 = vz_i64_f64(t_8);
            out_1r1[x_5] = (uint8_t)t_9;
        }
        fuel -= vz_max_i64(img_0n1 - 0L, 0) >> 3;
    }
    ctx->fuel = fuel;
    return VZ_OK;
}

struct k_quantised_env2 {
    const int64_t img_0n1;
    const double *restrict img_0;
    uint8_t *restrict out_1;
    const int64_t out_1n1;
};

static int
k_quantised_range2(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    const struct k_quantised_env2 *e = env;
    return k_quantised_loop2(ctx, e->img_0n1, e->img_0, e->out_1, e->out_1n1, lo, hi);
}

static int
k_quantised(VzCtx *ctx,
    const int64_t img_0n0,
    const int64_t img_0n1,
    const int64_t out_1n0,
    const int64_t out_1n1,
    const double *restrict img_0,
    uint8_t *restrict out_1)
{
    /* 7: def quantised(img, out): */
    if (vz_rare(!vz_disjoint(ctx->in + 0, 2, 8, ctx->in + 5, 2, 1))) {
        return VZ_BAIL;
    }
    /* 10: out[y, x] = int(img[y, x] * 255.0 + 0.5) */
    if (vz_rare(!(((img_0n0 <= 0) | (img_0n1 <= 0)) | (img_0n0 <= out_1n0)))) {
        return VZ_BAIL;
    }
    if (vz_rare(!(((img_0n0 <= 0) | (img_0n1 <= 0)) | (img_0n1 <= out_1n1)))) {
        return VZ_BAIL;
    }
    /* 8: for y in range(img.shape[0]): */
    struct k_quantised_env10 loop10_env = {img_0n1, img_0};
    const int loop10_status = ctx->host->parallel_for(
        ctx, k_quantised_range10, &loop10_env, 0, img_0n0,
        0.6 + vz_trips(0, img_0n1) / 4 * (0.3 + 3.4));
    if (loop10_status) {
        return loop10_status;
    }
    struct k_quantised_env2 loop2_env = {img_0n1, img_0, out_1, out_1n1};
    const int loop2_status = ctx->host->parallel_for(
        ctx, k_quantised_range2, &loop2_env, 0, img_0n0,
        0.6 + vz_trips(0, img_0n1) / 4 * (0.3 + 2.0));
    if (loop2_status) {
        return loop2_status;
    }
    return VZ_OK;
}

VZ_EXPORT int
vz_kernel(VzCtx *ctx)
{
    return k_quantised(ctx, ctx->in[1].i, ctx->in[2].i, ctx->in[6].i, ctx->in[7].i, ctx->in[0].p, ctx->in[5].p);
}

VZ_EXPORT const unsigned vz_abi = VZ_ABI;
