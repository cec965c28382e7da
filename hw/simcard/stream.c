/* SPDX-License-Identifier: Apache-2.0
 *
 * In: what ALSA asks of a card by its callbacks. Out: frames in the rings of the card, a timer that
 * wakes pollers, and the log of starts, stops and xruns.
 */
#define _GNU_SOURCE
#include "stream.h"

#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL
#define IDLE_NS 100000000LL /* a poller of a stream that stands still looks this often for an unplug */

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

static int64_t index_now(const struct simcard *card)
{
    int64_t ns = clock_ns() - card->origin_ns;
    int64_t index = ns / SECOND_NS * card->rate_hz + ns % SECOND_NS * card->rate_hz / SECOND_NS;
    return index - index % card->granularity_frames;
}

/* The first moment at which index_now() gives at least `index`. */
static int64_t time_of(const struct simcard *card, int64_t index)
{
    int64_t step = card->granularity_frames, rate = card->rate_hz;
    index = (index + step - 1) / step * step;
    return card->origin_ns + index / rate * SECOND_NS +
           (index % rate * SECOND_NS + rate - 1) / rate;
}

static bool plays(const struct stream *s)
{
    return s->io.stream == SND_PCM_STREAM_PLAYBACK;
}

static int64_t position(const struct stream *s)
{
    return s->moving ? index_now(s->card) - s->base : s->position;
}

/* Frames the program may write or read when its own pointer is at `appl`. */
static int64_t available(const struct stream *s, int64_t appl)
{
    int64_t ahead = position(s) - appl;
    return plays(s) ? ahead + (int64_t)s->io.buffer_size : ahead;
}

static void record(struct stream *s, enum simcard_kind kind, int64_t index, int64_t frames)
{
    struct simcard *card = s->card;
    uint64_t count = __atomic_fetch_add(&card->event_count, 1, __ATOMIC_RELAXED);
    struct simcard_event *event = &card->events[count % SIMCARD_EVENTS];
    event->time_ns = clock_ns();
    event->index = index;
    event->frames = frames;
    event->stream = s->io.stream;
    event->kind = kind;
    __atomic_store_n(&event->serial, count + 1, __ATOMIC_RELEASE);
}

/* Make the descriptor readable: at once, or at the next period boundary, which is when the
 * interrupt of a real card would come. Setting the timer also takes back an expiry not yet read,
 * so that a poller is not woken twice for the same period. */
