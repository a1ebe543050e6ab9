"""What kernels are made of, as people write it; `grammar` fills in the holes.

`@name` is a new variable, `$A` a local array of `$N` elements and `$B` another one of as many, `$f` a variable that may
be assigned to, `$v` a value, `$q` a condition, `$i` an index of the arrays in memory, `$m` a small integer, `$k` one
that is known when compiled, `$c` and `$L` constants, `$R` a relation, `$T` the type. `$body` and `$round` hold further
phrases; the latter is reached by all threads of a block.
"""

from __future__ import annotations

HELPERS = """
template <class T> struct Fields { const T *x, *w; T *y, *z; };
template <class T> struct Span { const T *from; T *to; int n; };
template <class T> struct Item {
    T key, load;
    int tag;
    HELPER bool operator<(const Item &other) const { return key < other.key; }
};
template <class T> struct Vec {
    T x, y, z;
    HELPER Vec operator+(Vec o) const { return {x + o.x, y + o.y, z + o.z}; }
    HELPER Vec operator*(T s) const { return {x * s, y * s, z * s}; }
    HELPER T &operator[](int k) { return k == 0 ? x : k == 1 ? y : z; }
};
template <class T> HELPER Vec<T> cross(Vec<T> a, const Vec<T> &b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T> HELPER void halves(T v, T *low, T *high)
{
    *low = v < 0 ? v * T(0.5) : tanh(v * v);
    if (high) *high = v - *low;
}
template <class T> HELPER int smallest(const T *a, int n, T *value)
{
    int at = 0;
    T best = a[0];
    for (int k = 1; k < n; k++)
        if (a[k] < best) { best = a[k]; at = k; }
    *value = best;
    return at;
}
template <class T> HELPER bool root(T a, T b, T &r, int &rounds)
{
    r = T(1) + a * a;
    for (rounds = 0; rounds < 9; rounds++) {
        T next = T(0.5) * (r + (T(1) + b * b) / r);
        if (fabs(next - r) < T(1e-3)) return true;
        r = next;
    }
    return false;
}
template <class T, int N> HELPER void reversed(T (&a)[N])
{
    for (int l = 0, r = N - 1; l < r; l++, r--) { T t = a[l]; a[l] = a[r]; a[r] = t; }
}
template <class T> HELPER void exchange(T &a, T &b) { T t = a; a = b; b = t; }
template <class T> HELPER void moved(Span<T> s, int by)
{
    for (int k = 0; k < s.n; k++) s.to[k] = s.from[(k + by) % s.n];
}
template <class T> HELPER T horner(const T *a, int n, T v)
{
    return n == 0 ? T(0) : a[0] + v * horner(a + 1, n - 1, v);
}
template <int N, class T> HELPER T powered(T v)
{
    if constexpr (N == 0) return T(1);
    else return v * powered<N - 1>(v);
}
"""

