/*
 * A disk that is slow at one moment, for late_disk_test.go: loaded into a process
 * by LD_PRELOAD, it holds one write to the disk back.
 *
 * In the directory that ADLENS_TEST_HOLD names, the test makes a file `armed`
 * that holds the beginning of a path. The first fsync, fdatasync or rename of a
 * file there renames it to `holding` and goes on when the test has removed that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int (*real_rename)(const char *, const char *);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static char armed[PATH_MAX], holding[PATH_MAX];

__attribute__((constructor)) static void prepare(void) {
	real_rename = dlsym(RTLD_NEXT, "rename");
	real_fsync = dlsym(RTLD_NEXT, "fsync");
	real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
	const char *dir = getenv("ADLENS_TEST_HOLD");
	if (dir) {
		snprintf(armed, sizeof armed, "%s/armed", dir);
		snprintf(holding, sizeof holding, "%s/holding", dir);
	}
}

static void hold(const char *path) {
	char beginning[PATH_MAX];
	FILE *f = armed[0] ? fopen(armed, "re") : NULL;
	if (!f)
		return;
	size_t n = fread(beginning, 1, sizeof beginning - 1, f);
	fclose(f);
	if (n == 0 || strncmp(path, beginning, n) != 0 || real_rename(armed, holding) != 0)
		return;
	/* No test needs a minute; a process must not hang for good. */
	for (int i = 0; i < 30000 && access(holding, F_OK) == 0; i++)
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void hold_file(int fd) {
	char link[64], path[PATH_MAX];
	if (!armed[0] || access(armed, F_OK) != 0)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n > 0) {
		path[n] = 0;
		hold(path);
	}
}

int fsync(int fd) {
	hold_file(fd);
	return real_fsync(fd);
}

int fdatasync(int fd) {
	hold_file(fd);
	return real_fdatasync(fd);
}

int rename(const char *from, const char *to) {
	hold(from);
	return real_rename(from, to);
}
