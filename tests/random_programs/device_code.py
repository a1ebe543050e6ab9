"""More phrases, for what public CUDA programs are full of; the holes are those of `phrases`."""

from __future__ import annotations

CALLS = (
    """$f = $c * $f + until($A, $N, $L);""",
    """{ $T @t; if (crosses($f, $v, &@t)) $f = $c * @t; else { $f -= $c; $body } }""",
    """$f = $c * $f + marched($v, $f, $k + 3) - $c * marched($f, $A[0], $m % 5);""",
    """{ int @at = pair_above($A, $N, $T($c)); if (@at >= 0) $f += $A[@at / $N] * $A[@at % $N]; else $f *= $c; }""",
    """$f = tanh(tree($A, 0, $N) + $c * tree($A, $m % $N, $N));""",
    """{ $T *@p = largest($A, $N); *@p = $c * *@p + $v; $f += *@p * (@p - $A + 1) * $T(0.1); }""",
    """{ const $T @b = $v; int @calls = 0; $f = $c * $f + folded($A, $N, $f, [&](auto l, auto r) {
    if (l > $T($L)) return $T($c) * r; @calls++; return $T($c) * l + @b * r; }) + $T(0.01) * @calls; }""",
    """$f = bent($f, static_cast<Mode>($m % 3)) + bent($v, $q ? Mode::linear : Mode::bent) * $c;""",
    """{ $T (*@g)($T, Mode) = bent<$T>; for (int @k = 0; @k < $k; @k++) $f = $c * $f + @g($v, Mode(@k % 3)); }""",
    """{ $T @u = $v, @w = $f; for (int @k = 0; @k < $m % 4; @k++) rotate_by(@w * $T($c), @u, @w); $f = @u - $c * @w;
    }""",
    """{ auto @step = [=](const $T &at, int k) { return k % 2 ? at * $T($c) : sin(at) + $T($c); };
    for (auto &@e : $A) @e = @step(@e, $m); }""",
)

STRUCTS = (
    """{ Quat<$T> @q = {$T(1), $v, $A[0], $f}; for (int @k = 0; @k < $k; @k++) { @q = @q * Quat<$T>{$T($c), $v, $c, $f};
    $T @s = rsqrt(@q.w * @q.w + @q.x * @q.x + @q.y * @q.y + @q.z * @q.z + $T(0.1)); @q.w *= @s; @q.x *= @s;
    @q.y *= @s; @q.z *= @s; } $f = @q.x - @q.w * @q.z; }""",
    """{ Point<$T> @d($v, $f, $A[1]), @n; for (int @k = 0; @k < $k; @k++) {
    @n += Point<$T>(x[(i + @k) % n], w[(i + @k) % n], $T($c)); if (@d.dot(@n) < 0) @d = reflected(@d, $T(0.5) * @n);
    else @d *= $T($c); if (@d.length() > $T($L)) break; } $f = tanh(@d.component($m % 3) + @n.length()); }""",
    """{ Point<$T> @sum(0), @p[3]; for (int @k = 0; @k < 3; @k++) @p[@k] = Point<$T>($A[@k % $N], $v, w[(i + @k) % n]);
    for (const auto &@e : @p) { $T @far = (@e - @p[$m % 3]).length(); @sum += (1 / (@far + $T(0.5))) * @e; }
    $f = @sum.x * @sum.y - $c * @sum.z; }""",
    """{ Stack<$T, 6> @s; for (int @k = 0; @k < $N; @k++) { if (!@s.push($A[@k])) @s.top() *= $T($c);
    if (@s.top() $R $f) { $T @a = @s.pop(), @b = @s.pop(); @s.push($c * @a - $c * @b); } }
    while (@s.size) $f = $c * $f + @s.pop(); }""",
    """{ Interval<$T> @in; @in.low = $v; @in.high = @in.low + 1 + $f * $f; for (int @k = 0; @k < $k + 2; @k++) {
    $T @mid = $T($c) * (@in.ends[0] + @in.ends[1]); @in.ends[@mid > $A[@k % $N]] = @mid; }
    $f = @in.low * $c + @in.high * $c; }""",
    """{ struct { $T at[3]; int tag; } @r[2], @s; for (int @k = 0; @k < 6; @k++) @r[@k / 3].at[@k % 3] = $A[@k % $N];
    @r[0].tag = 1; @r[1].tag = $m % 3; @s = @r[@r[1].tag & 1]; @r[0] = @s; @s.at[@s.tag] += $v;
    $f = $c * $f + @s.at[1] * @r[0].at[2] - @r[1].at[@r[1].tag]; }""",
    """{ Pair<$T> @best = pair_of($v, $f), @now = @best; for (int @k = 0; @k < $N; @k++) { @now.a = $A[@k]; @now.k = @k;
    if (@now.a * @now.b < @best.a * @best.b) { @best = @now; if (@best.k > 3) break; } else @now.b *= $T($c); }
    $f = @best.sum(); }""",
)

