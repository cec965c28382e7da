/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared memory of the software sound card: one file, mapped by the process that plays, the
 * process that captures and the room (lab/sim/card_memory_layout.py, which a test compares with
 * this struct).
 *
 * Everything is counted in frames since `origin_ns`. Frame n begins `n / rate_hz` seconds after
 * it on CLOCK_MONOTONIC, for both directions: the card has one clock. Words are native endian.
 */
#ifndef SIMCARD_H
#define SIMCARD_H

#include <stdint.h>

#define SIMCARD_MAGIC 0x31445241434d4953ull /* "SIMCARD1" read as little endian */
#define SIMCARD_RING_FRAMES (1u << 22)      /* 87 s at 48 kHz, 262 s at 16 kHz */
#define SIMCARD_MAX_BUFFER_FRAMES 32768     /* the largest ALSA buffer: 0.68 s at 48 kHz */
#define SIMCARD_MAX_TAPS 8192               /* 0.17 s at 48 kHz, 0.51 s at 16 kHz */
#define SIMCARD_EVENTS 4096                 /* older events are overwritten */

/* A slot of a ring remembers in which lap round the ring it was written, so that what an earlier
 * lap left behind reads as silence: nothing ever has to be wiped, and a player that was killed
 * cannot be heard again a ring later. Lap 0 is never valid. */
#define SIMCARD_LAP(index) ((uint32_t)((index) / SIMCARD_RING_FRAMES % 65535 + 1))

/* A slot of the two recorded rings: the lap in the high half, the 16-bit sample in the low half,
 * so that one aligned store publishes both. */
#define SIMCARD_SLOT(index, sample) (SIMCARD_LAP(index) << 16 | (uint16_t)(sample))

/* A slot of the near-end ring. `sample` is a sum of sounds in units of one 16-bit step. */
struct simcard_near {
    float sample;
    uint32_t lap;
};

/* The way from the loudspeaker to the microphone. Written by the room alone: all fields, the
 * checksum, and a new serial last. A reader that sees a new serial copies, and keeps the copy
 * only if the checksum holds. That is what makes a change safe without a lock and without a
 * memory barrier, which Python could not give. */
struct simcard_path {
    uint32_t serial;
    uint32_t checksum;    /* serial + the words from `taps` to the last tap in use, modulo 2^32 */
    int32_t taps;         /* 0: the loudspeaker is not heard */
    int32_t delay_frames; /* before the first tap */
    float gain;           /* of the amplifier, linear */
    float drive;          /* of the loudspeaker: tanh(drive * x) / drive; 0 is linear */
    float h[SIMCARD_MAX_TAPS];
};

enum simcard_kind {
    SIMCARD_START = 1, /* index: of the first frame */
    SIMCARD_STOP,      /* index: of the first frame that was not played; frames: dropped unplayed */
    SIMCARD_PAUSE,     /* index: likewise; frames: queued */
    SIMCARD_RESUME,    /* index: at which the first queued frame plays; frames: queued */
    SIMCARD_XRUN       /* index: of the first frame missing or lost; frames: until it was noticed */
};

struct simcard_event {
    uint64_t serial; /* from 1; stored last, so an event with another serial is not there yet */
    int64_t time_ns; /* CLOCK_MONOTONIC */
    int64_t index;
    int64_t frames;
    uint32_t stream; /* 0 playback, 1 capture, as snd_pcm_stream_t */
    uint32_t kind;   /* enum simcard_kind */
};

struct simcard {
    uint64_t magic; /* stored last by whoever creates the card */
    int64_t origin_ns;
    uint32_t rate_hz;
    uint32_t granularity_frames; /* the position moves in such steps; 1 is exact */
    int32_t output_fifo_frames;  /* from the loudspeaker ring to the air (codec, USB) */
    int32_t input_fifo_frames;   /* from the air to the microphone ring */
    uint32_t plug_serial;        /* odd: unplugged. A stream dies when it is not what it was at open */
    uint32_t busy;               /* not 0: opening is refused */
    int64_t play_end;            /* behind the last frame that was queued to the loudspeaker */
    int64_t capture_end;         /* behind the last frame that was delivered */
    uint64_t event_count;
    struct simcard_path path;
    struct simcard_event events[SIMCARD_EVENTS];
    uint32_t loudspeaker[SIMCARD_RING_FRAMES]; /* slots: what the DAC plays; written ahead */
    uint32_t microphone[SIMCARD_RING_FRAMES];  /* slots: what was delivered to the capture side */
    struct simcard_near near_end[SIMCARD_RING_FRAMES]; /* sounds of the room; written ahead */
};

#endif
