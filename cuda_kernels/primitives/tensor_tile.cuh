// Products of matrices on Tensor Cores: tiles in shared memory that are copied some steps ahead, mma.sync, sums in
// float. Factors are half, __nv_bfloat16, or float of which tf32 is multiplied. Used by dense_tensor.cu and
// convolution_tensor.cu, which say where the left factor comes from, and by the tensor operators' matmul_tensor.cu.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum Activation { PRODUCT, LINEAR, RELU, TANH };

template <int ACTIVATION>
__device__ float activated(float z)
{
    return ACTIVATION == RELU ? (z > 0 ? z : 0) : ACTIVATION == TANH ? tanhf(z) : z;
}

__device__ inline unsigned shared_address(const void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ inline void load_matrices(unsigned (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}

__device__ inline void load_transposed(unsigned (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}

#define ADD_PRODUCT(SHAPE, TYPE)                                                                                       \
    asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "   \
                 "{%8, %9}, {%0, %1, %2, %3};"                                                                         \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

__device__ inline void add_product(half, float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    ADD_PRODUCT("m16n8k16", "f16");
}

__device__ inline void add_product(__nv_bfloat16, float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    ADD_PRODUCT("m16n8k16", "bf16");
}

__device__ inline void add_product(float, float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    ADD_PRODUCT("m16n8k8", "tf32");
}

__device__ inline unsigned tf32(float x)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

// Row and column where a block's part of M x N elements begins. Neighbours in number are neighbours in a strip of so
// many rows of blocks, so that what they share stays in the cache.
template <int M, int N>
__device__ int2 part_of_block(int rows, int columns, int strip)
{
    int across = (columns + N - 1) / N, down = (rows + M - 1) / M;
    int first = blockIdx.x / (strip * across) * strip, high = min(strip, down - first);
    int inside = blockIdx.x - first * across;
    return make_int2((first + inside % high) * M, inside / high * N);
}

// 16 bytes, or zeros; the first `count` elements of a row where rows are not a multiple of 16 bytes.
template <bool VECTORS, typename T>
__device__ void copy_pack(T *to, const T *from, int count)
{
    if constexpr (VECTORS) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                     "r"(count > 0 ? 16 : 0));
    } else {
#pragma unroll
        for (int i = 0; i < int(16 / sizeof(T)); i++)
            to[i] = T(i < count ? float(from[i]) : 0.0f);
    }
}

// A matrix in memory, row by row, and where a thread reads it next.
template <typename T>
struct Rows {
    const T *data;
    int rows, columns;

    struct Place {
        const T *from;
        int rows, columns; // from here on
        size_t pitch;

        // The pack so many rows below.
        template <bool VECTORS>
        __device__ void copy(T *to, int below) const
        {
            copy_pack<VECTORS>(to, from + below * pitch, below < rows ? columns : 0);
        }
        __device__ void down(int by)
        {
            from += by * pitch;
            rows -= by;
        }
        __device__ void right(int by)
        {
            from += by;
            columns -= by;
        }
    };

    __device__ Place place(int row, int column) const
    {
        return {data + size_t(row) * columns + column, rows - row, columns - column, size_t(columns)};
    }
};

// What a block computes: M x N elements, WARPS_M x WARPS_N warps of M / WARPS_M x N / WARPS_N each; DEPTH inner
// indices are in shared memory at a time, STAGES times over. TURNED_A, TURNED_B: the factor lies in memory transposed.
template <typename T, int M, int N, int DEPTH, int STAGES, int WARPS_M, int WARPS_N, bool TURNED_A, bool TURNED_B,
          bool VECTORS>
struct Tile {
    static constexpr int threads = 32 * WARPS_M * WARPS_N;
    static constexpr int pack = 16 / sizeof(T), inner = 4 * pack / 2; // elements of 16 bytes; of an instruction
    static constexpr bool wide = sizeof(T) == 4;
    // Rows are longer by what keeps lanes that load together in different banks.
    static constexpr int a_rows = TURNED_A ? DEPTH : M, a_columns = TURNED_A ? M : DEPTH;
    static constexpr int b_rows = TURNED_B ? N : DEPTH, b_columns = TURNED_B ? DEPTH : N;
    static constexpr int a_pitch = a_columns + (wide && !TURNED_A ? 4 : 8);
    static constexpr int b_pitch = b_columns + (wide && TURNED_B ? 4 : 8);
    static constexpr int a_size = a_rows * a_pitch, stage = a_size + b_rows * b_pitch;
    static constexpr int bytes = stage * STAGES * int(sizeof(T));
    static constexpr int high = M / WARPS_M / 16, across = N / WARPS_N / 8;

    float sum[high][across][4] = {};

    // A thread's packs of a tile are in one column of packs, so many rows apart.
    template <int ROWS, int COLUMNS, int PITCH, class Place>
    static __device__ void fetch(T *to, const Place &place, int part, int parts)
    {
        constexpr int packs = COLUMNS / pack, apart = threads / packs;
        static_assert(threads % packs == 0, "the columns of packs are shared out evenly");
        to += threadIdx.x / packs * PITCH + threadIdx.x % packs * pack;
#pragma unroll
        for (int below = 0; below < ROWS; below += apart) {
            if (below / apart % parts != part)
                continue;
            if (ROWS % apart == 0 || int(threadIdx.x / packs) + below < ROWS)
                place.template copy<VECTORS>(to + below * PITCH, below);
        }
    }

    // Where this thread begins to read a factor of which `outer` is the block's first row or column of the result.
    template <bool TURNED, int COLUMNS, class Source>
    static __device__ auto begin_at(const Source &source, int outer)
    {
        constexpr int packs = COLUMNS / pack;
        int row = threadIdx.x / packs, column = threadIdx.x % packs * pack;
        return TURNED ? source.place(row, outer + column) : source.place(outer + row, column);
    }

    // One of so many parts of both factors' next tile.
    template <class Left, class Right>
    static __device__ void fetch_stage(T *memory, Left &left, Right &right, int part = 0, int parts = 1)
    {
        fetch<a_rows, a_columns, a_pitch>(memory, left, part, parts);
        fetch<b_rows, b_columns, b_pitch>(memory + a_size, right, part, parts);
        if (part < parts - 1)
            return;
        if constexpr (TURNED_A)
            left.down(DEPTH);
        else
            left.right(DEPTH);
        if constexpr (TURNED_B)
            right.right(DEPTH);
        else
            right.down(DEPTH);
    }

    static __device__ void load_a(unsigned (&a)[4], const T *tile, int row, int depth)
    {
        int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
        if constexpr (wide) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int r = row + g + i % 2 * 8, k = depth + t + i / 2 * 4;
                a[i] = tf32(TURNED_A ? tile[k * a_pitch + r] : tile[r * a_pitch + k]);
            }
        } else if constexpr (TURNED_A) {
            load_transposed(a, tile + (depth + lane % 8 + lane / 16 * 8) * a_pitch + row + lane / 8 % 2 * 8);
        } else {
            load_matrices(a, tile + (row + lane % 16) * a_pitch + depth + lane / 16 * 8);
        }
    }

    // Of two neighbouring columns of eight.
    static __device__ void load_b(unsigned (&b)[4], const T *tile, int column, int depth)
    {
        int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
        if constexpr (wide) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int k = depth + t + i % 2 * 4, n = column + g + i / 2 * 8;
                b[i] = tf32(TURNED_B ? tile[n * b_pitch + k] : tile[k * b_pitch + n]);
            }
        } else if constexpr (TURNED_B) {
            load_matrices(b, tile + (column + lane % 8 + lane / 16 * 8) * b_pitch + depth + lane / 8 % 2 * 8);
        } else {
            load_transposed(b, tile + (depth + lane % 16) * b_pitch + column + lane / 16 * 8);
        }
    }

    struct Factors {
        unsigned a[high][4], b[across / 2][4];

        __device__ void load(const T *memory, int row, int column, int depth)
        {
#pragma unroll
            for (int i = 0; i < high; i++)
                load_a(a[i], memory, row + 16 * i, depth);
#pragma unroll
            for (int j = 0; j < across / 2; j++)
                load_b(b[j], memory + a_size, column + 16 * j, depth);
        }
    };

    __device__ void add(const Factors &own)
    {
#pragma unroll
        for (int i = 0; i < high; i++)
#pragma unroll
            for (int j = 0; j < across; j++)
                add_product(T(0.0f), sum[i][j], own.a[i], own.b[j / 2][j % 2 * 2], own.b[j / 2][j % 2 * 2 + 1]);
    }

    // The sums of rows from `top` and columns from `begin`.
    template <class Left, class Right>
    __device__ void run(T *memory, const Left &of_left, const Right &of_right, int top, int begin, int depth)
    {
        int steps = (depth + DEPTH - 1) / DEPTH;
        auto left = begin_at<TURNED_A, a_columns>(of_left, top);
        auto right = begin_at<!TURNED_B, b_columns>(of_right, begin);
        if constexpr (STAGES == 1)
            run_one_by_one(memory, left, right, steps);
        else
            run_ahead(memory, left, right, steps);
    }

    template <class Left, class Right>
    __device__ void run_one_by_one(T *memory, Left &left, Right &right, int steps)
    {
        int warp = threadIdx.x / 32, row = warp / WARPS_N * high * 16, column = warp % WARPS_N * across * 8;
        for (int step = 0; step < steps; step++) {
            fetch_stage(memory, left, right);
            asm volatile("cp.async.commit_group;");
            asm volatile("cp.async.wait_group 0;");
            __syncthreads();
#pragma unroll
            for (int k = 0; k < DEPTH; k += inner) {
                Factors factors;
                factors.load(memory, row, column, k);
                add(factors);
            }
            __syncthreads();
        }
    }

    // Tiles are copied some steps ahead, and factors are loaded while those before them are multiplied: the first ones
    // of a tile while the last ones of the tile before are, behind the barrier that lets the next copies begin.
    template <class Left, class Right>
    __device__ void run_ahead(T *memory, Left &left, Right &right, int steps)
    {
        constexpr int parts = DEPTH / inner, last = (STAGES - 1) * stage;
        static_assert(parts % 2 == 0, "two sets of factors take turns");
        int warp = threadIdx.x / 32, row = warp / WARPS_N * high * 16, column = warp % WARPS_N * across * 8;
#pragma unroll
        for (int s = 0; s < STAGES - 1; s++) {
            if (s < steps)
                fetch_stage(memory + s * stage, left, right);
            asm volatile("cp.async.commit_group;");
        }
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        int read = 0, write = last;
        Factors factors[2];
        factors[0].load(memory, row, column, 0);
        for (int step = 0; step < steps; step++) {
#pragma unroll
            for (int k = 0; k < parts; k++) {
                if (k == parts - 1) {
                    asm volatile("cp.async.commit_group;");
                    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
                    __syncthreads();
                    write = read;
                    read = read == last ? 0 : read + stage;
                }
                factors[(k + 1) % 2].load(memory + read, row, column, (k + 1) % parts * inner);
                if (k < parts - 1 && step + STAGES - 1 < steps)
                    fetch_stage(memory + write, left, right, k, parts - 1);
                add(factors[k % 2]);
            }
        }
    }

    // use(row, column, sum there, sum in the next column), for all of a thread's sums.
    template <class Use>
    __device__ void for_each_pair(int top, int begin, Use use) const
    {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        int row = top + warp / WARPS_N * high * 16 + lane / 4;
        int column = begin + warp % WARPS_N * across * 8 + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < high; i++)
