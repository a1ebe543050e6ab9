"""Phrases out of simulations and graphics: memory that a block shares by barriers, halos, trees, interpolation.

The holes are those of `phrases`; `inside` says of a kernel whose threads work together whether this one has a point.
"""

from __future__ import annotations

FOR_CPP = """
#include <cstring>
"""

HELPERS = """
template <class T> HELPER void multiplied(T (*a)[2], const T (&b)[2][2])
{
    for (int r = 0; r < 2; r++) {
        T kept[2] = {a[r][0], a[r][1]};
        for (int k = 0; k < 2; k++) a[r][k] = T(0.5) * (kept[0] * b[0][k] + kept[1] * b[1][k]);
    }
}
template <class T> struct Grid {
    const T *cells;
    int width, height;
    HELPER T at(int r, int c) const
    {
        if (r < 0 || c < 0 || r >= height || c >= width) return T(0);
        return cells[r * width + c];
    }
    HELPER T between(T r, T c) const
    {
        int low = (int)floor(r), left = (int)floor(c);
        T down = r - low, right = c - left;
        return (at(low, left) * (1 - right) + at(low, left + 1) * right) * (1 - down)
            + (at(low + 1, left) * (1 - right) + at(low + 1, left + 1) * right) * down;
    }
};
template <class T> struct Sphere { T x, y, radius; };
template <class T> HELPER bool hit(const Sphere<T> &s, T ox, T dx, T &nearest)
{
    T b = (s.x - ox) * dx, c = (s.x - ox) * (s.x - ox) + s.y * s.y - s.radius * s.radius;
    T d = b * b - c;
    if (d <= T(1e-3)) return false;
    T t = b - sqrt(d);
    if (t < T(0.05) || t >= nearest) return false;
    nearest = t;
    return true;
}
"""