static void arm(struct stream *s, bool at_once)
{
    int64_t ns = 1; /* long past; 0 would disarm */
    if (!at_once && s->moving) {
        int64_t period = s->io.period_size;
        ns = time_of(s->card, s->base + (position(s) / period + 1) * period);
    } else if (!at_once) {
        ns = clock_ns() + IDLE_NS;
    }
    struct itimerspec at = {.it_value = {ns / SECOND_NS, ns % SECOND_NS}};
    timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void silence(struct simcard *card, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        __atomic_store_n(&card->loudspeaker[i % SIMCARD_RING_FRAMES], 0, __ATOMIC_RELAXED);
}

void stream_silence_leftovers(struct simcard *card)
{
    silence(card, index_now(card), card->play_end);
}

/* Give the DAC what is queued between two positions. */
static void play(struct stream *s, int64_t from, int64_t to)
{
    struct simcard *card = s->card;
    for (int64_t i = from; i < to; i++) {
        int64_t index = s->base + i;
        __atomic_store_n(&card->loudspeaker[index % SIMCARD_RING_FRAMES],
                         SIMCARD_SLOT(index, s->queue[i % s->io.buffer_size]), __ATOMIC_RELAXED);
    }
    /* Never back: after a rewind, frames further on are still in the ring, to be taken back. */
    if (card->play_end < s->base + to)
        __atomic_store_n(&card->play_end, s->base + to, __ATOMIC_RELEASE);
}

static void move(struct stream *s)
{
    s->base = index_now(s->card) - s->position;
    s->moving = true;
    if (plays(s))
        play(s, s->position, s->io.appl_ptr);
    arm(s, available(s, s->io.appl_ptr) >= s->avail_min);
}

/* Stand still and take back what the DAC has not played. The queue stays. Wakes a thread that
 * waits in poll(), which would otherwise sleep on when another one drops the stream. */
static void halt(struct stream *s)
{
    s->position = position(s);
    if (s->moving && plays(s)) {
        int64_t now = s->base + s->position;
        silence(s->card, now, s->card->play_end);
        __atomic_store_n(&s->card->play_end, now, __ATOMIC_RELEASE);
    }
    s->moving = false;
    arm(s, true);
}

static int64_t queued(const struct stream *s)
{
    int64_t frames = (int64_t)s->io.appl_ptr - s->position;
    return plays(s) && frames > 0 ? frames : 0;
}

static int xrun(struct stream *s)
{
    int64_t appl = s->io.appl_ptr;
    int64_t late = position(s) - appl;
    int64_t first = s->base + appl;
    halt(s);
    s->started = false;
    record(s, SIMCARD_XRUN, first, late);
    return -EPIPE;
}

static int on_stop(snd_pcm_ioplug_t *io)
{
    struct stream *s = io->private_data;
    if (!s->started)
        return 0;
    bool moved = s->moving;
    halt(s);
    s->started = false;
    int64_t index = moved ? s->base + s->position : index_now(s->card);
    if (io->state == SND_PCM_STATE_DRAINING && plays(s)) /* noticed later than it ended */
        index = s->base + io->appl_ptr;
    record(s, SIMCARD_STOP, index, queued(s));
    return 0;
}

/* True once the card has been unplugged since this stream was opened, even if it is back. */
static bool gone(struct stream *s)
{
    if (__atomic_load_n(&s->card->plug_serial, __ATOMIC_ACQUIRE) == s->plug_serial)
        return false;
    on_stop(&s->io);
    snd_pcm_ioplug_set_state(&s->io, SND_PCM_STATE_DISCONNECTED);
    return true;
}

static int on_prepare(snd_pcm_ioplug_t *io)
{
    struct stream *s = io->private_data;
    if (gone(s))
        return -ENODEV;
    on_stop(io);
    s->position = 0;
    arm(s, true);
    return 0;
}

static int on_start(snd_pcm_ioplug_t *io)
{
    struct stream *s = io->private_data;
    if (gone(s))
        return -ENODEV;
    s->started = true;
    move(s);
    record(s, SIMCARD_START, s->base, queued(s));
    return 0;
}

static int on_pause(snd_pcm_ioplug_t *io, int enable)
{
    struct stream *s = io->private_data;
    if (gone(s))
        return -ENODEV;
    if (enable)
        halt(s);
    else
        move(s);
    record(s, enable ? SIMCARD_PAUSE : SIMCARD_RESUME, s->base + s->position, queued(s));
    return 0;
}

/* ALSA asks here for hw_ptr, and turns any error into an xrun. So an unplugged card sets the state
 * and gives a plain position: what reads and writes then answer is -ENODEV. */
static snd_pcm_sframes_t on_pointer(snd_pcm_ioplug_t *io)
{
    struct stream *s = io->private_data;
    if (gone(s) || !s->moving)
        return s->position;
    int64_t appl = io->appl_ptr;
    int64_t at = position(s);
    if (io->state == SND_PCM_STATE_DRAINING && plays(s))
        return at < appl ? at : appl; /* an empty buffer is the end, which ALSA sees and stops */
    if (available(s, appl) >= s->stop_threshold)
        return xrun(s);
    return at;
}

static int on_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *frames)
{
    struct stream *s = io->private_data;
    if (gone(s))
        return -ENODEV;
    int64_t ahead = (int64_t)io->appl_ptr - position(s);
    *frames = plays(s) ? ahead + s->card->output_fifo_frames : s->card->input_fifo_frames - ahead;
    return 0;
}

static int16_t *sample_at(const snd_pcm_channel_area_t *area, snd_pcm_uframes_t frame)
{
    return (int16_t *)((char *)area->addr + (area->first + area->step * frame) / 8);
}

static snd_pcm_sframes_t take(struct stream *s, const snd_pcm_channel_area_t *areas,
                              snd_pcm_uframes_t offset, int64_t frames)
{
    int64_t appl = s->io.appl_ptr;
    for (int64_t i = 0; i < frames; i++) {
        int sum = 0;
        for (unsigned c = 0; c < s->io.channels; c++)
            sum += *sample_at(&areas[c], offset + i);
        s->queue[(appl + i) % s->io.buffer_size] = sum / (int)s->io.channels;
    }
    if (!s->moving)
        return frames; /* starting or resuming will play it */
    play(s, appl, appl + frames);
    /* The clock is read after the samples are in place: a writer that was held up on its way here
     * has missed its moment, and the DAC played silence instead. */
    int64_t late = position(s) - appl;
    if (late > 0) {
        silence(s->card, s->base + appl, s->base + appl + (late < frames ? late : frames));
        if (s->stop_threshold <= (int64_t)s->io.buffer_size) {
            snd_pcm_ioplug_set_state(&s->io, SND_PCM_STATE_XRUN);
            return xrun(s);
        }
    }
    return frames;
}