SORTS = (
    """for (int @p = $k % 2; @p < $N; @p++) { $T @v = $A[@p]; int @q = @p - 1;
    while (@q >= 0 && $A[@q] $R @v) { $A[@q + 1] = $A[@q]; @q--; } $A[@q + 1] = @v; }""",
    """for (int @p = 1; @p < $N; @p++) { $T @v = $A[@p]; int @q = @p;
    for (; @q > 0; @q--) { if (!($A[@q - 1] $R @v)) break; $A[@q] = $A[@q - 1]; } $A[@q] = @v; }""",
    """for (int @p = 0; @p + 1 < $N; @p++) { int @at = @p;
    for (int @q = @p + 1; @q < $N; @q++) if ($A[@at] $R $A[@q]) @at = @q; exchange($A[@p], $A[@at]); }""",
    """{ bool @swapped = true; for (int @p = 0; @p < $N && @swapped; @p++) { @swapped = false;
    for (int @q = 0; @q + 1 < $N; @q++) if ($A[@q] $R $A[@q + 1])
    { $T @t = $A[@q]; $A[@q] = $A[@q + 1]; $A[@q + 1] = @t; @swapped = true; } } }""",
    """for (int @gap = $N / 2; @gap > 0; @gap /= 2) for (int @p = @gap; @p < $N; @p++) { $T @v = $A[@p]; int @q = @p;
    for (; @q >= @gap && $A[@q - @gap] $R @v; @q -= @gap) $A[@q] = $A[@q - @gap]; $A[@q] = @v; }""",
    """for (int @p = 0; @p < $N; @p++) for (int @q = @p & 1; @q + 1 < $N; @q += 2) if ($A[@q] $R $A[@q + 1])
    { $T @low = $A[@q]; $A[@q] = $A[@q + 1]; $A[@q + 1] = @low; }""",
    """{ int @l = 0, @r = $N - 1; $T @pivot = $A[$N / 2]; while (@l <= @r) { while ($A[@l] < @pivot) @l++;
    while ($A[@r] > @pivot) @r--; if (@l <= @r) { exchange($A[@l], $A[@r]); @l++; @r--; } } }""",
    """for (int @p = $N - 1; @p >= 0; @p--) { int @at = @p; while (2 * @at + 1 < $N) { int @son = 2 * @at + 1;
    if (@son + 1 < $N && $A[@son] $R $A[@son + 1]) @son++; if (!($A[@at] $R $A[@son])) break;
    $T @t = $A[@at]; $A[@at] = $A[@son]; $A[@son] = @t; @at = @son; } }""",
    """for (int @w = 1; @w < $N; @w *= 2) { $T @b[$N]; for (int @s = 0; @s < $N; @s += 2 * @w) {
    int @m = @s + @w < $N ? @s + @w : $N, @e = @s + 2 * @w < $N ? @s + 2 * @w : $N, @l = @s, @r = @m;
    for (int @o = @s; @o < @e; @o++) @b[@o] = @l < @m && (@r >= @e || !($A[@l] $R $A[@r])) ? $A[@l++] : $A[@r++]; }
    for (int @o = 0; @o < $N; @o++) $A[@o] = @b[@o]; }""",
    """{ Item<$T> @s[$N]; for (int @p = 0; @p < $N; @p++) @s[@p] = {$A[@p], $v, @p};
    for (int @p = 1; @p < $N; @p++) for (int @q = @p; @q > 0 && @s[@q] < @s[@q - 1]; @q--) exchange(@s[@q], @s[@q - 1]);
    for (int @p = 0; @p < $N; @p++) $A[@s[@p].tag] += $c * @s[@p].load * @s[(@p + 1) % $N].key; }""",
    """{ int @order[$N]; for (int @p = 0; @p < $N; @p++) @order[@p] = @p; for (int @p = 1; @p < $N; @p++) {
    int @v = @order[@p], @q = @p; while (@q > 0 && $A[@order[@q - 1]] $R $A[@v]) { @order[@q] = @order[@q - 1]; --@q; }
    @order[@q] = @v; } for (int @p = 0; @p < $N; @p++) $f = $c * $f + $A[@order[@p]] / $T(1 + @p); }""",
)

