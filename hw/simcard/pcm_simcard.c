/* SPDX-License-Identifier: Apache-2.0
 *
 * The software sound card, an ALSA external I/O plugin: pcm.NAME { type simcard shm "FILE" }.
 * This file opens it; stream.c runs it; README.md tells what it is.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "stream.h"

/* Map the card and lock one direction of it. A lock of the open file is gone with the process,
 * however that ends, so a killed player does not leave the card busy. */
static int attach(struct stream *s, const char *path, snd_pcm_stream_t stream)
{
    struct stat file;
    s->shm_fd = open(path, O_RDWR | O_CLOEXEC);
    if (s->shm_fd < 0)
        return -errno;
    if (fstat(s->shm_fd, &file) < 0)
        return -errno;
    if (file.st_size < (off_t)sizeof *s->card) {
        SNDERR("%s is too short to be a simcard", path);
        return -EINVAL;
    }
    void *memory = mmap(NULL, sizeof *s->card, PROT_READ | PROT_WRITE, MAP_SHARED, s->shm_fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    s->card = memory;
    if (__atomic_load_n(&s->card->magic, __ATOMIC_ACQUIRE) != SIMCARD_MAGIC ||
        s->card->rate_hz < 8000 || s->card->rate_hz > 96000 || s->card->granularity_frames < 1) {
        SNDERR("%s is not a simcard, or one of another version", path);
        return -EINVAL;
    }
    s->plug_serial = __atomic_load_n(&s->card->plug_serial, __ATOMIC_ACQUIRE);
    if (s->plug_serial % 2)
        return -ENODEV;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = stream, .l_len = 1};
    if (s->card->busy || fcntl(s->shm_fd, F_OFD_SETLK, &lock) < 0)
        return -EBUSY;
    if (stream == SND_PCM_STREAM_PLAYBACK)
        stream_silence_leftovers(s->card); /* of a player that was killed */
    s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return s->timer_fd < 0 ? -errno : 0;
}

static int constrain(snd_pcm_ioplug_t *io, unsigned rate)
{
    /* Plugins above this one (plug, rate) reach it through mmap. */
    static const unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED,
                                      SND_PCM_ACCESS_MMAP_INTERLEAVED};
    static const unsigned format[] = {SND_PCM_FORMAT_S16_LE};
    unsigned most = SIMCARD_MAX_BUFFER_FRAMES * sizeof(int16_t);
    int e[] = {
        snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 2, access),
        snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, format),
        snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_RATE, 1, &rate),
        snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, 1, 2),
        snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 32, most / 2),
        snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 64, most),
        snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, 64),
    };
    for (size_t i = 0; i < sizeof e / sizeof e[0]; i++)
        if (e[i] < 0)
            return e[i];
    return 0;
}

static int open_stream(snd_pcm_t **pcmp, const char *name, const char *path,
                       snd_pcm_stream_t stream, int mode)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->shm_fd = s->timer_fd = -1;
    int e = attach(s, path, stream);
    if (e < 0) {
        stream_discard(s);
        return e;
    }
    s->avail_min = 1;
    s->io.version = SND_PCM_IOPLUG_VERSION;
    s->io.name = "software sound card";
    s->io.callback = &stream_callbacks;
    s->io.private_data = s;
    s->io.poll_fd = s->timer_fd;
    s->io.poll_events = POLLIN;
    /* BOUNDARY_WA: positions grow without end; without it ALSA takes them modulo the buffer. */
    s->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
    e = snd_pcm_ioplug_create(&s->io, name, stream, mode);
    if (e < 0) {
        stream_discard(s);
        return e;
    }
    e = constrain(&s->io, s->card->rate_hz);
    if (e < 0) {
        snd_pcm_ioplug_delete(&s->io); /* calls on_close */
        return e;
    }
    *pcmp = s->io.pcm;
    return 0;
}

SND_PCM_PLUGIN_DEFINE_FUNC(simcard)
{
    const char *path = NULL;
    snd_config_iterator_t i, next;
    (void)root;
    snd_config_for_each(i, next, conf)
    {
        snd_config_t *field = snd_config_iterator_entry(i);
        const char *id;
        if (snd_config_get_id(field, &id) < 0)
            continue;
        if (!strcmp(id, "comment") || !strcmp(id, "type") || !strcmp(id, "hint"))
            continue;
        if (strcmp(id, "shm") || snd_config_get_string(field, &path) < 0) {
            SNDERR("simcard: field %s is unknown or not a string", id);
            return -EINVAL;
        }
    }
    if (!path) {
        SNDERR("simcard: shm, the file of the card, is missing");
        return -EINVAL;
    }
    return open_stream(pcmp, name, path, stream, mode);
}
SND_PCM_PLUGIN_SYMBOL(simcard);
