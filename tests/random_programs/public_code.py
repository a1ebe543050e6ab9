"""Phrases for statements that public kernels have and the other lists lack; the holes are those of `phrases`."""

from __future__ import annotations

FOR_CUDA = """
HELPER float turned(float v) { return __int_as_float(__float_as_int(v) ^ 0x80000000); }
HELPER double turned(double v) { return __longlong_as_double(__double_as_longlong(v) ^ (1LL << 63)); }
HELPER float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
HELPER float3 operator*(float s, const float3 &a) { return make_float3(s * a.x, s * a.y, s * a.z); }
HELPER float3 &operator-=(float3 &a, float3 b) { a.x -= b.x; a.y -= b.y; a.z -= b.z; return a; }
HELPER float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HELPER double2 operator*(double2 a, double2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
HELPER double2 operator+(const double2 &a, const double2 &b) { return make_double2(a.x + b.x, a.y + b.y); }
HELPER void added(float *to, float v)
{
    int *at = (int *)to, there = *at, seen;
    do {
        seen = there;
        there = atomicCAS(at, seen, __float_as_int(v + __int_as_float(seen)));
    } while (seen != there);
}
HELPER void added(double *to, double v)
{
    unsigned long long *at = (unsigned long long *)to, there = *at, seen;
    do {
        seen = there;
        there = atomicCAS(at, seen, __double_as_longlong(v + __longlong_as_double(seen)));
    } while (seen != there);
}
"""

HELPERS = """
template <class T> struct Cell {
    T mass, charge;
    T at[2];
    HELPER T product(T by) const { return mass * charge * by; }
    HELPER T apart(T by) const { return mass - charge * by; }
    HELPER T operator()(T by) { return charge += by * mass; }
    HELPER static Cell of(T a, T b) { Cell c = {a, b, {b, a}}; return c; }
};
template <class T, template <class> class Holder> struct Outer {
    Holder<T> in, kept;
    template <int K> struct Inner { T v[K]; HELPER T sum() const { T s = 0; for (T e : v) s += e * e; return s; } };
    HELPER Outer(Holder<T> a) : in(a), kept(a) {}
    HELPER const Holder<T> &last() const { return kept; }
};
template <class Self, class T> struct Shape {
    HELPER T twice(T v) const { return 2 * static_cast<const Self *>(this)->area(v); }
};
template <class T> struct Disc : Shape<Disc<T>, T> { T r; HELPER T area(T v) const { return r * r + v; } };
template <class T> struct Bits { unsigned low : 5, high : 3; T v; };
template <class T> HELPER T guarded(T a, T b)
{
    T q = a / b;
    if (fabs(b) < T(1e-6)) q = 0;
    return q;
}
template <class T> HELPER int collatz(int k, T &v)
{
    if (k <= 1) return 0;
    v *= T(0.9);
    return 1 + collatz(k % 2 ? 3 * k + 1 : k / 2, v);
}
"""

OBJECTS = (
    """{ $T Cell<$T>::*@m = $m % 2 ? &Cell<$T>::mass : &Cell<$T>::charge; Cell<$T> @c = Cell<$T>::of($v, $f);
    for (int @k = 0; @k < $k; @k++) { @c.*@m = $c * @c.*@m + $A[@k % $N]; @m = $q ? &Cell<$T>::charge : @m; }
    $f = tanh(@c.product($T($c))); }""",
    """{ $T (Cell<$T>::*@g)($T) const = $q ? &Cell<$T>::product : &Cell<$T>::apart; Cell<$T> @c = Cell<$T>::of($f, $v);
    @c.at[$m & 1] = @c($T($c)); $f = $c * (@c.*@g)($v) + @c.at[0] * @c.at[1]; }""",
    """{ Outer<$T, Cell> @o(Cell<$T>::of($v, $f)); typename Outer<$T, Cell>::template Inner<$k + 1> @in = {{$f, $v}};
    @o.in.at[0] += $A[0]; $f = tanh(@in.sum() + @o.last().apart(@o.in.at[0]) - @o.kept.at[1]); }""",
    """{ Disc<$T> @d; @d.r = $f; $f = tanh($c * @d.twice($v) - @d.area($A[1])); }""",
    """{ Bits<$T> @b; @b.low = $m; @b.high = 0; @b.v = $v; for (int @k = 0; @k < $k; @k++) { @b.high += @b.low;
    @b.low ^= 5;
    @b.v = @b.high > 3 ? @b.v * $T($c) : @b.v + $f; } $f = @b.v + $T(0.01) * @b.low; }""",
    """{ $T @w = $f; int @steps = collatz($m % 7 + 1, @w); $f = @w + $T(0.02) * @steps * $v; }""",
    """{ Cell<$T> @c[3]; for (Cell<$T> *@p = @c; @p != @c + 3; ++@p) *@p = {$v, $A[(@p - @c) % $N], {$f, $T($c)}};
    Cell<$T> @t = @c[$m % 3]; @c[$m % 3] = @c[0]; @c[0] = @t; $f = $c * @c[1].product(@c[2].at[0]) + @c[0].charge; }""",
)