WIDE = (
    """{ using Two = typename Wide<$T>::two; const Two *@p = reinterpret_cast<const Two *>(x); Two @a = @p[$m % (n /
    2)],
    @b = @p[i % (n / 2)]; @a.x += @b.y * $f; $f = tanh(@a.x) + $c * @a.y; }""",
    """{ typename Wide<$T>::four @a = ((const typename Wide<$T>::four *)w)[$m % (n / 4)]; $T *@p = &@a.x;
    @a.y *= $f; @p[$m & 1] += $v; $f = @p[0] * $c + @p[1]; }""",
    """{ float4 @a = make_float4((float)$A[0], (float)$A[1], 0.5f, (float)$f), @b = @a; @b.z = @a.x * @a.w;
    @b.w -= @a.y; $f += $T(@b.z) * $T($c) + @b.w; }""",
    """{ double2 @a = make_double2($v, $f), @b = {0.3, 0.2}; for (int @k = 0; @k < $k + 2; @k++) {
    @b = make_double2(@b.x * @b.x - @b.y * @b.y + @a.x * $c, 2 * @b.x * @b.y + @a.y * $c);
    if (@b.x * @b.x + @b.y * @b.y > 1.5) break; } $f = $T(tanh(@b.x - @b.y)); }""",
    """{ __half @h = __float2half((float)$f); @h = __hadd(__hmul(@h, __float2half(0.5f)), __float2half(0.25f));
    $f = $T(__half2float(@h)) + $c * $v; }""",
    """{ __nv_bfloat16 @h = __float2bfloat16((float)($v)); $f = $c * $f + $T(__bfloat162float(@h)); }""",
    """{ alignas(16) $T @b[4] = {$A[0], $v, $f, $T($c)}; typename Wide<$T>::two *@p = (typename Wide<$T>::two *)@b;
    @p[1].x *= @p[0].y; @p[$m & 1].y += $T($c); $f = @b[2] - @b[3] * @b[1]; }""",
    """{ float @low = (float)$v; int @q = (int)(@low * 8); $f = $c * $f + @q / $T(8) + $T(@low) * $T(@q % 3); }""",
)

BITS = (
    """$f = $c * signed_as($v, $f) + bits_abs($A[0]);""",
    """$f = (signbit($f) ? $T(-0.5) : $T(0.5)) * bits_abs($f) + copysign($T($c), $A[1]) * $v;""",
    """{ int @e; $T @m = frexp($f * $f + $T(0.1), &@e); $f = @m * $c + ldexp($v, @e & 1); }""",
    """{ $T @whole, @u = $v * 3; @whole = floor(@u); $f = $c * $f + (@u - @whole) * (int(@whole) & 1 ? 1 : -1); }""",
    """$f = fmod($f * 4, $T(1.5)) * $c + fdim($v, $f) + remainder($A[0], $T($L));""",
    """{ unsigned @h = (unsigned)$m; @h ^= @h << 13; @h ^= @h >> 17; @h ^= @h << 5; for (int @k = 0; @k < 8; @k++, @h
    >>= 1)
    if (@h & 1) $f = $c * $f + $A[@k % $N]; else $f -= $T(0.05); }""",
    """{ unsigned @m = ((unsigned)$m * 2654435761u) >> 20; while (@m) { int @b = __ffs(@m) - 1; @m &= @m - 1;
    $f = $c * $f + $A[@b % $N] * $c; } }""",
    """{ unsigned @code = 0; for (int @b = 0; @b < 4; @b++) @code |= ((unsigned)$i >> @b & 1u) << (2 * @b);
    $A[@code % $N] += $c * $v; $f += $A[__popc(@code) % $N]; }""",
    """$f = $v > $f ? $A[0] * $f : $q ? $f > 0 ? $v : -$f : $A[1] < $v ? $c * $f : $v * $v;""",
)