ALONE = (
    """{ int @nodes[9], @top = 0; @nodes[@top++] = 1; $T @s = 0; while (@top > 0) { int @n = @nodes[--@top];
    if (@n >= 8) { @s += $c * x[@n % n] * w[(@n + i) % n]; continue; } if (x[@n % n] < $f) @nodes[@top++] = 2 * @n;
    if (w[@n % n] > -$T($c)) @nodes[@top++] = 2 * @n + 1; } $f = $c * $f + @s; }""",
    """{ int @n = 1; while (@n < 16) { $T @plane = x[(@n * 3) % n]; $f = $c * $f + @plane * $v;
    @n = 2 * @n + ($f < @plane ? 0 : 1); } $f += $c * w[@n % n]; }""",
    """{ int @b = idx[i] % 9, @e = @b + idx[(i + 1) % n] % 7; $T @s = 0; for (int @k = @b; @k < @e; ++@k)
    @s += w[@k % n] * x[idx[@k % n]]; $f = $c * $f + tanh(@s); }""",
    """{ Grid<$T> @g = {x, 7, 7}; $f = $c * @g.between($T(3) + 3 * tanh($f), $T(2) + 2 * tanh($v)) + $c * $f; }""",
    """{ Grid<$T> @g = {w, 9, 5}; $T @r = $T(1) + fabs(tanh($v)), @c = $T(4); for (int @k = 0; @k < $k; @k++) {
    $T @s = @g.between(@r, @c); if (@s > $L) break; @r += $T(0.4) * @s; @c += $T(0.3) * tanh($f);
    $f = $c * $f + @s; } }""",
    """{ $T @p = fmin(fabs($f) * 5, $T(50)); int @a = (int)@p; $T @r = @p - @a; @a %= n;
    $f = x[@a] * (1 - @r) + x[(@a + 1) % n] * @r; }""",
    """{ $T @b[$N]; memcpy(@b, $A, sizeof(@b)); for (int @k = 0; @k < $N; @k++) $A[@k] = $c * @b[$N - 1 - @k] + $v;
    memcpy($A, &@b[0], sizeof($T)); }""",
    """{ $T @b[$N]; memset(@b, 0, sizeof(@b)); for (int @k = 0; @k < $N; @k++) @b[(@k * $k + $m) % $N] += $A[@k];
    for (int @k = 0; @k < $N; @k++) $A[@k] = $c * @b[@k]; }""",
    """{ $T @p[2][2] = {{$v, $T($c)}, {$f, $A[0]}}, @r[2][2] = {{1, $T($c)}, {$T($c), 1}};
    for (int @k = 0; @k < $m % 4; @k++) multiplied(@p, @r); multiplied(@r, @p); $f = tanh(@p[0][1] - @r[1][0]); }""",
    """{ Sphere<$T> @s[3]; for (int @k = 0; @k < 3; @k++) @s[@k] = {$A[@k % $N] + $T(2), $c * w[(i + @k) % n], $T($c)};
    $T @near = 9; int @at = -1; for (int @k = 0; @k < 3; @k++) if (hit(@s[@k], $f, $T(1), @near)) @at = @k;
    if (@at >= 0) $f = $c * @near + @s[@at].x * $v; else $f -= $c * $v; }""",
    """{ $T @light = 1, @o = $f, @sum = 0; for (int @d = 0; @d < $k + 1; @d++) { $T @near = 9; Sphere<$T> @s =
    {$T(1.5) + $A[@d % $N], $T(0.2) * $v, $T(0.6)}; if (!hit(@s, @o, $T(1), @near)) { @sum += @light * $T($c); break; }
    @sum += @light * @near * $T(0.1); @light *= $T($c); @o = -@near * $T(0.3); } $f = @sum; }""",
    """{ $T @e[3][3]; for (int @r = 0; @r < 3; @r++) for (int @k = 0; @k <= @r; @k++) @e[@r][@k] = @e[@k][@r] =
    w[(i + @r + 2 * @k) % n] + (@r == @k ? $T(@r) : $T(0)); for (int @s = 0; @s < $k; @s++) { int @p = @s % 3,
    @q = (@s + 1) % 3; if (@p > @q) { int @t = @p; @p = @q; @q = @t; } if (fabs(@e[@p][@q]) < $T(1e-3)) continue;
    $T @h = (@e[@q][@q] - @e[@p][@p]) / (2 * @e[@p][@q]), @t = (@h < 0 ? $T(-1) : $T(1)) / (fabs(@h) +
    sqrt(1 + @h * @h)), @o = 1 / sqrt(1 + @t * @t), @u = @t * @o; for (int @k = 0; @k < 3; @k++) {
    $T @l = @e[@p][@k], @m = @e[@q][@k]; @e[@p][@k] = @o * @l - @u * @m; @e[@q][@k] = @u * @l + @o * @m; }
    for (int @k = 0; @k < 3; @k++) { $T @l = @e[@k][@p], @m = @e[@k][@q]; @e[@k][@p] = @o * @l - @u * @m;
    @e[@k][@q] = @u * @l + @o * @m; } } $f = $c * $f + @e[0][0] - $c * @e[$m % 3][1]; }""",
    """{ $T @a = 0, @b = 0, @n = 0; for (int @k = 0; @k < n; @k += $k + 2) { $T @d = x[@k] - $f,
    @r = @d * @d + $T(0.01), @q = 1 / @r, @six = @q * @q * @q * $T(1e-4); if (@r > $T($L)) continue;
    @a += @six * (@six - 1); @b += @d * @q; @n += 1; } $f = @n > 0 ? $c * tanh(@a) + $c * @b / @n : $v; }""",
    """{ $T @in = $f, @out[2] = {0, 0}; for (int @l = 0; @l < 2; @l++) { for (int @k = 0; @k < $N; @k++)
    @out[@l] += $A[@k] * (@l ? @out[0] : @in) + $T(weights[@k % 6]); @out[@l] = @out[@l] > 0 ? @out[@l] :
    $T(0.1) * @out[@l]; } $f = tanh(@out[1]); }""",
    """{ $T @left = $v, @right = $f, @mid; for (int @k = 0; @k < $N; @k++) { @mid = $A[@k]; $A[@k] = @left + $c *
    (@right - 2 * @mid); @left = @mid; @right = @k + 2 < $N ? $A[@k + 2] : $f; } $f = @left; }""",
    """{ bool @seen[$N]; for (bool &@s : @seen) @s = false; int @at = $m % $N; while (!@seen[@at]) { @seen[@at] = true;
    $f = $c * $f + $A[@at]; @at = (@at * 2 + ($A[@at] > 0 ? 1 : 3)) % $N; } }""",
)

