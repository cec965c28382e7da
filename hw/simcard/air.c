/* SPDX-License-Identifier: Apache-2.0
 *
 * microphone[n] = near_end[n - in] + sum over k of h[k] * loudspeaker[n - in - out - delay - k],
 * where in and out are the FIFOs of the card; rounded and saturated to 16 bits.
 */
#include "air.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define FULL_SCALE 32768.0f

/* Four samples in one register on every CPU: gcc and clang both make this SSE or NEON. Left to
 * vectorise plain C at -O2, gcc 12 was four times slower. */
typedef float four __attribute__((vector_size(16)));
#define LANES 16 /* four registers of outputs, summed side by side */

static four load(const float *from)
{
    four value;
    memcpy(&value, from, sizeof value);
    return value;
}

void air_refresh(struct air *air, const struct simcard *card)
{
    const struct simcard_path *shared = &card->path;
    uint32_t serial = __atomic_load_n(&shared->serial, __ATOMIC_ACQUIRE);
    if (serial == air->path.serial)
        return;
    struct simcard_path copy = *shared;
    if (copy.taps < 0 || copy.taps > SIMCARD_MAX_TAPS)
        return;
    uint32_t sum = serial;
    size_t end = offsetof(struct simcard_path, h) + copy.taps * sizeof copy.h[0];
    for (size_t at = offsetof(struct simcard_path, taps); at < end; at += sizeof sum) {
        uint32_t word;
        memcpy(&word, (const char *)&copy + at, sizeof word);
        sum += word;
    }
    if (sum != copy.checksum)
        return; /* half written: next time */
    copy.serial = serial;
    for (int i = 0; i < copy.taps / 2; i++) {
        float swap = copy.h[i];
        copy.h[i] = copy.h[copy.taps - 1 - i];
        copy.h[copy.taps - 1 - i] = swap;
    }
    air->path = copy;
}

/* What the loudspeaker radiated at `frames` indexes from `first`. False if that was nothing. */
static bool radiate(struct air *air, const struct simcard *card, int64_t first, int frames)
{
    float gain = air->path.gain, drive = air->path.drive;
    bool sounds = false;
    for (int i = 0; i < frames; i++) {
        int64_t index = first + i;
        uint32_t slot = 0;
        if (index >= 0)
            slot = __atomic_load_n(&card->loudspeaker[index % SIMCARD_RING_FRAMES],
                                   __ATOMIC_RELAXED);
        if (slot >> 16 != SIMCARD_LAP(index))
            slot = 0;
        sounds |= (slot & 0xffff) != 0;
        air->radiated[i] = (int16_t)slot * gain;
    }
    if (sounds && drive > 0)
        for (int i = 0; i < frames; i++)
            air->radiated[i] = tanhf(air->radiated[i] / FULL_SCALE * drive) / drive * FULL_SCALE;
    return sounds;
}

static void add_echo(struct air *air, const struct simcard *card, int64_t first, int frames)
{
    int taps = air->path.taps;
    if (taps == 0 || !radiate(air, card, first - (taps - 1), taps - 1 + frames))
        return;
    for (int i = 0; i < frames; i += LANES) {
        four sum[LANES / 4];
        memcpy(sum, &air->heard[i], sizeof sum);
        for (int k = 0; k < taps; k++) { /* the taps are reversed: both run forwards */
            const float *from = &air->radiated[i + k];
            float h = air->path.h[k];
            sum[0] += h * load(from);
            sum[1] += h * load(from + 4);
            sum[2] += h * load(from + 8);
            sum[3] += h * load(from + 12);
        }
        memcpy(&air->heard[i], sum, sizeof sum);
    }
}

void air_hear(struct air *air, const struct simcard *card, int64_t first, int frames,
              int16_t *samples)
{
    int64_t at = first - card->input_fifo_frames;
    memset(air->heard, 0, sizeof air->heard);
    for (int i = 0; i < frames; i++) {
        if (at + i < 0)
            continue;
        const struct simcard_near *near_end = &card->near_end[(at + i) % SIMCARD_RING_FRAMES];
        if (near_end->lap == SIMCARD_LAP(at + i))
            air->heard[i] = near_end->sample;
    }
    add_echo(air, card, at - card->output_fifo_frames - air->path.delay_frames, frames);
    for (int i = 0; i < frames; i++)
        samples[i] = lrintf(fminf(fmaxf(air->heard[i], INT16_MIN), INT16_MAX));
}