#pragma unroll
            for (int j = 0; j < across; j++)
#pragma unroll
                for (int r = 0; r < 2; r++)
                    use(row + 16 * i + 8 * r, column + 8 * j, sum[i][j][2 * r], sum[i][j][2 * r + 1]);
    }

    // out = activation(sums + bias), with one bias a column.
    template <int ACTIVATION, typename Out>
    __device__ void store(Out *out, const T *bias, int top, int begin, int rows, int columns) const
    {
        if constexpr (VECTORS && STAGES > 1 && sizeof(Out) == 2 && across % 4 == 0)
            return store_packs<ACTIVATION>(out, bias, top, begin, rows, columns);
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        int row = top + warp / WARPS_N * high * 16 + lane / 4;
        int column = begin + warp % WARPS_N * across * 8 + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < across; j++) {
            float added[2] = {};
            if constexpr (ACTIVATION != PRODUCT)
                for (int c = 0; c < 2; c++)
                    if (column + 8 * j + c < columns)
                        added[c] = bias[column + 8 * j + c];
#pragma unroll
            for (int i = 0; i < high; i++)
#pragma unroll
                for (int r = 0; r < 2; r++)
                    store_pair<ACTIVATION>(out, row + 16 * i + 8 * r, column + 8 * j, rows, columns,
                                           sum[i][j][2 * r] + added[0], sum[i][j][2 * r + 1] + added[1]);
        }
    }

    // The same by packs of eight: pairs would be half of what memory takes at a time.
    template <int ACTIVATION, typename Out>
    __device__ void store_packs(Out *out, const T *bias, int top, int begin, int rows, int columns) const
    {
        struct alignas(16) Pack {
            Out of[8];
        };
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, t = lane % 4;
        int row = top + warp / WARPS_N * high * 16 + lane / 4, column = begin + warp % WARPS_N * across * 8;
#pragma unroll
        for (int j = 0; j < across; j += 4) {
            float added[4][2] = {};
            if (ACTIVATION != PRODUCT)
#pragma unroll
                for (int k = 0; k < 8; k++)
                    if (int at = column + 8 * (j + k / 2) + 2 * t + k % 2; at < columns)
                        added[k / 2][k % 2] = bias[at];
#pragma unroll
            for (int r = 0; r < 2 * high; r++) {
                float own[4][2];
#pragma unroll
                for (int k = 0; k < 8; k++) {
                    float z = sum[r / 2][j + k / 2][r % 2 * 2 + k % 2] + added[k / 2][k % 2];
                    own[k / 2][k % 2] = activated<ACTIVATION>(z);
                }
                turn(own);
                Pack pack;
#pragma unroll
                for (int k = 0; k < 8; k++)
                    pack.of[k] = Out(own[k / 2][k % 2]);
                int to = column + 8 * (j + t);
                if (row + 8 * r < rows && to < columns)
                    *reinterpret_cast<Pack *>(out + size_t(row + 8 * r) * columns + to) = pack;
            }
        }
    }

    // Of four neighbouring pieces of eight columns each lane of four has two columns each; it gets all of one.
    static __device__ void turn(float (&own)[4][2])
    {
        int t = threadIdx.x % 4;
#pragma unroll
        for (int bit = 1; bit < 4; bit *= 2)
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float &lower = own[k / 2 & ~bit][k % 2], &upper = own[k / 2 | bit][k % 2];
                if (k / 2 & bit)
                    continue;
                float got = __shfl_xor_sync(~0u, t & bit ? lower : upper, bit);
                lower = t & bit ? got : lower;
                upper = t & bit ? upper : got;
            }
    }

    template <int ACTIVATION, typename Out>
    static __device__ void store_pair(Out *out, int row, int column, int rows, int columns, float first, float second)
    {
        if (row >= rows || column >= columns)
            return;
        Out *to = out + size_t(row) * columns + column;
        struct alignas(2 * sizeof(Out)) Pair {
            Out of[2];
        };
        Pair pair = {Out(activated<ACTIVATION>(first)), Out(activated<ACTIVATION>(second))};
        if constexpr (VECTORS && STAGES > 1) {
            *reinterpret_cast<Pair *>(to) = pair;
        } else {
            to[0] = pair.of[0];
            if (VECTORS || column + 1 < columns)
                to[1] = pair.of[1];
        }
    }
};