static snd_pcm_sframes_t give(struct stream *s, const snd_pcm_channel_area_t *areas,
                              snd_pcm_uframes_t offset, int64_t frames)
{
    struct simcard *card = s->card;
    int64_t first = s->base + s->io.appl_ptr;
    air_refresh(&s->air, card);
    for (int64_t done = 0; done < frames; done += AIR_CHUNK_FRAMES) {
        int16_t heard[AIR_CHUNK_FRAMES];
        int piece = frames - done < AIR_CHUNK_FRAMES ? frames - done : AIR_CHUNK_FRAMES;
        air_hear(&s->air, card, first + done, piece, heard);
        for (int i = 0; i < piece; i++) {
            int64_t index = first + done + i;
            for (unsigned c = 0; c < s->io.channels; c++)
                *sample_at(&areas[c], offset + done + i) = heard[i];
            __atomic_store_n(&card->microphone[index % SIMCARD_RING_FRAMES],
                             SIMCARD_SLOT(index, heard[i]), __ATOMIC_RELAXED);
        }
    }
    __atomic_store_n(&card->capture_end, first + frames, __ATOMIC_RELEASE);
    return frames;
}

static snd_pcm_sframes_t on_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
                                     snd_pcm_uframes_t offset, snd_pcm_uframes_t size)
{
    struct stream *s = io->private_data;
    if (gone(s))
        return -ENODEV;
    snd_pcm_sframes_t done =
        plays(s) ? take(s, areas, offset, size) : give(s, areas, offset, size);
    if (done > 0) /* ALSA moves appl_ptr only after this returns */
        arm(s, available(s, io->appl_ptr + done) >= s->avail_min);
    return done;
}

static int on_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned count,
                           unsigned short *revents)
{
    struct stream *s = io->private_data;
    unsigned short ready = plays(s) ? POLLOUT : POLLIN;
    int64_t wanted = s->avail_min;
    *revents = 0;
    if (count != 1 || !(fds->revents & POLLIN))
        return 0;
    if (gone(s)) {
        *revents = POLLERR | POLLHUP;
        return 0;
    }
    switch (io->state) {
    case SND_PCM_STATE_DRAINING:
        wanted = io->buffer_size; /* snd_pcm_drain() waits here for the end */
        break;
    case SND_PCM_STATE_PREPARED:
    case SND_PCM_STATE_RUNNING:
    case SND_PCM_STATE_PAUSED:
        break;
    default:
        *revents = ready | POLLERR;
        return 0;
    }
    if (available(s, io->appl_ptr) >= wanted)
        *revents = ready;
    else
        arm(s, false);
    return 0;
}

static int on_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params)
{
    struct stream *s = io->private_data;
    (void)params; /* ALSA has put what it says into *io */
    free(s->queue);
    s->queue = calloc(io->buffer_size, sizeof *s->queue);
    return s->queue ? 0 : -ENOMEM;
}

static int on_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params)
{
    struct stream *s = io->private_data;
    snd_pcm_uframes_t avail_min, stop_threshold;
    snd_pcm_sw_params_get_avail_min(params, &avail_min);
    snd_pcm_sw_params_get_stop_threshold(params, &stop_threshold);
    s->avail_min = avail_min;
    s->stop_threshold = stop_threshold;
    return 0;
}

void stream_discard(struct stream *s)
{
    if (s->card)
        munmap(s->card, sizeof *s->card);
    if (s->timer_fd >= 0)
        close(s->timer_fd);
    if (s->shm_fd >= 0)
        close(s->shm_fd);
    free(s->queue);
    free(s);
}

static int on_close(snd_pcm_ioplug_t *io)
{
    on_stop(io);
    stream_discard(io->private_data);
    return 0;
}

/* No drain: ALSA's own, by way of poll, respects non-blocking mode. */
const snd_pcm_ioplug_callback_t stream_callbacks = {
    .start = on_start,
    .stop = on_stop,
    .pointer = on_pointer,
    .transfer = on_transfer,
    .close = on_close,
    .hw_params = on_hw_params,
    .sw_params = on_sw_params,
    .prepare = on_prepare,
    .pause = on_pause,
    .poll_revents = on_poll_revents,
    .delay = on_delay,
};
