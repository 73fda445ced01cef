// The yardstick: support counts of local hashing by hand in AVX-512, for the hash of
// src/ldp3/kernels/hashing.py with g <= 128 cells. Users across the lanes, as there.
// gcc -O3 -march=native -shared -fPIC -o support_counting.so support_counting.c
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define USERS 128
#define HIGHS 4

static inline __m512i mix(__m512i z) {
    z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 30)),
                           _mm512_set1_epi64((long long)0xBF58476D1CE4E5B9ull));
    z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 27)),
                           _mm512_set1_epi64((long long)0x94D049BB133111EBull));
    return _mm512_xor_si512(z, _mm512_srli_epi64(z, 31));
}

// four entries of eight users from one word each
static inline void fill(const uint64_t *seeds, uint8_t *table, size_t row, __m512i g) {
    __m512i offset = _mm512_set1_epi64((long long)((row / 4 + 1) * 0x9E3779B97F4A7C15ull));
    for (int u = 0; u < USERS; u += 8) {
        __m512i w = mix(_mm512_add_epi64(_mm512_loadu_si512(seeds + u), offset));
        __m512i e = _mm512_mulhi_epu16(w, g);
        for (int k = 0; k < 4; k++) {
            __m128i eight = _mm512_cvtepi64_epi8(_mm512_srli_epi64(e, 16 * k));
            _mm_storel_epi64((__m128i *)(table + (row + k) * USERS + u), eight);
        }
    }
}

static inline __m512i subtract(__m512i a, __m512i b, __m512i g) {
    __m512i difference = _mm512_sub_epi8(a, b);
    return _mm512_min_epu8(difference, _mm512_add_epi8(difference, g));
}

// n is a multiple of 128; counts has room for four rows of values more than d
void count_supports(const uint64_t *seeds, const uint8_t *cells, size_t n, int low_bits, uint64_t g,
                    size_t d, int64_t *counts) {
    size_t size = (size_t)1 << low_bits, highs = (d + size - 1) >> low_bits;
    uint8_t *table = aligned_alloc(64, (4 * size + HIGHS) * USERS);
    __m512i pieces = _mm512_set1_epi16((short)g), bytes = _mm512_set1_epi8((char)g);
    for (size_t start = 0; start < n; start += USERS) {
        for (size_t row = 0; row < size + highs; row += 4) fill(seeds + start, table, row, pieces);
        for (size_t row = 2 * size / 4 * 4; row < 3 * size + highs; row += 4)
            fill(seeds + start, table, row, pieces);
        for (size_t high = 0; high < highs; high += HIGHS) {
            __m512i wanted[HIGHS][2], third[HIGHS][2];
            for (int k = 0; k < HIGHS; k++)
                for (int j = 0; j < 2; j++) {
                    __m512i own = _mm512_loadu_si512(cells + start + 64 * j);
                    __m512i b = _mm512_load_si512(table + (size + high + k) * USERS + 64 * j);
                    wanted[k][j] = subtract(own, b, bytes);
                    third[k][j] = _mm512_load_si512(table + (2 * size + high + k) * USERS + 64 * j);
                }
            for (size_t low = 0; low < size; low++) {
                int64_t hits[HIGHS] = {0};
                for (int j = 0; j < 2; j++) {
                    __m512i a = _mm512_load_si512(table + low * USERS + 64 * j);
                    for (int k = 0; k < HIGHS; k++) {
                        __m512i rest = subtract(wanted[k][j], third[k][j], bytes);
                        hits[k] += _mm_popcnt_u64(_mm512_cmpeq_epi8_mask(a, rest));
                    }
                    for (int k = 0; k + 1 < HIGHS; k++) third[k][j] = third[k + 1][j];
                    size_t next = 2 * size + low + 1 + high + HIGHS - 1;
                    third[HIGHS - 1][j] = _mm512_load_si512(table + next * USERS + 64 * j);
                }
                for (int k = 0; k < HIGHS; k++) counts[(high + k) * size + low] += hits[k];
            }
        }
    }
    free(table);
}
