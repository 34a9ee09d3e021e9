/* The loops of prism/kernels/source.py that a pair of formulas spends its time in, in C: the ceiling for numba.

   Same order of operations, same tests, same flags. Opcodes, flags and constants come from source.py as -D options, so
   that the two cannot drift apart; build with -O2 -ffp-contract=off and without -ffast-math. What the arrays hold is
   said there too. */

#include <math.h>
#include <stdint.h>

typedef int64_t i64;

static double larger(double a, double b) { return b > a ? b : a; }   /* as Python's max, NaN included */
static double smaller(double a, double b) { return b < a ? b : a; }

static double integer_power(double base, i64 exponent) {
    double result = 1.0, square = base;
    for (i64 n = exponent; n > 0;) {
        if (n & 1) result *= square;
        n >>= 1;
        if (n > 0) square *= square;
    }
    return result;
}

static i64 real_power(double p, double dp, double q, double dq, i64 k, double *value, double *bound) {
    double whole = floor(q + 0.5), sign = 1.0;
    if (fabs(p) <= POLE_MARGIN * dp || p == 0.0) {
        if (q > 0.0) {
            value[k] = 0.0;
            bound[k] = dp > 0.0 ? pow(2.0 * POLE_MARGIN * dp, smaller(q, 64.0)) : 0.0;
            return 0;
        }
        return POLE;
    }
    if (p < 0.0) {
        if (fabs(q - whole) > POLE_MARGIN * dq || fabs(whole) > 1e15) return DOMAIN;
        sign = fmod(whole, 2.0) == 0.0 ? 1.0 : -1.0;
        p = -p;
    }
    double log_p = log(p);
    if (fabs(q * log_p) > EXP_LIMIT) return RANGE;
    double v = sign * pow(p, q);
    value[k] = v;
    bound[k] = fabs(v) * (fabs(q) * dp / (p - dp) + fabs(log_p) * dq + 4.0 * ULP);
    return 0;
}

static double digamma(double p) {
    double total = 0.0;
    while (p < 8.0) {
        total -= 1.0 / p;
        p += 1.0;
    }
    double r = 1.0 / (p * p);
    return total + log(p) - 0.5 / p - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240)));
}

