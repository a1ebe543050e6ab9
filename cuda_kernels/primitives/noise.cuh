// Normal numbers by a counter: the same for the same seed, stream, row and column, wherever and however often they are asked for.
// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11. Box and Muller's transform.
#pragma once

struct Words {
    unsigned x, y, z, w;
};

__device__ inline Words philox(Words counter, unsigned key, unsigned key_high)
{
#pragma unroll
    for (int round = 0; round < 10; round++) {
        unsigned long long first = 0xD2511F53ull * counter.x, second = 0xCD9E8D57ull * counter.z;
        counter = {(unsigned)(second >> 32) ^ counter.y ^ key, (unsigned)second,
                   (unsigned)(first >> 32) ^ counter.w ^ key_high, (unsigned)first};
        key += 0x9E3779B9u;
        key_high += 0xBB67AE85u;
    }
    return counter;
}

__device__ inline float uniform(unsigned word)
{
    return word * 2.3283064e-10f + 1.1641532e-10f; // in (0, 1]
}

template <typename T>
struct Four {
    T value[4];
};

template <typename T>
__device__ inline void box_muller(unsigned radius_word, unsigned angle_word, T *pair)
{
    float radius = sqrtf(-2 * logf(uniform(radius_word))), sine, cosine;
    sincospif(2 * uniform(angle_word), &sine, &cosine);
    pair[0] = radius * cosine;
    pair[1] = radius * sine;
}

// How copies are drawn; SIGNS beside one of the others.
enum Kind { ANTITHETIC = 1, LATTICE = 2, SIGNS = 4 };

// What draws a layer's noise. Rows are copies of `samples` rows each, one copy after the other, and `first_row` is the
// number of row 0 among all rows; so chunks of copies draw what all copies at once would. Of a sequence, `step_rows`
// rows are one step, and all rows of a step are `all_step_rows`.
struct Draw {
    unsigned seed, stream, first_row, samples;
    int kind; // ANTITHETIC: every second copy has the negated noise of the copy before it
    unsigned step_rows, all_step_rows;
};

// Where a copy stands on a lattice of as many points as there are copies, of which each number has its own generator.
__device__ inline unsigned on_lattice(unsigned shift, unsigned generator, unsigned copy, unsigned copies)
{
    unsigned long long point = (unsigned long long)copy * (generator | 1) % copies;
    return shift + unsigned((point << 32) / copies);
}

// Copies fill the range of every number evenly: a lattice rule of rank 1, shifted at random, so that each copy alone is
// distributed as without (Dick, Kuo, Sloan, "High-dimensional integration: the quasi-Monte Carlo way", 2013).
__device__ inline Words lattice_words(const Draw &draw, unsigned drawn, unsigned quad, unsigned copy)
{
    unsigned copies = draw.all_step_rows / draw.samples;
    Words shift = philox({drawn, quad, draw.stream, 0}, draw.seed, LATTICE);
    Words generator = philox({drawn, quad, draw.stream, 1}, draw.seed, LATTICE);
    return {on_lattice(shift.x, generator.x, copy, copies), on_lattice(shift.y, generator.y, copy, copies),
            on_lattice(shift.z, generator.z, copy, copies), on_lattice(shift.w, generator.w, copy, copies)};
}

// The noise of columns 4 * quad to 4 * quad + 3 of a row.
template <typename T>
__device__ inline Four<T> noise(const Draw &draw, unsigned row, unsigned quad)
{
    unsigned before = row / draw.step_rows * draw.all_step_rows, inside = draw.first_row + row % draw.step_rows;
    unsigned copy = (before + inside) / draw.samples, sample = inside % draw.samples;
    bool pairs = draw.kind & ANTITHETIC;
    Words words;
    if (draw.kind & LATTICE)
        words = lattice_words(draw, before + sample, quad, inside / draw.samples);
    else
        words = philox({(pairs ? copy / 2 : copy) * draw.samples + sample, quad, draw.stream, 0}, draw.seed, pairs);
    Four<T> result;
    box_muller(words.x, words.y, result.value);
    box_muller(words.z, words.w, result.value + 2);
    if (pairs && copy % 2)
        for (T &each : result.value)
            each = -each;
    return result;
}

// What an estimate takes of the noise: its value, or its sign, times what makes of it the same derivative, sqrt(pi / 2).
template <typename T>
__device__ inline Four<T> scored(const Draw &draw, unsigned row, unsigned quad)
{
    Four<T> drawn = noise<T>(draw, row, quad);
    if (draw.kind & SIGNS)
        for (T &each : drawn.value)
            each = each < 0 ? T(-1.2533141373155) : T(1.2533141373155);
    return drawn;
}