TOGETHER = (
    """if (inside) y[i] = $f; __syncthreads(); if (inside && lane > 0) $f = $c * $f + $c * y[i - 1];
    __syncthreads();""",
    """if (inside) y[i] = $v; __syncthreads(); for (int @h = WIDTH / 2; @h > 0; @h /= 2) {
    if (inside && lane < @h && i + @h < n) y[i] += $c * y[i + @h]; __syncthreads(); }
    if (inside) $f += $T(0.1) * y[i - lane]; __syncthreads();""",
    """for (int @r = 0; @r < $k; @r++) { bool @in = inside && lane > 0 && lane + 1 < WIDTH && i + 1 < n;
    $T @n = @in ? $c * (y[i - 1] + y[i + 1]) : $f; __syncthreads(); if (inside) y[i] = tanh(@n + $c * $f);
    __syncthreads(); } if (inside) $f = y[i];""",
    """{ __shared__ $T @h[WIDTH + 4]; @h[lane + 2] = $f; if (lane < 2) { @h[lane] = x[(i + n - 2) % n];
    @h[lane + WIDTH + 2] = w[(i + lane) % n]; } __syncthreads(); $T @s = 0; for (int @k = -2; @k <= 2; @k++)
    @s += $T(weights[@k + 2]) * @h[lane + 2 + @k]; $f = $c * $f + @s; __syncthreads(); }""",
    """{ __shared__ $T @a[4][9], @b[8][5]; $T @s = 0; int @r = lane % 32 / 8, @c = lane % 8; for (int @t = 0; @t < $k;
    @t++) { if (lane < 32) { @a[@r][@c] = x[(@t * 8 + lane) % n]; @b[lane / 4][lane % 4] = $f; } __syncthreads();
    for (int @k = 0; @k < 8; @k++) @s = $T(0.9) * @s + @a[@r][@k] * @b[@k][@c & 3]; __syncthreads(); }
    $f = tanh(@s) + $c * $v; }""",
    """{ bool @more; int @k = 0; do { tile[lane] = $f; __syncthreads(); $T @n = $c * $f + $c * tile[(lane + 1) % WIDTH];
    @more = fabs(@n - $f) > $T(0.05); $f = @n; } while (__syncthreads_or(@more) && ++@k < $k + 2); }""",
    """{ $T @s = $f; int @head = lane % 32 == 0 || idx[$i] % 3 == 0; for (int @o = 1; @o < 32; @o <<= 1) {
    $T @u = __shfl_up_sync(0xffffffffu, @s, @o); int @h = __shfl_up_sync(0xffffffffu, @head, @o);
    if (lane % 32 >= @o && !@head) { @s += @u; @head = @h; } } $f = tanh($c * @s); }""",
    """{ __shared__ $T @in[2][WIDTH]; int @now = 0; @in[0][lane] = $f; __syncthreads(); for (int @d = 1; @d < WIDTH;
    @d <<= 1) { @in[1 - @now][lane] = lane >= @d ? @in[@now][lane] + $T($c) * @in[@now][lane - @d] : @in[@now][lane];
    @now ^= 1; __syncthreads(); } $f = tanh(@in[@now][lane]); __syncthreads(); }""",
    """{ __shared__ $T @high; if (lane == 0) @high = -9; __syncthreads(); for (int @w = 0; @w < WIDTH / 32; @w++) {
    $T @m = $f; for (int @o = 16; @o > 0; @o >>= 1) @m = fmax(@m, __shfl_down_sync(0xffffffffu, @m, @o));
    if (lane == 32 * @w) @high = fmax(@high, @m); __syncthreads(); } $f = exp($f - @high) * $c; __syncthreads(); }""",
    """{ __shared__ Sphere<$T> @s[WIDTH]; @s[lane] = {$f + $T(2), $T(0.2) * $v, $T($c)}; __syncthreads();
    $T @near = 9; int @at = lane; for (int @k = 0; @k < WIDTH; @k += $k + 4) if (hit(@s[@k], $v, $T(1), @near))
    @at = @k; $f = $c * @near + $c * @s[@at].x; __syncthreads(); }""",
)

LANES = (
    """{ $T @s = $f; for (int @o = 1; @o < 8; @o <<= 1) { $T @u = __shfl_up_sync(0xffffffffu, @s, @o, 8);
    if (lane % 8 >= @o) @s = $T($c) * @s + @u; } $f = tanh(@s) + $c * $v; }""",
)

STORES = (
    """{ $T @sum = 0; for (int @k = 0; @k < $N; @k++) { @sum += $A[@k]; if (@k == $N / 2) y[i] = @sum; }
    y[i] = y[i] * @sum + $f; }""",
    """{ struct { $T a; $T *to; } @o = {$f, y + i}; *@o.to = @o.a * $v; if ($q) @o.to[0] += @o.a; }""",
)