WAYS = (
    """{ for (int @a = 0; @a < $N; @a++) for (int @b = 0; @b < $k; @b++) { $f = $c * $f + $A[@a] * $T(@b + 1) * $T(0.1);
    if ($f > $L) goto @out; } $f -= $c; @out:; }""",
    """{ int @k = 0; @again: $f = $c * $f + $A[@k % $N]; if (++@k < $k + 1 && $f < $L) goto @again; $f += $T(0.01) *
    @k; }""",
    """{ $T @s = 0; int @k = $m % 9; switch (@k & 3) { case 3: @s += $A[(@k + 2) % $N]; case 2: @s += $c * $A[(@k +
    1) % $N];
    case 1: @s += $A[@k % $N] * $v; case 0: break; } $f = $c * $f + @s; }""",
    """{ $T @s = 0; for (int @k = $m % n; @k < n; @k += $m % 6 + 4) @s += x[@k] * $c - w[@k] * $f; $f = tanh(@s); }""",
    """{ int @flat = ($m * 7 + i) % 24, @z = @flat / 12, @y = @flat / 4 % 3, @x = @flat % 4; $T @g[2][3][4];
    for (int @k = 0; @k < 24; @k++) @g[@k / 12][@k / 4 % 3][@k % 4] = x[(i + @k) % n] * $T(0.5);
    @g[@z][@y][@x] += $f; $f = $c * @g[1 - @z][@y][(@x + 1) & 3] + @g[@z][(@y + 1) % 3][@x] * @g[@z][@y][@x]; }""",
    """{ $T @old = $f; for (int @k = 0; @k < $k + 1; @k++) { $T @new = @old - (@old * @old * @old - $v) /
    (3 * @old * @old + $T(0.5)); if (fabs(@new - @old) <= $T(1e-3) * fabs(@new)) { @old = @new; break; } @old = @new; }
    $f = $c * @old; }""",
)

EDGES = (
    """{ $T @r = 1 / $f; if ($f == 0) @r = $T($c); $f = tanh(@r) * $c + $v; }""",
    """{ $T @a = $v, @b = $f, @len = sqrt(@a * @a + @b * @b), @inv = @len > $T(1e-6) ? 1 / @len : $T(0);
    $f = @a * @inv - $c * @b * @inv; }""",
    """$f = $c * tanh(guarded($v, $f)) + $c * sin(guarded($A[0], $A[1]));""",
    """$f = $c * pow(fabs($f) + $T(0.1), $T($m % 3)) + pow($v, $T(2)) - pow(fabs($A[0]) + $T(0.2), $A[1]);""",
    """$f = fmax(log(fabs($f)), $T(-3)) * $c + fmin(sqrt(fabs($v)), $T(0.9)) * $v;""",
    """$f = log(fabs($v) + $T(1e-30)) * $T(0.01) + exp($T(-60) - fabs($f)) + $c * $f;""",
    """$f = fmaxf(0.f, fminf(1.f, (float)($f))) * $c + ($v > 0 ? $v : $T($c) * (exp($v) - 1));""",
    """{ $T @s = 0; for (int @k = 0; @k < $N; @k++) { $T @d = $A[@k] - $f, @q = @d * @d, @e = @d / @q;
    if (@q == 0) @e = 0; @s += @e / (1 + @e * @e); } $f = $c * @s; }""",
    """{ $T @m = fmax(fmax($f, $v), $A[0]), @z = exp($f - @m) + exp($v - @m) + exp($A[0] - @m);
    $f = $c * (@m + log(@z)) - exp($v - @m) / @z; }""",
    """$f = $c * atan2($f, $v) + hypot($f, $A[0]) * $T(0.3) - cbrt($v * $v + $T(0.01)) + erf($f);""",
    """{ $T @u = fabs($f), @r = @u < $T(0.3) ? $T(0.5) * @u * @u : $T(0.3) * (@u - $T(0.15)); $f = @r - $c * $v; }""",
)

