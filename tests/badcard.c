/* A bad card for tests, preloaded into a process: the n-th call below a folder fails or stalls.

   Counts calls of the C library that read or change what lies below the folder, by path or by
   descriptor. See badcard.py. Errors of mapped memory are not among them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { READS, GROWS, CHANGES }; /* what a call does: takes room, or changes what is there */

static char folder[4096];
static size_t length;
static atomic_long count;
static atomic_long fires_at; /* 0: not armed */
static atomic_long hits;
static int number, lasts;
static double stall_s;

void badcard_arm(const char *path, long at, int error, int from_then_on, double seconds) {
  length = strlen(strcpy(folder, path));
  number = error;
  lasts = from_then_on;
  stall_s = seconds;
  count = 0;
  hits = 0;
  fires_at = at;
}

long badcard_disarm(void) {
  fires_at = 0;
  return hits;
}

long badcard_count(void) { return count; }

static int fd_below(int fd);

static int below(const char *path) {
  int fd;
  if (sscanf(path, "/proc/self/fd/%d/", &fd) == 1) return fd_below(fd);
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int fd_below(int fd) {
  char link[40], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t got = readlink(link, path, sizeof path - 1);
  if (got < 0) return 0;
  path[got] = 0;
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int at_below(int fd, const char *path) {
  if (path[0] == '/') return below(path);
  return fd != AT_FDCWD && fd_below(fd);
}

/* Whether a call of that kind fails now. */
static int fails(int kind) {
  long n = ++count;
  if (stall_s > 0) {
    if (n == fires_at) {
      struct timespec t = {(time_t)stall_s, (long)((stall_s - (time_t)stall_s) * 1e9)};
      ++hits;
      nanosleep(&t, NULL);
    }
    return 0;
  }
  if (lasts ? n < fires_at : n != fires_at) return 0;
  ++hits; /* once: whatever it is; from then on: as such a card does */
  if (lasts && number == ENOSPC && kind != GROWS) return 0;
  if (lasts && number == EROFS && kind == READS) return 0;
  errno = number;
  return 1;
}

#define REAL(type, name, ...)                                    \
  static type (*real)(__VA_ARGS__);                              \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);
#define ARMED (fires_at != 0)

#define OPEN(name)                                                              \
  int name(const char *path, int flags, ...) {                                  \
    va_list more;                                                               \
    va_start(more, flags);                                                      \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;   \
    va_end(more);                                                               \
    REAL(int, name, const char *, int, ...)                                     \
    if (ARMED && below(path) && fails(opens(AT_FDCWD, path, flags))) return -1; \
    return real(path, flags, mode);                                             \
  }
#define OPENAT(name)                                                          \
  int name(int fd, const char *path, int flags, ...) {                        \
    va_list more;                                                             \
    va_start(more, flags);                                                    \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                             \
    REAL(int, name, int, const char *, int, ...)                              \
    if (ARMED && at_below(fd, path) && fails(opens(fd, path, flags))) return -1; \
    return real(fd, path, flags, mode);                                       \
  }

static int opens(int fd, const char *path, int flags) {
  if ((flags & O_CREAT) && faccessat(fd, path, F_OK, 0) != 0) return GROWS;
  return (flags & O_ACCMODE) == O_RDONLY ? READS : CHANGES;
}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* A write behind the end takes room, one over what is there does not. */
static int writes(int fd, off_t at, size_t size) {
  struct stat now;
  if (fstat(fd, &now) != 0) return CHANGES;
  if (at < 0) at = lseek(fd, 0, SEEK_CUR);
  return at + (off_t)size > now.st_size ? GROWS : CHANGES;
}

#define BY_FD(type, name, kind, params, args, ...)             \
  type name params {                                           \
    REAL(type, name, __VA_ARGS__)                              \
    if (ARMED && fd_below(fd) && fails(kind)) return -1;       \
    return real args;                                          \
  }
BY_FD(ssize_t, read, READS, (int fd, void *to, size_t size), (fd, to, size), int, void *, size_t)
BY_FD(ssize_t, pread, READS, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), int, void *, size_t, off_t)
BY_FD(ssize_t, pread64, READS, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), int, void *, size_t, off64_t)
BY_FD(ssize_t, write, writes(fd, -1, size), (int fd, const void *of, size_t size), (fd, of, size), int, const void *, size_t)
BY_FD(ssize_t, pwrite, writes(fd, at, size), (int fd, const void *of, size_t size, off_t at), (fd, of, size, at), int, const void *, size_t, off_t)
BY_FD(ssize_t, pwrite64, writes(fd, at, size), (int fd, const void *of, size_t size, off64_t at), (fd, of, size, at), int, const void *, size_t, off64_t)
BY_FD(ssize_t, sendfile64, GROWS, (int fd, int from, off64_t *at, size_t size), (fd, from, at, size), int, int, off64_t *, size_t)
BY_FD(int, fsync, CHANGES, (int fd), (fd), int)
BY_FD(int, fdatasync, CHANGES, (int fd), (fd), int)
BY_FD(int, syncfs, CHANGES, (int fd), (fd), int)
BY_FD(int, ftruncate, CHANGES, (int fd, off_t size), (fd, size), int, off_t)
BY_FD(int, ftruncate64, CHANGES, (int fd, off64_t size), (fd, size), int, off64_t)
BY_FD(int, fchmod, CHANGES, (int fd, mode_t mode), (fd, mode), int, mode_t)

#define BY_PATH(name, kind, params, args, ...)                 \
  int name params {                                            \
    REAL(int, name, __VA_ARGS__)                               \
    if (ARMED && below(path) && fails(kind)) return -1;        \
    return real args;                                          \
  }
BY_PATH(unlink, CHANGES, (const char *path), (path), const char *)
BY_PATH(rmdir, CHANGES, (const char *path), (path), const char *)
BY_PATH(chmod, CHANGES, (const char *path, mode_t mode), (path, mode), const char *, mode_t)
BY_PATH(mkdir, GROWS, (const char *path, mode_t mode), (path, mode), const char *, mode_t)
BY_PATH(rename, CHANGES, (const char *path, const char *to), (path, to), const char *, const char *)
BY_PATH(link, GROWS, (const char *path, const char *to), (path, to), const char *, const char *)

int symlink(const char *target, const char *path) {
  REAL(int, symlink, const char *, const char *)
  if (ARMED && below(path) && fails(GROWS)) return -1;
  return real(target, path);
}

int unlinkat(int fd, const char *path, int flags) {
  REAL(int, unlinkat, int, const char *, int)
  if (ARMED && at_below(fd, path) && fails(CHANGES)) return -1;
  return real(fd, path, flags);
}

int linkat(int from, const char *path, int fd, const char *to, int flags) {
  REAL(int, linkat, int, const char *, int, const char *, int)
  if (ARMED && at_below(fd, to) && fails(GROWS)) return -1;
  return real(from, path, fd, to, flags);
}

int renameat(int from, const char *path, int fd, const char *to) {
  REAL(int, renameat, int, const char *, int, const char *)
  if (ARMED && at_below(fd, to) && fails(CHANGES)) return -1;
  return real(from, path, fd, to);
}