ORDERS = (
    """{ int @k = 0; do { if ($A[@k] $R $f) { @k += 2; continue; } $f = $c * $f + $A[@k]; if ($f > $L) break; @k++; }
    while (@k < $N); }""",
    """{ $T @g[3][$N]; for (int @r = 0; @r < 3; @r++) for (int @k = 0; @k < $N; @k++) @g[@r][@k] = $A[@k] * $T(@r + 1);
    for (int @s = 0; @s < $k; @s++) for (int @k = 0; @k < $N; @k++) { int @l = (@k + $N - 1) % $N, @to = (@s + 1) % 3;
    @g[@to][@k] = $c * @g[@s % 3][@l] + $c * @g[@s % 3][@k] * $f; } $f = tanh(@g[$m % 3][$m % $N]); }""",
    """{ $T @p[2][2] = {{$v, $T($c)}, {$f, $A[0]}}, @r[2][2] = {{1, 0}, {0, 1}}; for (int @e = $m % 8; @e; @e >>= 1) {
    $T @t[2][2]; if (@e & 1) { for (int @a = 0; @a < 2; @a++) for (int @b = 0; @b < 2; @b++) { @t[@a][@b] = 0;
    for (int @k = 0; @k < 2; @k++) @t[@a][@b] += @r[@a][@k] * @p[@k][@b]; }
    for (int @k = 0; @k < 4; @k++) @r[@k / 2][@k % 2] = tanh(@t[@k / 2][@k % 2]); }
    @p[0][0] = $c * @p[0][0] + @p[0][1] * @p[1][0]; @p[1][1] *= $T($c); } $f = @r[0][1] - @r[1][0] * @r[1][1]; }""",
    """{ unsigned @head = $m, @tail = 0; $T @ring[4] = {0, $v, 0, $f}; for (int @k = 0; @k < $N; @k++) {
    @ring[@head++ & 3] = $A[@k]; if (@head - @tail > 2u) $f = $c * $f + @ring[@tail++ & 3] * @ring[@head & 3]; } }""",
    """for (int @k = 0; @k < $N; @k++) { unsigned @l = (unsigned)@k - 1u, @r = (unsigned)@k + 1u;
    $T @s = $A[@k]; if (@l < $Nu) @s -= $c * $A[@l]; if (@r < $Nu) @s -= $c * $A[@r]; $A[@k] = @s; }""",
    """{ int @r = i / 7, @c = i % 7; $T @s = 0; for (int @k = 0; @k < 4; @k++) { int @y = @r + offsets[@k][0],
    @x = @c + offsets[@k][1]; if (@y < 0 || @y > 6 || @x < 0 || @x >= 7) continue; @s += x[(@y * 7 + @x) % n] - x[i]; }
    $f += $c * @s; }""",
    """{ $T @s = 0; for (int @k = -2; @k <= 2; @k++) @s += clamped_at(x, i + @k, n) * $T(weights[@k + 2])
    + w[mirrored(i - 3 * @k, n)] * $T(weights[5]); $f = $c * $f + @s; }""",
    """{ const $T *@p = x + i % 5; int @left = 0; for (; @p < x + n && @left < 9; @p += $k + 4, @left++) {
    if (*@p $R @p[-(i % 5)]) continue; $f = $c * $f + *@p * $v; } }""",
    """{ $T *@l = $A, *@r = $A + $N - 1; while (@l < @r) { if (*@l + *@r > $f) { *@l *= $T($c); --@r; } else { *@r +=
    $v;
    ++@l; } } $f += *@l; }""",
    """{ $T @alpha, @left = 1, @sum = 0; int @k = 0; for (; @k < n; @k += $k) { @alpha = $T(0.5) + $T(0.4) *
    tanh(w[@k] + $f);
    if (@alpha < $T(0.35)) continue; $T @next = @left * (1 - @alpha); @sum += @alpha * @left * x[@k];
    if (@next < $T(1e-2)) break; @left = @next; } $f = @sum + @left * $c + (@k < n ? $T(0.01) : $v); }""",
    """{ $T @low = $A[0]; for (int @k = 1; @k < $N; @k++) @low = min(@low, $A[@k]); int @at = -1;
    for (int @k = 0; @k < $N; @k++) if ($A[@k] == @low) { @at = @k; break; } $T @s = 0;
    for (int @k = 0; @k < $N; @k++) if (@k != @at) @s += exp(@low - $A[@k]); $f = $c * @s + @low * (@at + 1); }""",
    """{ int @k = 0; $T @d; while (@k < $N && (@d = $A[@k++] - $f) < $T($L)) $f += $c * @d; }""",
    """{ int @l = 0, @r = $N - 1; while (@l < @r) $A[@l++] = $c * $A[@r--] + $v; $f = $c * $f + $A[$N / 2]; }""",
    """{ bool @stop = false; for (int @a = 0; @a < $N && !@stop; ++@a) for (int @b = @a; @b < $N; ++@b) {
    if ($A[@a] * $A[@b] > $L) { @stop = true; break; } if ($A[@b] < $f) continue; $f += $c * $A[@b] * $A[@a]; } }""",
    """{ $T @s = $f; int @k = 0; for (;;) { @s = $c * @s - $T(0.02); if (@s < $T(0.1) || ++@k > 6) break; $body
    if ($q) break; @s += $c * $f; } $f = $c * @s; }""",
    """for (size_t @k = $N; @k-- > 0;) { if (@k % 2) $A[@k] *= $T($c); else $f -= $c * $A[@k]; }""",
    """{ volatile $T @s = $f; for (int @k = 0; @k < $N; @k++) @s = @s * $T($c) + $A[@k]; $f = @s; }""",
    """{ const $T @table[5] = {$T(0.1), $T(-0.4), $T(0.8), $T(0.3), $T(-0.2)}; for (int @k = 0; @k < $k; @k++)
    $f = $f * @table[(@k + $m) % 5] + $T(weights[@k]) * $v; }""",
    """switch ($m % 4) { case 0: for (int @e = 0; @e < $N; @e++) { if ($A[@e] > $L) break; $f += $c * $A[@e]; } break;
    case 1: $body break; case 2: $f = -$f; default: $f = $c * $f + sin($v); }""",
    """{ $T @h = 0, @c1 = $f; for (int @k = 0; @k < $N; @k++) { $T @g = 1 / (1 + exp(-$A[@k] - @h)), @o = tanh(@c1);
    @c1 = @g * @c1 + (1 - @g) * $v; @h = @g * @o; } $f = @h - $c * @c1; }""",
    """{ $T @y = $f, @h = $T(0.4); for (int @k = 0; @k < 9 && @h > $T(1e-2); @k++) { $T @a = -@y + $v, @b = -(@y + @h
    * @a);
    $T @e = fabs(@h * (@b - @a)); if (@e > $T($L)) { @h *= $T(0.5); continue; } @y += $T(0.5) * @h * (@a + @b);
    if (@e < $T(0.1)) @h *= $T(1.3); } $f = @y; }""",
    """{ int @i = ($m) % n; for (int @k = 0; @k < 6 && @i > 2; @k++) { $f = $c * $f + x[@i] * w[@i];
    @i = x[@i] < w[@i] ? @i / 2 : @i - 3; } }""",
    """{ long long @s = $m; for (int @k = 0; @k < $k; @k++) { @s = (@s * 48271LL) % 2147483647LL;
    $f += $T(0.3) * x[(int)(@s % n)] * $T((double)@s / 2147483647.0); } }""",
)