MOVES = (
    """{ $T @first = $A[0]; for (int @k = 0; @k + 1 < $N; @k++) $A[@k] = $A[@k + 1]; $A[$N - 1] = @first * $c; }""",
    """for (int @k = $N - 1; @k > 0; @k--) $A[@k] = $A[@k - 1] + $c * $A[@k];""",
    """for (int @k = 1; @k < $N; @k++) { $A[@k] -= $c * $A[@k - 1]; $body }""",
    """reversed($A);""",
    """{ $T @b[$N]; Span<$T> @s = {$A, @b, $N}; moved(@s, $m); for (int @k = 0; @k < $N; @k++) $A[@k] = @b[@k]; }""",
    """{ int @at = $m % $N; for (int @k = 0; @k < $k + 3; @k++) {
    $A[@at] = $c * $A[@at] + $c * $v; @at = (@at + 1) % $N; } }""",
    """for (int @k = 0, @at = $m % $N; @k < $N; @k++, @at = (@at * 3 + 1) % $N) exchange($A[@k], $A[@at]);""",
    """{ int @top = 0; $T @stack[$N + 1]; for (int @k = 0; @k < $N; @k++) {
    while (@top > 0 && @stack[@top - 1] $R $A[@k]) --@top; @stack[@top++] = $A[@k]; }
    $f = $c * $f + @stack[@top - 1] - $c * @stack[0]; }""",
    """{ int @next[$N]; for (int @k = 0; @k < $N; @k++) @next[@k] = (@k * 5 + $m) % $N; int @at = $m % $N;
    for (int @k = 0; @k < $k + 2 && @at != 0; @k++) { $A[@at] += $c * $A[@next[@at]]; @at = @next[@at]; } }""",
    """{ int @of[$N]; for (int @k = 0; @k < $N; @k++) @of[@k] = @k; for (int @k = 0; @k + 1 < $N; @k++)
    if ($A[@k] $R $A[@k + 1]) { int @l = @k, @r = @k + 1; while (@of[@l] != @l) @l = @of[@l];
    while (@of[@r] != @r) @r = @of[@r]; @of[@r] = @l; } for (int @k = 0; @k < $N; @k++) { int @o = @k;
    while (@of[@o] != @o) @o = @of[@o]; if (@o != @k) $A[@o] += $c * $A[@k]; } }""",
    """{ $T *@p = $A, *@e = $A + $N; while (@p < @e) { *@p = *@p * $c + $v; if ($q) @p++; else @p += 2; } }""",
    """{ $T *@old = $A, *@new = $B; for (int @k = 0; @k < $k; @k++) { for (int @j = 0; @j < $N; @j++)
    @new[@j] = $c * @old[@j] + $T(0.2) * sin(@old[(@j + 1) % $N]); $T *@t = @old; @old = @new; @new = @t; }
    $f += @old[$m % $N]; }""",
    """for (auto &@e : $A) { @e = @e $R $T($c) ? @e * @e : @e + $T(0.1) * $f; }""",
    """{ auto @get = [&](int @j) -> $T & { return $A[(@j + $m) % $N]; };
    for (int @k = 0; @k < $k; @k++) @get(@k) = @get(@k + 1) * $c + $v; }""",
    """for (int @k = 0; @k < $N; @k++) { int @at = ((int)floor(fabs($A[@k]) * 3) & 1023) % $N;
    $A[@at] += $c * $A[@k]; }""",
    """for (int @k = 0; @k < $N; @k++) $A[@k] = $q ? $A[@k] : $v;""",
    """for (int @k = 0; @k < $N; @k++) { $A[@k] = $v; if ($q) continue; $A[@k] *= $f; $A[(@k + $m) % $N] += $c; }""",
)