static i64 transcendental(i64 op, double p, double dp, double q, double dq, i64 n, i64 k, double *value,
                          double *bound) {
    double slope = 1.0, v, gap;
    switch (op) {
    case EXP:
        if (n == SATURATING && fabs(p) > SATURATION) {
            value[k] = p > 0.0 ? exp(SATURATION) : 0.0;
            bound[k] = p > 0.0 ? exp(SATURATION) / 256.0 : exp(-SATURATION);
            return 0;
        }
        if (fabs(p) > EXP_LIMIT || dp > 1.0) return RANGE;
        v = exp(p);
        slope = v * (1.0 + dp);
        break;
    case LN:
    case LOG10:
        if (fabs(p) <= POLE_MARGIN * dp || p == 0.0) return POLE;
        if (p < 0.0) return DOMAIN;
        v = op == LN ? log(p) : log10(p);
        slope = op == LN ? 1.0 / (p - dp) : 1.0 / ((p - dp) * LN10);
        break;
    case SIN:
        v = sin(p);
        slope = fabs(cos(p)) + dp;
        dp += ULP;
        break;
    case COS:
        v = cos(p);
        slope = fabs(sin(p)) + dp;
        dp += ULP;
        break;
    case TAN: {
        double c = cos(p);
        if (fabs(c) <= POLE_MARGIN * (dp + ULP * fabs(p))) return POLE;
        v = tan(p);
        slope = 1.0 / (c * c);
        break;
    }
    case POW:
        return real_power(p, dp, q, dq, k, value, bound);
    case ROOT: {
        if (p < 0.0 && n % 2 == 0) {
            if (p < -POLE_MARGIN * dp) return DOMAIN;
            p = 0.0;
        }
        double magnitude = p != 0.0 ? pow(fabs(p), 1.0 / (double)n) : 0.0;
        v = p >= 0.0 ? magnitude : -magnitude;
        slope = fabs(p) > 2.0 * dp ? magnitude / ((double)n * fabs(p)) : 0.0;
        if (fabs(p) <= 2.0 * dp && dp > 0.0) slope = 2.0 * pow(3.0 * dp, 1.0 / (double)n) / dp;
        break;
    }
    case ABS:
        v = fabs(p);
        break;
    case ASIN:
    case ACOS:
        if (fabs(p) > 1.0 + POLE_MARGIN * dp) return DOMAIN;
        p = smaller(1.0, larger(-1.0, p));
        v = op == ASIN ? asin(p) : acos(p);
        gap = 1.0 - p * p;
        slope = gap > 4.0 * dp ? 1.0 / sqrt(gap) : 2.0 / sqrt(4.0 * dp + ULP);
        break;
    case ATAN:
        v = atan(p);
        slope = 1.0 / (1.0 + p * p);
        break;
    case SINH:
    case COSH:
        if (n == SATURATING && fabs(p) > SATURATION) {
            p = p > 0.0 ? SATURATION : -SATURATION;
            dp = 1.0 / 512.0;
        }
        if (fabs(p) > EXP_LIMIT || dp > 1.0) return RANGE;
        v = op == SINH ? sinh(p) : cosh(p);
        slope = 2.0 * cosh(p);
        break;
    case TANH:
        v = tanh(p);
        slope = 1.0 - v * v + dp;
        break;
    case ASINH:
        v = asinh(p);
        slope = fabs(p) < 1e150 ? 1.0 / sqrt(1.0 + p * p) : 1.0 / fabs(p);
        break;
    case ACOSH:
        if (p < 1.0 - POLE_MARGIN * dp) return DOMAIN;
        p = larger(1.0, p);
        v = acosh(p);
        gap = p - 1.0;
        slope = gap > 4.0 * dp ? 1.0 / sqrt(gap * (p + 1.0)) : 2.0 / sqrt(4.0 * dp + ULP);
        break;
    case ATANH:
        if (fabs(fabs(p) - 1.0) <= POLE_MARGIN * dp) return POLE;
        if (fabs(p) > 1.0) return DOMAIN;
        v = atanh(p);
        slope = 1.0 / (1.0 - p * p);
        break;
    case FLOOR:
        value[k] = fabs(p) < 1e15 ? floor(p + POLE_MARGIN * dp) : p;
        bound[k] = 0.0;
        return 0;
    case STEP:
        if (p != 0.0 && fabs(p) <= POLE_MARGIN * dp) return RANGE;
        value[k] = p >= 0.0 ? 1.0 : 0.0;
        bound[k] = 0.0;
        return 0;
    case FACTORIAL:
        if (p <= -0.5 || p > FACTORIAL_LIMIT) return p <= -0.5 ? DOMAIN : RANGE;
        v = tgamma(p + 1.0);
        slope = fabs(v * digamma(p + 1.0)) + v;
        dp += 8.0 * ULP;
        break;
    case ATAN2: {
        double reach = sqrt(p * p + q * q);
        if (reach <= POLE_MARGIN * (dp + dq) || !(TINY < reach && reach < LARGE)) return reach < 1.0 ? POLE : RANGE;
        if (q < 0.0 && fabs(p) <= POLE_MARGIN * dp && p != 0.0) return RANGE;
        v = atan2(p, q);
        slope = 1.0;
        dp = (dp + dq) / (reach - dp - dq);
        break;
    }
    default:
        return DOMAIN;
    }
    double e = slope * dp + 2.0 * ULP * fabs(v);
    if (!(-LARGE < v && v < LARGE && e < LARGE)) return RANGE;
    value[k] = v;
    bound[k] = e;
    return 0;
}

