/* SPDX-License-Identifier: Apache-2.0
 *
 * One direction of the card, opened: the part of it that runs.
 *
 * "Index" is a frame of the card, counted from its origin. "Position" is a frame of the stream,
 * counted from snd_pcm_prepare(), as ALSA's hw_ptr and appl_ptr are. While a stream moves,
 * index = base + position.
 */
#ifndef SIMCARD_STREAM_H
#define SIMCARD_STREAM_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <stdbool.h>

#include "air.h"
#include "simcard.h"

struct stream {
    snd_pcm_ioplug_t io;
    struct simcard *card;
    int shm_fd;
    int timer_fd;
    uint32_t plug_serial; /* of the card when this stream was opened */
    bool started;         /* between start and stop or xrun */
    bool moving;          /* started and not paused */
    int64_t base;         /* while moving: index of position 0 */
    int64_t position;     /* while standing: where */
    int64_t avail_min, stop_threshold;
    int16_t *queue; /* playback: what was written, by position modulo the buffer size */
    struct air air; /* capture */
};

extern const snd_pcm_ioplug_callback_t stream_callbacks;

/* Take back what somebody left queued to the loudspeaker: it played up to now. */
void stream_silence_leftovers(struct simcard *card);

/* Free the stream and what it holds. */
void stream_discard(struct stream *s);

#endif