LOOPS = (
    """{ int @k = 0; while (@k < $N && $f < $L && !($A[@k] > 0.9)) { $f += $A[@k] * $A[@k]; @k++; $body }
    $f += $T(0.1) * @k; }""",
    """for (int @k = 0; @k < $N; @k++) { if ($A[@k] < -0.5) continue; $f = $f * $c + sin($A[@k]);
    if ($f > $L) break; $body }""",
    """{ $T @t = $T(0.5) + $v * $v; int @k = 0; do { $T @u = $T(0.5) * (@t + (1 + $f * $f) / @t);
    if (fabs(@u - @t) < $T(1e-3)) break; @t = @u; } while (++@k < $k + 4); $f = $c * @t; }""",
    """{ $T @best; int @at = smallest($A, $N, &@best); $f += @best * $A[(@at + 1) % $N] + $T(0.01) * @at; }""",
    """{ $T @high = -1e30, @second = -1e30; for (int @k = 0; @k < $N; @k++) { if ($A[@k] > @high)
    { @second = @high; @high = $A[@k]; } else if ($A[@k] > @second) @second = $A[@k]; }
    $f = @high * $c - (@second > -10 ? @second : $T(0)); }""",
    """{ $T @low, @high; halves($f + $A[$m % $N], &@low, &@high); $f = @low * $c + @high;
    halves(@low, $A + 1, ($T *)nullptr); }""",
    """{ int @l = 0, @r = $N - 1; while (@l < @r) { int @half = (@l + @r) / 2;
    if ($A[@half] < $f) @l = @half + 1; else @r = @half; } $f += $A[@l] * $c; }""",
    """{ int @at = $m % $N; for (int @k = 0; @k < $k; @k++) { $f = fmax($f, $A[@at] * $T($c));
    @at = (idx[$i] + @k) % $N; } }""",
    """{ $T @r; int @rounds; if (root($f, $v, @r, @rounds)) $f = $c * @r; else $f += $T(0.01) * @rounds; }""",
    """{ $T @best = 1e30; int @at = -1; for (int @k = 0; @k < n; @k += $k + 3) { $T @d = x[@k] - $f;
    @d = @d * @d; if (@d < @best) { @best = @d; @at = @k; } } if (@at >= 0) $f = $c * @best + w[@at] * $v; }""",
    """{ bool @found = false; for (int @k = 0; @k < $k && !@found; @k++) for (int @j = 0; @j < $N; @j++) {
    $f = $c * $f + $A[@j]; if ($f > $L) { @found = true; break; } $body } if (@found) $f *= $c; }""",
    """{ int @state = $m % 3; for (int @k = 0; @k < $k + 3; @k++) { switch (@state) {
    case 0: $f = tanh($f + $v); @state = $q ? 1 : 2; break; case 1: $f *= $T($c); /* fall through */
    default: $f += $T(0.1) * $A[@k % $N]; @state = (@state + 1) % 3; } } }""",
    """{ unsigned @seed = $m * 2654435761u + 1u; for (int @k = 0; @k < $k; @k++) {
    @seed = @seed * 1664525u + 1013904223u;
    $T @u = $T(@seed >> 8) / $T(16777216); if (@u < $c) $f = $f * $T(0.8) + @u * $v;
    else $A[@seed % $N] += @u * $f; } }""",
    """{ const $T *@p = x + $m % 5; int @left = $k; while (@left-- && *@p < 0.8) { $f = $f * $T($c) + *@p++; } }""",
    """{ $T @s = 0, @t = 1; for (int @k = 1; @k <= $k + 2; @k++) { @t *= $f / @k; @s += @t;
    if (fabs(@t) < 1e-4) break; } $f = tanh(@s); }""",
    """{ $T @lo = -2, @hi = 2; for (int @k = 0; @k < $k + 3; @k++) { $T @mid = $T(0.5) * (@lo + @hi);
    if (@mid * @mid * @mid + @mid < $v) @lo = @mid; else @hi = @mid; } $f += $c * @lo; }""",
    """{ $T @m = -1e30, @s = 0; for (int @k = 0; @k < $N; @k++) { $T @n = fmax(@m, $A[@k]);
    @s = @s * exp(@m - @n) + exp($A[@k] - @n); @m = @n; } $f = $c * (@m + log(@s)); }""",
    """{ $T @mean = 0, @var = 0; for (int @k = 0; @k < $N; @k++) { $T @d = $A[@k] - @mean; @mean += @d / (@k + 1);
    @var += @d * ($A[@k] - @mean); } $f = ($f - @mean) / sqrt(@var + $T(0.5)); }""",
    """{ Vec<$T> @u = {$v, $f, $A[0]}, @w = {$A[1], $T($c), $v}; for (int @k = 0; @k < $k; @k++) {
    @u = cross(@u, @w) * $T($c) + @w; @u[@k % 3] += $T(0.1) * @w[(@k + $m) % 3]; } $f = tanh(@u.x + @u.y * @u.z); }""",
    """$f = tanh(horner($A, $N, $T(0.5) * $f)) + powered<$k>($T($c) * $v) * $T(0.1);""",
    """{ int @i = $m % $N, @j = ($m + 1) % $N; $T &@r = $A[@i]; @r += $c * $A[@j]; $A[@j] = @r * $f; $f = $A[@i]; }""",
    """{ $T @one = $f, @two = $v; for (int @k = 0; @k < $m % 5; @k++) { $T @t = @one; @one = @two;
    @two = $c * (@t + @two); } $f = @one - @two; }""",
    """for (int @k = 0; @k < $m % 4 + 1; ++@k) { $body $body }""",
    """for (int @k = $k; @k-- > 0;) { $body if ($q) break; $body }""",
    """if ($q) { $body } else if ($q) { $body } else { $f = -$f; }""",
    """if ($q && $v > 0) { $body $body }""",
    """{ int @k = 0; while (true) { if (@k >= $k + 1 || ($q && @k > 1)) break; @k++; $body } }""",
)