static i64 evaluate(const i64 *code, const double *consts, const i64 *dep, i64 n_op, const double *x, i64 hold,
                    double *value, double *bound) {
    for (i64 k = 0; k < n_op; k++) {
        if (dep[k] & hold) continue;
        i64 op = code[3 * k], a = code[3 * k + 1], b = code[3 * k + 2];
        double p, q, v, e;
        switch (op) {
        case MUL:
            p = value[a];
            q = value[b];
            v = p * q;
            if (v == 0.0 && p != 0.0 && q != 0.0) return RANGE;
            e = fabs(p) * bound[b] + fabs(q) * bound[a] + bound[a] * bound[b] + ULP * fabs(v);
            break;
        case NUM:
            v = consts[3 * a];
            e = consts[3 * a + 1];
            break;
        case SYM:
            v = x[a];
            e = ULP * fabs(v);
            break;
        case ADD:
            v = value[a] + value[b];
            e = bound[a] + bound[b] + ULP * fabs(v);
            break;
        case SUB:
            v = value[a] - value[b];
            e = bound[a] + bound[b] + ULP * fabs(v);
            break;
        case IPOW: {
            i64 n = b >= 0 ? b : -b;
            p = value[a];
            if (b < 0 && fabs(p) <= POLE_MARGIN * bound[a]) return POLE;
            v = integer_power(p, n);
            if (v == 0.0 && p != 0.0) return RANGE;
            if (!(v < LARGE) || !(v > -LARGE)) return RANGE;
            if (b < 0) v = 1.0 / v;
            if (fabs(p) > bound[a])
                e = fabs(v) * (double)n * (bound[a] / (fabs(p) - bound[a]) + ULP);
            else
                e = n > 0 ? integer_power(2.0 * bound[a], n) : 0.0;
            break;
        }
        case DIV:
            p = value[a];
            q = value[b];
            if (fabs(q) <= POLE_MARGIN * bound[b]) return POLE;
            v = p / q;
            if (v == 0.0 && p != 0.0) return RANGE;
            e = (bound[a] + fabs(v) * bound[b]) / (fabs(q) - bound[b]) + ULP * fabs(v);
            break;
        case NEG:
            v = -value[a];
            e = bound[a];
            break;
        case SQRT:
            p = value[a];
            if (p < -POLE_MARGIN * bound[a]) return DOMAIN;
            v = p > 0.0 ? sqrt(p) : 0.0;
            e = v * v > 4.0 * bound[a] ? bound[a] / v + ULP * v : 2.0 * sqrt(bound[a]) + ULP * v;
            break;
        case WIDEN:
            v = value[a];
            e = bound[a] + fabs(value[b]) + bound[b];
            if (e > NO_CASE) return NOWHERE;
            break;
        default: {
            int two = op == POW || op == ATAN2;
            i64 flag = transcendental(op, value[a], bound[a], two ? value[b] : 0.0, two ? bound[b] : 0.0, b, k, value,
                                      bound);
            if (flag) return flag;
            continue;
        }
        }
        if (!(-LARGE < v && v < LARGE && e < LARGE)) return RANGE;
        value[k] = v;
        bound[k] = e;
    }
    return 0;
}

static double slope_of(i64 op, double p, i64 n, double v) {
    double gap;
    switch (op) {
    case NEG:
        return -1.0;
    case IPOW:
        if (p == 0.0) return n == 1 ? 1.0 : 0.0;
        return (double)n * v / p;
    case SQRT:
        return v > 1e-150 ? 0.5 / v : 0.0;
    case ROOT:
        return p != 0.0 ? v / ((double)n * p) : 0.0;
    case ABS:
        return p > 0.0 ? 1.0 : p < 0.0 ? -1.0 : 0.0;
    case EXP:
        return v;
    case LN:
        return 1.0 / p;
    case LOG10:
        return 1.0 / (p * LN10);
    case SIN:
        return cos(p);
    case COS:
        return -sin(p);
    case TAN:
        return 1.0 + v * v;
    case ASIN:
    case ACOS:
        gap = 1.0 - p * p;
        if (gap <= 0.0) return 0.0;
        return op == ASIN ? 1.0 / sqrt(gap) : -1.0 / sqrt(gap);
    case ATAN:
        return 1.0 / (1.0 + p * p);
    case SINH:
        return cosh(p);
    case COSH:
        return sinh(p);
    case TANH:
        return 1.0 - v * v;
    case ASINH:
        return fabs(p) < 1e150 ? 1.0 / sqrt(1.0 + p * p) : 1.0 / fabs(p);
    case ACOSH:
        gap = (p - 1.0) * (p + 1.0);
        return gap > 0.0 ? 1.0 / sqrt(gap) : 0.0;
    case ATANH:
        return 1.0 / (1.0 - p * p);
    case FACTORIAL:
        return v * digamma(p + 1.0);
    default:
        return 0.0;
    }
}

