/* SPDX-License-Identifier: Apache-2.0
 *
 * The air of the room: what reaches the microphone of a simcard.
 */
#ifndef SIMCARD_AIR_H
#define SIMCARD_AIR_H

#include "simcard.h"

#define AIR_CHUNK_FRAMES 256

/* All zero is a good beginning: a room without an echo. */
struct air {
    struct simcard_path path; /* the last good copy, its taps reversed */
    float radiated[SIMCARD_MAX_TAPS + 2 * AIR_CHUNK_FRAMES];
    float heard[AIR_CHUNK_FRAMES];
};

/* Take over the echo path of the card if the room has changed it. */
void air_refresh(struct air *air, const struct simcard *card);

/* What the microphone delivers at `frames` (at most AIR_CHUNK_FRAMES) indexes from `first`. Gives
 * the same for the same indexes however they are cut into calls: it keeps no history. */
void air_hear(struct air *air, const struct simcard *card, int64_t first, int frames,
              int16_t *samples);

#endif