SMALL_MATRICES = (
    """{ $T @m[3][4]; for (int @r = 0; @r < 3; @r++) for (int @k = 0; @k < 4; @k++)
    @m[@r][@k] = x[(i + 4 * @r + @k) % n] + (@r == @k ? $T(0.7) : $T(0)); for (int @p = 0; @p < 3; @p++) {
    int @at = @p; for (int @r = @p + 1; @r < 3; @r++) if (fabs(@m[@r][@p]) > fabs(@m[@at][@p])) @at = @r;
    if (@at != @p) for (int @k = 0; @k < 4; @k++) exchange(@m[@p][@k], @m[@at][@k]);
    if (fabs(@m[@p][@p]) < 0.05) break; for (int @r = @p + 1; @r < 3; @r++) { $T @s = @m[@r][@p] / @m[@p][@p];
    for (int @k = @p; @k < 4; @k++) @m[@r][@k] -= @s * @m[@p][@k]; } } $f = tanh(@m[2][3]) + $c * @m[1][2]; }""",
    """{ $T @l[$k + 1][$k + 1]; for (int @r = 0; @r <= $k; @r++) for (int @k = 0; @k <= @r; @k++) {
    $T @s = @r == @k ? $T(9) + $v : $T(0.5) * w[(i + @r * @k) % n]; for (int @j = 0; @j < @k; @j++)
    @s -= @l[@r][@j] * @l[@k][@j]; @l[@r][@k] = @r == @k ? sqrt(@s) : @s / @l[@k][@k]; }
    $f = $c * @l[$k][$k] + @l[$k][0]; }""",
    """{ $T @u[$N], @d[$N]; @u[0] = $c; @d[0] = $A[0]; for (int @k = 1; @k < $N; @k++) {
    $T @p = $T(3) - $T(0.5) * @u[@k - 1]; @u[@k] = $T($c) / @p; @d[@k] = ($A[@k] - $T(0.5) * @d[@k - 1]) / @p; }
    $A[$N - 1] = @d[$N - 1]; for (int @k = $N - 2; @k >= 0; @k--) $A[@k] = @d[@k] - @u[@k] * $A[@k + 1]; }""",
    """{ $T @t[$N + 1]; for (int @k = 0; @k <= $N; @k++) @t[@k] = $T(0.3) * @k; for (int @r = 0; @r < $N; @r++) {
    $T @left = @t[0]; @t[0] += 1; for (int @k = 1; @k <= $N; @k++) { $T @up = @t[@k], @s = $A[@r] - x[(i + @k) % n];
    @t[@k] = @s * @s + fmin(fmin(@t[@k - 1], @up), @left); @left = @up; } } $f = $c * tanh($T(0.1) * @t[$N]); }""",
)

ALONE = (*SORTS, *MOVES, *LOOPS, *SMALL_MATRICES)

WAYS_OUT = (
    """if ($q && $f > $L) return;""",
    """if ($f > $L) { y[i] = $f; return; }""",
    """for (int @k = 0; @k < $N; @k++) if ($A[@k] > $L) { y[i] += $A[@k]; return; }""",
)