static void gradient(const i64 *code, i64 n_op, i64 n_var, const double *value, double *adjoint, double *grad) {
    for (i64 k = 0; k < n_op; k++) adjoint[k] = 0.0;
    for (i64 v = 0; v < n_var; v++) grad[v] = 0.0;
    adjoint[n_op - 1] = 1.0;
    for (i64 k = n_op - 1; k >= 0; k--) {
        double w = adjoint[k], p, q;
        if (w == 0.0) continue;
        i64 op = code[3 * k], a = code[3 * k + 1], b = code[3 * k + 2];
        switch (op) {
        case NUM:
            break;
        case SYM:
            grad[a] += w;
            break;
        case MUL:
            adjoint[a] += w * value[b];
            adjoint[b] += w * value[a];
            break;
        case ADD:
            adjoint[a] += w;
            adjoint[b] += w;
            break;
        case SUB:
            adjoint[a] += w;
            adjoint[b] -= w;
            break;
        case DIV:
            if (value[b] != 0.0) {
                adjoint[a] += w / value[b];
                adjoint[b] -= w * value[k] / value[b];
            } else {
                adjoint[a] = NAN;
                adjoint[b] = NAN;
            }
            break;
        case POW:
            p = value[a];
            q = value[b];
            if (p != 0.0) {
                adjoint[a] += w * q * value[k] / p;
                if (p > 0.0) adjoint[b] += w * value[k] * log(p);
            } else if (q == 1.0) {
                adjoint[a] += w;
            }
            break;
        case WIDEN:
            adjoint[a] += w;
            break;
        case ATAN2:
            p = value[a];
            q = value[b];
            adjoint[a] += w * q / (p * p + q * q);
            adjoint[b] -= w * p / (p * p + q * q);
            break;
        default:
            adjoint[a] += w * slope_of(op, value[a], b, value[k]);
        }
    }
}

static i64 in_principal_range(const i64 *code, i64 n_op, const double *value) {
    for (i64 k = 0; k < n_op; k++) {
        i64 op = code[3 * k];
        if (op == SIN || op == COS || op == TAN) {
            double p = value[code[3 * k + 1]];
            if (op == COS && !(0.0 <= p && p <= 2.0 * HALF_PI)) return 0;
            if (op != COS && !(-HALF_PI <= p && p <= HALF_PI)) return 0;
        }
    }
    return 1;
}

static double spread_of(const i64 *code, const double *consts, i64 n_op, const double *value, const double *adjoint) {
    double total = 0.0;
    for (i64 k = 0; k < n_op; k++)
        if (code[3 * k] == NUM) total += fabs(adjoint[k] * value[k]) * consts[3 * code[3 * k + 1] + 2];
    return total;
}

static double scale_of(double x) { return x != 0.0 ? fabs(x) : 1.0; }

static i64 weigh_residual(i64 n_var, const double *x, const double *grad, double f, double slack, double spread,
                          i64 rules, i64 *out) {
    double least = LARGE, most = 0.0;
    for (i64 v = 0; v < n_var; v++) {
        double effect = fabs(grad[v]) * scale_of(x[v]);
        if (effect > 0.0) out[TOUCHED] |= (i64)1 << v;
        if (effect > INFORMATIVE * slack) {
            out[LIVE] |= (i64)1 << v;
            least = smaller(least, effect);
            most = larger(most, effect);
        }
    }
    if (most == 0.0) return f > BORDER * slack ? MISMATCH : SKIPPED;
    if (rules & MEASURED) {
        if (f > smaller(spread, SPREAD_SHARE * least) + TOLERANCE * least + slack) return MISMATCH;
        if (spread > SPREAD_LIMIT * least) return IMPRECISE;
    }
    double threshold = (rules & EXACT ? FINE_TOLERANCE : TOLERANCE) * least + slack;
    if ((rules & MEASURED) == 0 && f > BORDER * threshold) return MISMATCH;
    if (slack > CONDITION * most) return SKIPPED;
    return (rules & MEASURED) == 0 && f > threshold ? BORDERLINE : AGREED;
}

/* Whether there is no pole beside this one: a denominator that is lost in rounding is lost there too. */
static int is_isolated_pole(const i64 *code, const double *consts, const i64 *dep, i64 n_op, i64 n_var, double *x,
                            double *value, double *bound) {
    for (i64 v = 0; v < n_var; v++) x[v] *= 1.0 + ASIDE * (1.0 + 0.1 * (double)v);
    i64 flag = evaluate(code, consts, dep, n_op, x, 0, value, bound);
    for (i64 v = 0; v < n_var; v++) x[v] /= 1.0 + ASIDE * (1.0 + 0.1 * (double)v);
    return flag != POLE;
}

