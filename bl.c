static int
k_blend_u8_loop17(VzCtx *ctx,
    const double t_3,
    const int64_t a_0n1,
    const uint8_t *restrict a_0,
    const uint8_t *restrict b_1,
    const int64_t b_1n1,
    int64_t lo, int64_t hi)
{
    int64_t fuel = ctx->fuel;
    for (int64_t y_18 = lo; y_18 < hi; y_18++) {
        if (vz_rare(--fuel < 0) && (fuel = vz_refuel(ctx)) < 0) {
            return VZ_INTERRUPT;
        }
        /* 6: out[y, x] = int(a[y, x] * (1.0 - t) + b[y, x] * t) */
        const double t_22 = 1.0 - t_3;
        /* 5: for x in range(a.shape[1]): */
        const uint8_t *a_0r0 = &a_0[y_18 * a_0n1];
        const uint8_t *b_1r1 = &b_1[y_18 * b_1n1];
        int loop19_fails = 0;
#pragma omp simd reduction(|: loop19_fails)
        for (int64_t x_20 = 0; x_20 < a_0n1; x_20++) {
            /* 6: out[y, x] = int(a[y, x] * (1.0 - t) + b[y, x] * t) */
            const uint8_t t_21 = a_0r0[x_20];
            const double t_23 = (double)t_21;
            const uint8_t t_24 = b_1r1[x_20];
            const double t_25 = (double)t_24;
            const double t_26 = t_23 * t_22;
            const double t_27 = t_25 * t_3;
            const double t_28 = t_26 + t_27;
            loop19_fails |= !(vz_le(-0x1.0000000000000p63, t_28) & vz_lt(t_28, 0x1.0000000000000p63));
            const int64_t t_29 = vz_i64_f64(t_28);
            loop19_fails |= !((0 <= t_29) & (t_29 <= 255));
        }
        if (vz_rare(loop19_fails)) {
            return VZ_REPLAY;
        }
        fuel -= vz_max_i64(a_0n1 - 0L, 0) >> 3;
    }
    ctx->fuel = fuel;
    return VZ_OK;
}

struct k_blend_u8_env17 {
    const double t_3;
    const int64_t a_0n1;
    const uint8_t *restrict a_0;
    const uint8_t *restrict b_1;
    const int64_t b_1n1;
};

static int
k_blend_u8_range17(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    const struct k_blend_u8_env17 *e = env;
    return k_blend_u8_loop17(ctx, e->t_3, e->a_0n1, e->a_0, e->b_1, e->b_1n1, lo, hi);
}

static int
k_blend_u8_loop4(VzCtx *ctx,
    const double t_3,
    const int64_t a_0n1,
    const uint8_t *restrict a_0,
    const uint8_t *restrict b_1,
    const int64_t b_1n1,
    uint8_t *restrict out_2,
    const int64_t out_2n1,
    int64_t lo, int64_t hi)
{
    int64_t fuel = ctx->fuel;
    for (int64_t y_5 = lo; y_5 < hi; y_5++) {
        if (vz_rare(--fuel < 0) && (fuel = vz_refuel(ctx)) < 0) {
            return VZ_INTERRUPT;
        }
        /* 6: out[y, x] = int(a[y, x] * (1.0 - t) + b[y, x] * t) */
        const double t_9 = 1.0 - t_3;
        /* 5: for x in range(a.shape[1]): */
        const uint8_t *a_0r0 = &a_0[y_5 * a_0n1];
        const uint8_t *b_1r1 = &b_1[y_5 * b_1n1];
        uint8_t *out_2r2 = &out_2[y_5 * out_2n1];
#pragma omp simd
        for (int64_t x_7 = 0; x_7 < a_0n1; x_7++) {
            /* 6: out[y, x] = int(a[y, x] * (1.0 - t) + b[y, x] * t) */
            const uint8_t t_8 = a_0r0[x_7];
            const double t_10 = (double)t_8;
            const uint8_t t_11 = b_1r1[x_7];
            const double t_12 = (double)t_11;
            const double t_13 = t_10 * t_9;
            const double t_14 = t_12 * t_3;
            const double t_15 = t_13 + t_14;
            const int64_t t_16 = vz_i64_f64(t_15);
            out_2r2[x_7] = (uint8_t)t_16;
        }
        fuel -= vz_max_i64(a_0n1 - 0L, 0) >> 3;
    }
    ctx->fuel = fuel;
    return VZ_OK;
}