TOGETHER = (
    """tile[lane] = $f; __syncthreads(); for (int @h = WIDTH / 2; @h > 0; @h /= 2) {
    if (lane < @h) tile[lane] += tile[lane + @h]; __syncthreads(); } $f += $c * tanh(tile[0]); __syncthreads();""",
    """tile[lane] = $v; __syncthreads(); for (int @d = 1; @d < WIDTH; @d *= 2) {
    $T @t = lane >= @d ? tile[lane - @d] : $T(0);
    __syncthreads(); tile[lane] += @t; __syncthreads(); } $f = tanh($f + tile[lane]); __syncthreads();""",
    """tile[lane] = $f; __syncthreads(); if (lane == 0) { $T @m = tile[0]; int @at = 0;
    for (int @k = 1; @k < WIDTH; @k++) if (tile[@k] > @m) { @m = tile[@k]; @at = @k; } tile[@at] = @m * $c; }
    __syncthreads(); $f += tile[lane]; __syncthreads(); tile[WIDTH - 1 - lane] = $f; __syncthreads();
    $f = $f * $c + tile[lane]; __syncthreads();""",
    """for (int @o = 16; @o > 0; @o /= 2)
    $f = fmin($f + $T(0.1), $T($c) * $f + __shfl_xor_sync(0xffffffffu, $f, @o));""",
    """{ $T @s = $f; for (int @o = 1; @o < 32; @o *= 2) { $T @t = __shfl_up_sync(0xffffffffu, @s, @o);
    if (lane % 32 >= @o) @s += @t; } $f = tanh(@s); }""",
    """{ $T @s = $v; for (int @o = 16; @o > 0; @o >>= 1) @s += __shfl_down_sync(0xffffffffu, @s, @o);
    if (lane % 32 == 0) tile[lane / 32] = @s; __syncthreads(); @s = 0;
    for (int @k = 0; @k < WIDTH / 32; @k++) @s += tile[@k]; __syncthreads(); $f += $T(0.1) * @s; }""",
    """if (__any_sync(0xffffffffu, $f > $L)) $f *= $c; $f += $c * __shfl_down_sync(0xffffffffu, $v, $k);""",
    """{ unsigned @b = __ballot_sync(0xffffffffu, $f > $T(0.2)); $f += $T(0.01) * __popc(@b);
    if (@b) $f = $c * $f + $c * __shfl_sync(0xffffffffu, $f, __ffs(@b) - 1); }""",
    """{ $T @m = $f; int @at = lane % 32; for (int @o = 16; @o > 0; @o /= 2) {
    $T @u = __shfl_down_sync(0xffffffffu, @m, @o); int @w = __shfl_down_sync(0xffffffffu, @at, @o);
    if (@u > @m) { @m = @u; @at = @w; } } @m = __shfl_sync(0xffffffffu, @m, 0);
    @at = __shfl_sync(0xffffffffu, @at, 0); $f = $f * $c + @m * $T(0.1) * (@at == lane % 32 ? 2 : 1); }""",
    """if (lane < $k + 8) tile[lane] = $f; __syncthreads(); $f += tile[lane % ($k + 8)] * $c; __syncthreads();""",
    """tile[(lane * 7 + $k) % WIDTH] = $f; __syncthreads(); $f = $c * tile[lane] + tile[(lane + 1) % WIDTH] * $v;
    __syncthreads();""",
    """if (lane == 0) first = $v; __syncthreads(); $f += first * $c; __syncthreads();""",
    """if (lane == $k) { first = $f; count = lane; } __syncthreads(); if (count % 2) $f = tanh(first + $f);
    else $f -= first * $c; __syncthreads();""",
    """for (int @s = 0; @s < n; @s += WIDTH) { tile[lane] = @s + lane < n ? x[@s + lane] : $T(0); __syncthreads();
    for (int @k = 0; @k < WIDTH && @s + @k < n; @k += $k) $f = $c * $f + tile[@k] * w[@s + @k]; __syncthreads(); }""",
    """for (int @r = 0; @r < $k; @r++) { $round }""",
    """tile[lane] = lane < $k + 9 ? $f : $T(1e30); __syncthreads(); for (int @p = 0; @p < WIDTH / 8; @p++) {
    int @q = 2 * lane + @p % 2; if (@q + 1 < WIDTH && tile[@q] > tile[@q + 1]) exchange(tile[@q], tile[@q + 1]);
    __syncthreads(); } if (tile[lane] < 9) $f = $c * $f + tile[lane]; __syncthreads();""",
    """{ $T *@in = tile, *@out = other; @in[lane] = $f; __syncthreads(); for (int @s = 0; @s < $k; @s++) {
    int @l = lane > 0 ? lane - 1 : 0, @r = lane + 1 < WIDTH ? lane + 1 : lane;
    @out[lane] = $T(0.25) * (@in[@l] + @in[@r]) + $T($c) * @in[lane]; __syncthreads();
    $T *@t = @in; @in = @out; @out = @t; } $f = @in[lane]; __syncthreads(); }""",
    """if (lane < 4) bins[lane] = 0; __syncthreads(); atomicAdd(&bins[idx[$i] % 4], $f); __syncthreads();
    $f += $T(0.1) * bins[lane % 4]; __syncthreads();""",
    """{ auto @part = cg::tiled_partition<8>(cg::this_thread_block()); $T @s = $f;
    for (int @o = @part.size() / 2; @o > 0; @o /= 2) @s += @part.shfl_down(@s, @o);
    $f = tanh($c * $f + @part.shfl(@s, 0)); }""",
    """pairs[lane] = {$f, $v, lane}; __syncthreads(); { Item<$T> @p = pairs[(lane + $k) % WIDTH];
    $f += $c * @p.key * @p.load + $T(0.001) * @p.tag; } __syncthreads();""",
    """tile[lane] = $f; __syncwarp(); if (lane % 32 < 16) tile[lane] += tile[lane + 16]; __syncwarp();
    $f = $c * tile[lane]; __syncthreads();""",
)