static void cross(const i64 *code, const double *consts, const i64 *dep, i64 n_op, i64 n_var, const double *draws,
                  i64 n_draw, const i64 *slot_of, const i64 *spot, const double *root, i64 n_point, i64 rules,
                  double *x, double *value, double *bound, double *adjoint, double *grad, i64 *out) {
    for (i64 i = 0; i < N_OUT; i++) out[i] = 0;
    out[MISMATCH] = -1;
    for (i64 i = 0; i < n_point; i++) {
        i64 d = spot[3 * i], solved = slot_of[spot[3 * i + 1]];
        for (i64 v = 0; v < n_var; v++) x[v] = draws[v * n_draw + d];
        if (solved >= 0) x[solved] = root[3 * i];
        i64 flag = evaluate(code, consts, dep, n_op, x, 0, value, bound);
        int pole = flag == POLE && spot[3 * i + 2] & TELLING && rules & POLES_COUNT;
        if (flag == NOWHERE || (pole && is_isolated_pole(code, consts, dep, n_op, n_var, x, value, bound))) {
            out[MISMATCH] = i;
            out[POLED] = 1;
            return;
        }
        int outside = (spot[3 * i + 2] & PRINCIPAL) == 0;
        if (flag != 0 || (rules & IN_RANGE && (outside || in_principal_range(code, n_op, value) == 0))) {
            out[SKIPPED] += 1;
            continue;
        }
        gradient(code, n_op, n_var, value, adjoint, grad);
        double slack = bound[n_op - 1];
        double spread = rules & MEASURED ? spread_of(code, consts, n_op, value, adjoint) : 0.0;
        if (solved >= 0) {
            double effect = fabs(grad[solved]) * scale_of(x[solved]);
            slack += root[3 * i + 1] * effect;
            spread += root[3 * i + 2] * effect;
        }
        i64 found = weigh_residual(n_var, x, grad, fabs(value[n_op - 1]), slack, spread, rules, out);
        if (found == MISMATCH) {
            out[MISMATCH] = i;
            return;
        }
        out[found] += 1;
        if (found == AGREED) out[SERVED] |= (i64)1 << spot[3 * i + 1];
    }
}

/* The loops: the twins of those in pool.py, whose arrays these are. `at` has a row of five for each formula: where its
   instructions, constants, variables, points and draws begin; `size` a row of three: instructions, variables, points. */

void all_pairs(i64 n, i64 n_draw, const i64 *code, const double *consts, const i64 *dep, const i64 *names,
               const double *draws, const i64 *spot, const double *root, const i64 *at, const i64 *size,
               const i64 *rules, i64 *place, i64 *slot_of, double *x, double *value, double *bound, double *adjoint,
               double *grad, i64 *out) {
    for (i64 i = 0; i < n; i++) {
        const i64 *mine = at + 5 * i;
        i64 n_op = size[3 * i], n_var = size[3 * i + 1];
        for (i64 v = 0; v < n_var; v++) place[names[mine[2] + v]] = v;
        for (i64 j = 0; j < n; j++) {
            const i64 *its = at + 5 * j;
            for (i64 w = 0; w < size[3 * j + 1]; w++) slot_of[w] = place[names[its[2] + w]];
            cross(code + 3 * mine[0], consts + 3 * mine[1], dep + mine[0], n_op, n_var, draws + mine[4], n_draw,
                  slot_of, spot + 3 * its[3], root + 3 * its[3], size[3 * j + 2], rules[i * n + j], x, value, bound,
                  adjoint, grad, out + (i * n + j) * N_OUT);
        }
        for (i64 v = 0; v < n_var; v++) place[names[mine[2] + v]] = -1;
    }
}

void all_draws(i64 n, i64 n_draw, const i64 *code, const double *consts, const i64 *dep, const double *draws,
               const i64 *at, const i64 *size, double *x, double *value, double *bound, double *adjoint, double *grad,
               i64 *flags, double *values, double *bounds, double *slopes) {
    for (i64 i = 0; i < n; i++) {
        const i64 *mine = at + 5 * i;
        i64 n_op = size[3 * i], n_var = size[3 * i + 1];
        for (i64 d = 0; d < n_draw; d++) {
            for (i64 v = 0; v < n_var; v++) x[v] = draws[mine[4] + v * n_draw + d];
            i64 flag = evaluate(code + 3 * mine[0], consts + 3 * mine[1], dep + mine[0], n_op, x, 0, value, bound);
            flags[i * n_draw + d] = flag;
            if (flag != 0) continue;
            gradient(code + 3 * mine[0], n_op, n_var, value, adjoint, grad);
            values[i * n_draw + d] = value[n_op - 1];
            bounds[i * n_draw + d] = bound[n_op - 1];
            for (i64 v = 0; v < n_var; v++) slopes[mine[4] + v * n_draw + d] = grad[v];
        }
    }
}