struct k_blend_u8_env4 {
    const double t_3;
    const int64_t a_0n1;
    const uint8_t *restrict a_0;
    const uint8_t *restrict b_1;
    const int64_t b_1n1;
    uint8_t *restrict out_2;
    const int64_t out_2n1;
};

static int
k_blend_u8_range4(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    const struct k_blend_u8_env4 *e = env;
    return k_blend_u8_loop4(ctx, e->t_3, e->a_0n1, e->a_0, e->b_1, e->b_1n1, e->out_2, e->out_2n1, lo, hi);
}

static int
k_blend_u8(VzCtx *ctx,
    const int64_t a_0n0,
    const int64_t a_0n1,
    const int64_t b_1n0,
    const int64_t b_1n1,
    const int64_t out_2n0,
    const int64_t out_2n1,
    const double t_3,
    const uint8_t *restrict a_0,
    const uint8_t *restrict b_1,
    uint8_t *restrict out_2)
{
    /* 3: def blend_u8(a, b, out, t): */
    if (vz_rare(!vz_disjoint(ctx->in + 0, 2, 1, ctx->in + 10, 2, 1))) {
        return VZ_BAIL;
    }
    if (vz_rare(!vz_disjoint(ctx->in + 5, 2, 1, ctx->in + 10, 2, 1))) {
        return VZ_BAIL;
    }
    /* 6: out[y, x] = int(a[y, x] * (1.0 - t) + b[y, x] * t) */
    if (vz_rare(!(((a_0n0 <= 0) | (a_0n1 <= 0)) | (a_0n0 <= b_1n0)))) {
        return VZ_BAIL;
    }
    if (vz_rare(!(((a_0n0 <= 0) | (a_0n1 <= 0)) | (a_0n1 <= b_1n1)))) {
        return VZ_BAIL;
    }
    if (vz_rare(!(((a_0n0 <= 0) | (a_0n1 <= 0)) | (a_0n0 <= out_2n0)))) {
        return VZ_BAIL;
    }
    if (vz_rare(!(((a_0n0 <= 0) | (a_0n1 <= 0)) | (a_0n1 <= out_2n1)))) {
        return VZ_BAIL;
    }
    /* 4: for y in range(a.shape[0]): */
    struct k_blend_u8_env17 loop17_env = {t_3, a_0n1, a_0, b_1, b_1n1};
    const int loop17_status = ctx->host->parallel_for(
        ctx, k_blend_u8_range17, &loop17_env, 0, a_0n0,
        0.9 + vz_trips(0, a_0n1) / 4 * (0.3 + 4.8));
    if (loop17_status) {
        return loop17_status;
    }
    struct k_blend_u8_env4 loop4_env = {t_3, a_0n1, a_0, b_1, b_1n1, out_2, out_2n1};
    const int loop4_status = ctx->host->parallel_for(
        ctx, k_blend_u8_range4, &loop4_env, 0, a_0n0,
        0.9 + vz_trips(0, a_0n1) / 4 * (0.3 + 3.3));
    if (loop4_status) {
        return loop4_status;
    }
    return VZ_OK;
}

VZ_EXPORT int
vz_kernel(VzCtx *ctx)
{
    return k_blend_u8(ctx, ctx->in[1].i, ctx->in[2].i, ctx->in[6].i, ctx->in[7].i, ctx->in[11].i, ctx->in[12].i, ctx->in[15].f, ctx->in[0].p, ctx->in[5].p, ctx->in[10].p);
}

VZ_EXPORT const unsigned vz_abi = VZ_ABI;