LAST = ("""if ($q) return; $f = $c * __shfl_sync(0xffffffffu, $f, lane % 32) + $v;""",)
"""Behind it no lane may ask another one."""

LANES = (
    """{ $T @s = $f; for (int @o = 1; @o < 32; @o *= 2) { $T @t = __shfl_up_sync(0xffffffffu, @s, @o);
    if (lane % 32 >= @o) @s += @t; } $f = tanh(@s); }""",
    """$f = $c * $f + $c * __shfl_sync(0xffffffffu, $v, $m & 7);""",
    """if (__any_sync(0xffffffffu, $f > $L)) $f *= $c; $f += $T(0.01) * __popc(__ballot_sync(0xffffffffu, $f < $v));""",
    """for (int @k = 0; @k < $k; @k++) { if (lane % 32 >= 28 - 5 * @k) return;
    $f = $c * $f + $c * __shfl_up_sync(0xffffffffu, $f, $k); __syncwarp(); }""",
    """if (lane % 32 < 16) $f += $c * __shfl_up_sync(0x0000ffffu, $f, $k);""",
    *LAST,
    """quick[lane] = $f; for (int @d = 1; @d < 16; @d *= 2) if (lane % 16 >= @d)
    quick[lane] += $T($c) * quick[lane - @d]; $f = tanh(quick[lane]);""",
    """quick[lane] = 0; for (int @k = 0; @k < lane % 5; @k++) quick[lane] += $c * $A[@k % $N];
    { int @d = 4; while (@d > 0) { if (lane % 8 >= @d) quick[lane] += quick[lane - @d]; @d /= 2; } }
    $f += $c * quick[lane];""",
)
"""What lanes of a warp do with lower ones, behind a return of others."""

STORES = (
    """y[i] = $f; if ($f > $T(0.2)) y[i] = $f * $A[0]; y[i] += $A[$N - 1];""",
    """y[i] = $A[0] * $A[1] - $f; y[i] = y[i] * $T($c) + $A[$N / 2];""",
    """if ($A[0] < $A[1]) y[i] = $f; else y[i] += $A[1] * $f;""",
    """y[i] *= $f; y[(i + 0) % n] += $A[$m % $N];""",
    """for (int @k = 0; @k < $N; @k++) y[i] = $c * y[i] + $A[@k]; y[i] += $f;""",
    """{ $T @old = y[i]; y[i] = $v; y[i] = @old * y[i] + $f; }""",
    """for (int @k = 0; @k < $N; @k++) if ($A[@k] $R $f) y[i] = $A[@k]; y[i] += $f;""",
    """{ $T *@to = y + i; *@to += $f; if ($q) *@to = -*@to; *@to = tanh(*@to) + $A[$m % $N]; }""",
)

SHARED_STORES = {
    "own": ("""z[i] = z[i] * $T($c) + $v;""", """if ($q) z[i] = $f;""", """z[i] = $f; z[i] *= $v;"""),
    "added": (
        """atomicAdd(&z[$i], $v);""",
        """for (int @k = 0; @k < $N; @k++) atomicAdd(z + idx[$i], $A[@k]);""",
        """if ($q) atomicAdd(&z[0], $f);""",
        """atomicAdd(&z[$i], -$f); atomicAdd(&z[(i + 1) % n], $f);""",
    ),
    "same": ("""z[blockIdx.x] = x[blockIdx.x] * $T($c) * w[blockIdx.x];""", """z[0] = s * x[0];"""),
}