ON_GPU = (
    """$f = $c * turned($f) + __ldg(&x[$i]) * $v;""",
    """{ float3 @a = make_float3((float)$f, (float)$v, 0.3f), @b = {0.2f, (float)$A[0], (float)$A[1]};
    for (int @k = 0; @k < $k; @k++) { @a = @a + 0.4f * @b; @b -= 0.3f * @a; if (dot(@a, @b) > 0.8f) break; }
    $f = $T(tanhf(dot(@a, @b))) * $c; }""",
    """{ double2 @z = {0.1, (double)$f}, @c = make_double2((double)($v), 0.2); for (int @k = 0; @k < $k + 1; @k++) {
    @z = @z * @z + @c; if (@z.x * @z.x + @z.y * @z.y > 2.) break; } $f = $T(tanh(@z.x + @z.y)); }""",
    """$f = $c * $T(__fdividef((float)$f, 1.5f + (float)($v) * (float)($v))) + $T(__saturatef((float)$v)) * $f;""",
    """$f = $c * $T(__expf(-(float)($f) * (float)($f))) + fma($f, $T($c), $v) + rsqrt($f * $f + $T(0.3));""",
)

TOGETHER = (
    """{ $T @s = $f; for (int @o = 4; @o > 0; @o >>= 1) @s += __shfl_down_sync(0xffffffffu, @s, @o, 8);
    $f = $c * $f + $T(0.2) * __shfl_sync(0xffffffffu, @s, 0, 8); }""",
    """{ $T @s = $v; @s = fmax(@s, __shfl_xor_sync(0xffffffffu, @s, 2, 4)); @s -= $c * __shfl_up_sync(0xffffffffu,
    @s, 1, 16);
    $f = $c * $f + @s; }""",
    """if (lane < 4) bins[lane] = 0; __syncthreads(); added(&bins[idx[$i] & 3], $f); __syncthreads();
    $f = $c * $f + $T(0.1) * bins[lane & 3]; __syncthreads();""",
    """{ extern __shared__ char room[]; int *@n = reinterpret_cast<int *>(room); $T *@a = ($T *)(room + WIDTH *
    sizeof($T));
    @n[lane] = (lane * 3 + $k) % WIDTH; @a[lane] = $f; __syncthreads(); $f = $c * $f + @a[@n[lane]]; __syncthreads();
    @a[@n[(lane + 1) % WIDTH]] = $v; __syncthreads(); $f += $c * @a[lane]; __syncthreads(); }""",
    """{ using Two = typename Wide<$T>::two; __shared__ alignas(16) $T @line[WIDTH * 2]; Two @p; @p.x = $f; @p.y = $v;
    reinterpret_cast<Two *>(@line)[lane] = @p; __syncthreads(); $f = $c * @line[(lane + WIDTH) % (2 * WIDTH)] +
    @line[lane];
    __syncthreads(); }""",
    """for (int @k = 0; @k < $k; @k++) { if (lane == @k) { tile[0] = $f; other[0] = $T(@k); } __syncthreads();
    $f = $c * $f + tile[0] * $T(0.2) + other[0] * $T(0.01); __syncthreads(); }""",
    """if (__syncthreads_count($f > $L) > $k) { tile[lane] = $f; __syncthreads(); $f = tile[WIDTH - 1 - lane] * $c;
    __syncthreads(); } if (__syncthreads_and($f < $L)) $f += $c * $v;""",
    """{ auto @g = cg::coalesced_threads();
    $f = $c * $f + $c * @g.shfl($v, @g.thread_rank()) + $T(0.01) * (@g.thread_rank() < @g.size()); }""",
    """if ($f > $L) { auto @g = cg::coalesced_threads(); $T @s = @g.shfl($f, @g.thread_rank()); $f = $c * $f +
    (@g.thread_rank() < @g.size() ? @s : $T(0)); } __syncwarp();""",
    """{ $T @r = tile[lane] = $f; __syncthreads(); if (lane > 0 && tile[lane - 1] < @r) @r = tile[lane - 1]; if (lane
    + 1 < WIDTH
    && tile[lane + 1] > @r) @r += $c * tile[lane + 1]; __syncthreads(); $f = @r; }""",
)

LANES = (
    """if (lane % 8 < 6) { unsigned @on = __activemask(); $f = $c * $f + $c * __shfl_sync(@on, $f, lane % 32); }""",
    """{ __shared__ $T @s[64]; if (lane % 32 >= 24 + $k) return; @s[lane] = $f; __syncthreads();
    if (__syncthreads_or($v > $T($c))) $f *= $c; $f += $c * @s[lane / 32 * 32 + lane % 4]; __syncthreads();
    $f -= $T(0.01) * __syncthreads_count($f > 0); }""",
)

STORES = (
    """{ y[i] = 0; for (int @k = $m % 3; @k < $N; @k += $m % 3 + 1) { if ($A[@k] > $L) { y[i] -= $f; goto @out; }
    y[i] += $c * $A[@k]; } y[i] *= $f; @out:; }""",
    """y[i] = $f; { $T &@to = y[i]; @to = @to > 0 ? @to * @to : $T($c) * @to; @to -= $v; }""",
)

SHARED_STORES = ("""added(&z[$i], $v);""", """if ($q) added(z + idx[$i], $f);""")

ALONE = (*OBJECTS, *WAYS, *EDGES)