ALONE = (*CALLS, *STRUCTS, *WIDE, *BITS, *ORDERS)

PORTABLE = (*CALLS, *STRUCTS, *ORDERS)

TOGETHER = (
    """{ extern __shared__ char room[]; $T *@a = reinterpret_cast<$T *>(room), *@b = @a + WIDTH;
    int *@t = reinterpret_cast<int *>(@b + WIDTH); @a[lane] = $f; @b[lane] = $v; @t[lane] = (lane * 5 + $k) % WIDTH;
    __syncthreads(); $f = $c * @a[@t[lane]] + @b[(lane + 1) % WIDTH] * $c; __syncthreads(); }""",
    """tile[lane] = $f; __syncthreads(); for (int @d = 1; @d < WIDTH; @d *= 2) { int @at = (lane + 1) * 2 * @d - 1;
    if (@at < WIDTH) tile[@at] += tile[@at - @d]; __syncthreads(); } if (lane == 0) tile[WIDTH - 1] = 0;
    __syncthreads();
    for (int @d = WIDTH / 2; @d > 0; @d /= 2) { int @at = (lane + 1) * 2 * @d - 1; if (@at < WIDTH) {
    $T @t = tile[@at - @d]; tile[@at - @d] = tile[@at]; tile[@at] += @t; } __syncthreads(); }
    $f = tanh($f + $c * tile[lane]); __syncthreads();""",
    """{ bool @in = $f > $T($c); unsigned @b = __ballot_sync(0xffffffffu, @in); tile[lane] = 0; __syncwarp();
    int @at = lane / 32 * 32 + __popc(@b & ((1u << lane % 32) - 1u)); if (@in) tile[@at] = $f; __syncthreads();
    $f = $c * $f + tile[lane] * tile[(lane + 1) % WIDTH]; __syncthreads(); }""",
    """if (lane == 0) count = 0; tile[lane] = 0; __syncthreads(); if ($f > $T($c)) { int @at = atomicAdd(&count, 1);
    tile[@at] = $f * $v; } __syncthreads(); { $T @s = 0; for (int @k = 0; @k < count; @k++) @s += tile[@k];
    $f = tanh($c * $f + @s); } __syncthreads();""",
    """{ auto @part = cg::tiled_partition<16>(cg::this_thread_block()); $T @s = cg::reduce(@part, $f, cg::plus<$T>());
    if (@part.any($f > $L)) $f *= $c; $f = tanh($c * $f + $T(0.1) * @s) + $T(0.01) * @part.thread_rank(); }""",
    """{ auto @warp = cg::tiled_partition<32>(cg::this_thread_block()); $T @s = $f;
    for (int @o = 1; @o < @warp.size(); @o <<= 1) { $T @u = @warp.shfl_up(@s, @o); if (@warp.thread_rank() >= @o)
    @s = fmax(@s, @u); } tile[lane] = @s; cg::this_thread_block().sync(); $f = $c * $f + tile[@warp.meta_group_rank()
    * 32];
    cg::this_thread_block().sync(); }""",
    """tile[lane] = $f; pairs[lane].tag = lane; __syncthreads(); for (int @h = WIDTH / 2; @h > 0; @h >>= 1) {
    if (lane < @h && tile[lane + @h] < tile[lane]) { tile[lane] = tile[lane + @h]; pairs[lane].tag = pairs[lane +
    @h].tag; }
    __syncthreads(); } { int @best = pairs[0].tag; if (lane == @best) first = $f * $v; } __syncthreads();
    $f += $c * first + $c * tile[0]; __syncthreads();""",
    """{ bool @done = false; $T @left = 1, @sum = 0; for (int @s = 0; @s < n; @s += WIDTH) {
    if (__syncthreads_count(@done) == WIDTH) break; tile[lane] = x[(@s + lane) % n]; other[lane] = w[(@s + lane) % n];
    __syncthreads(); for (int @k = 0; !@done && @k < WIDTH && @s + @k < n; @k++) {
    $T @a = $T(0.4) + $T(0.3) * sin(tile[@k] + $f); if (@a < $T(0.2)) continue; $T @next = @left * (1 - @a);
    if (@next < $T(1e-2)) { @done = true; continue; } @sum += other[@k] * @a * @left; @left = @next; } }
    $f = @sum + @left * $c; __syncthreads(); }""",
    """{ $T @m = $f; for (int @o = 16; @o; @o >>= 1) @m = max(@m, __shfl_xor_sync(0xffffffffu, @m, @o));
    $T @e = exp($f - @m), @s = @e; for (int @o = 16; @o; @o >>= 1) @s += __shfl_xor_sync(0xffffffffu, @s, @o);
    $f = $c * $v + @e / @s; }""",
    """{ __shared__ $T @g[4][WIDTH / 4 + 1]; @g[lane / (WIDTH / 4)][lane % (WIDTH / 4)] = $f; __syncthreads();
    $f = $c * @g[lane % 4][lane / 4] + $v; __syncthreads(); }""",
    """if (__syncthreads_or($f > $L)) { $f *= $c; $round } else { $f += $T(0.1); }""",
    """if (lane < 4) bins[lane] = -2; __syncthreads(); for (int @k = 0; @k < 4; @k++) { if (lane % 4 == @k && lane /
    4 == $k)
    { $T @old = bins[@k]; bins[@k] = @old > $f ? @old : $f; } __syncthreads(); } $f = $c * $f + tanh(bins[$m % 4]);
    __syncthreads();""",
    """{ $T @in = $f; for (int @p = 2; @p <= 32; @p *= 2) for (int @d = @p / 2; @d > 0; @d /= 2) {
    $T @o = __shfl_xor_sync(0xffffffffu, @in, @d); bool @up = (lane & @p) == 0, @low = (lane & @d) == 0;
    @in = (@up == @low) ? fmin(@in, @o) : fmax(@in, @o); } $f = $c * @in + $v; }""",
    """{ $T @col[4]; for (int @k = 0; @k < 4; @k++) @col[@k] = __shfl_sync(0xffffffffu, $A[@k % $N], (lane + @k) & 31);
    for (int @k = 1; @k < 4; @k++) if (@col[@k] > @col[0]) exchange(@col[@k], @col[0]); $f = $c * $f + @col[0] -
    @col[3]; }""",
    """if (lane < WIDTH / 2) { tile[lane] = $f; tile[lane + WIDTH / 2] = $v; } __syncthreads();
    { $T *@p = tile + lane; $T @s = 0; for (int @k = lane; @k < WIDTH; @k += $k + 6, @p += $k + 6) @s = $c * @s + *@p;
    $f = $c * $f + @s; } __syncthreads();""",
)

LANES = (
    """{ unsigned @here = __activemask();
    $f = $c * $f + $c * __shfl_sync(@here, $f, lane % 32); $f += $T(0.01) * (@here >> lane % 32 & 1u); }""",
)

STORES = (
    """{ $T *@to = y + i; $T @v = *@to; for (int @k = 0; @k < $k; @k++) { @v = $c * @v + $A[@k % $N]; *@to = @v;
    if (@v > $L) return; } *@to = @v * $f; }""",
    """y[i] = i % 3 == 0 ? $f : i % 3 == 1 ? $A[0] * y[i] : -$v; if (y[i] > $T(0.5)) y[i] -= $T($c) * y[i] * y[i];""",
    """{ int @r = i / 8, @c = i % 8; int @to = @r * 8 + @c; y[@to] = $f + (@to + 1 < n ? x[@to + 1] : x[@to] * $v);
    }""",
)
