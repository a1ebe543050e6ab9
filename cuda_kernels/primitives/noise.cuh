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

// What draws a layer's noise. Rows are copies of `samples` rows each, one copy after the other, and `first_row` is the number of row 0
// among all rows; so chunks of copies draw what all copies at once would. Of a sequence, `step_rows` rows are one step, and all rows of a step
// are `all_step_rows`.
struct Draw {
    unsigned seed, stream, first_row, samples;
    int antithetic; // every second copy has the negated noise of the copy before it
    unsigned step_rows, all_step_rows;
};

// The noise of columns 4 * quad to 4 * quad + 3 of a row.
template <typename T>
__device__ inline Four<T> noise(const Draw &draw, unsigned row, unsigned quad)
{
    unsigned all = draw.first_row + row / draw.step_rows * draw.all_step_rows + row % draw.step_rows;
    unsigned copy = all / draw.samples, sample = all % draw.samples;
    unsigned drawn = (draw.antithetic ? copy / 2 : copy) * draw.samples + sample;
    Words words = philox({drawn, quad, draw.stream, 0}, draw.seed, draw.antithetic);
    Four<T> result;
    box_muller(words.x, words.y, result.value);
    box_muller(words.z, words.w, result.value + 2);
    if (draw.antithetic && copy % 2)
        for (T &each : result.value)
            each = -each;
    return result;
}
