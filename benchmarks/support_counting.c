// The yardstick: support counts of local hashing by hand in AVX-512, for the hash of
// src/ldp3/protocols/local_hashing.py with g < 255 cells. Users across the lanes, as there.
// gcc -O3 -march=native -shared -fPIC -o support_counting.so support_counting.c
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define USERS 256

static inline __m512i mix(__m512i z) {
    z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 30)),
                           _mm512_set1_epi64((long long)0xBF58476D1CE4E5B9ull));
    z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 27)),
                           _mm512_set1_epi64((long long)0x94D049BB133111EBull));
    return _mm512_xor_si512(z, _mm512_srli_epi64(z, 31));
}

// n is a multiple of 256
void count_supports(const uint64_t *seeds, const uint8_t *cells, size_t n, int low_bits, uint64_t g,
                    size_t d, int64_t *counts) {
    size_t size = (size_t)1 << low_bits, highs = (d + size - 1) >> low_bits;
    size_t entries = (size + highs + 1) / 2 * 2;
    uint8_t *table = aligned_alloc(64, entries * USERS);
    uint8_t *inside = aligned_alloc(64, highs * size * 64);
    memset(inside, 0, highs * size * 64);
    __m512i vg = _mm512_set1_epi64((long long)g), bytes = _mm512_set1_epi8((char)g);
    __m512i one = _mm512_set1_epi8(1);
    int passes = 0;
    for (size_t start = 0; start < n; start += USERS) {
        for (size_t e = 0; e < entries; e += 2) {
            __m512i offset = _mm512_set1_epi64((long long)((e / 2 + 1) * 0x9E3779B97F4A7C15ull));
            for (int u = 0; u < USERS; u += 8) {
                __m512i w = mix(_mm512_add_epi64(_mm512_loadu_si512(seeds + start + u), offset));
                __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(w, 32), vg), 32);
                __m512i odd = _mm512_srli_epi64(_mm512_mul_epu32(w, vg), 32);
                _mm_storel_epi64((__m128i *)(table + e * USERS + u), _mm512_cvtepi64_epi8(even));
                _mm_storel_epi64((__m128i *)(table + (e + 1) * USERS + u), _mm512_cvtepi64_epi8(odd));
            }
        }
        for (size_t high = 0; high < highs; high++) {
            __m512i target[4];
            for (int j = 0; j < 4; j++) {
                __m512i own = _mm512_loadu_si512(cells + start + 64 * j);
                __m512i b = _mm512_load_si512(table + (size + high) * USERS + 64 * j);
                __m512i difference = _mm512_sub_epi8(own, b);
                __mmask64 below = _mm512_cmplt_epu8_mask(own, b);
                target[j] = _mm512_mask_add_epi8(difference, below, difference, bytes);
            }
            for (size_t low = 0; low < size; low++) {
                uint8_t *at = inside + (high * size + low) * 64, *row = table + low * USERS;
                __m512i sum = _mm512_load_si512(at);
                for (int j = 0; j < 4; j++) {
                    __mmask64 hit = _mm512_cmpeq_epi8_mask(_mm512_load_si512(row + 64 * j), target[j]);
                    sum = _mm512_mask_add_epi8(sum, hit, sum, one);
                }
                _mm512_store_si512(at, sum);
            }
        }
        if (++passes == 63 || start + USERS >= n) {
            for (size_t v = 0; v < d; v++) {
                __m512i sums = _mm512_sad_epu8(_mm512_load_si512(inside + v * 64), _mm512_setzero_si512());
                counts[v] += _mm512_reduce_add_epi64(sums);
            }
            memset(inside, 0, highs * size * 64);
            passes = 0;
        }
    }
    free(table);
    free(inside);
}
