/* Stands between a process and libc (LD_PRELOAD) and lets calls fail with EIO.
 *
 * The file that FAILING_DISK names says what fails: names of calls, then, as the last word, the
 * part of a path that a file must have. No such file: nothing fails. It is read at every call. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { TEXT_SIZE = 4096 };

/* Reads what fails, by system calls that are not ours; false when nothing does. */
static int read_plan(char *plan)
{
    const char *name = getenv("FAILING_DISK");
    long file = name ? syscall(SYS_open, name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return 0;
    long size = syscall(SYS_read, file, plan, TEXT_SIZE - 1);
    syscall(SYS_close, file);
    plan[size > 0 ? size : 0] = 0;
    return size > 0;
}

static int is_planned(char *plan, const char *call, const char *path)
{
    int is_named = 0;
    char *last = NULL, *rest = NULL;
    for (char *word = strtok_r(plan, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        is_named |= strcmp(word, call) == 0;
        last = word;
    }
    return is_named && last && strstr(path, last);
}

/* errno stays as it is when nothing fails: callers may look at it although all went well. */
static int fails(const char *call, int file)
{
    char plan[TEXT_SIZE], link[64], path[TEXT_SIZE];
    int before = errno, is_failing = 0;
    if (read_plan(plan)) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t size = readlink(link, path, sizeof path - 1);
        path[size > 0 ? size : 0] = 0;
        is_failing = is_planned(plan, call, path);
    }
    errno = is_failing ? EIO : before;
    return is_failing;
}

static int map_fails(const char *call, void *address)
{
    char plan[TEXT_SIZE], line[2 * TEXT_SIZE];
    unsigned long from, to, at = (unsigned long)address;
    int before = errno, is_failing = 0;
    FILE *maps = read_plan(plan) ? fopen("/proc/self/maps", "re") : NULL;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= at && at < to)
            is_failing = is_planned(plan, call, line);
    if (maps)
        fclose(maps);
    errno = is_failing ? EIO : before;
    return is_failing;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t size)
{
    return fails("write", file) ? -1 : NEXT(write)(file, data, size);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at)
{
    return fails("pwrite", file) ? -1 : NEXT(pwrite64)(file, data, size, at);
}

int fallocate64(int file, int mode, off64_t from, off64_t size)
{
    return fails("fallocate", file) ? -1 : NEXT(fallocate64)(file, mode, from, size);
}

int fsync(int file)
{
    return fails("fsync", file) ? -1 : NEXT(fsync)(file);
}

int fdatasync(int file)
{
    return fails("fdatasync", file) ? -1 : NEXT(fdatasync)(file);
}

int syncfs(int file)
{
    return fails("syncfs", file) ? -1 : NEXT(syncfs)(file);
}

int sync_file_range(int file, off64_t from, off64_t size, unsigned int flags)
{
    return fails("sync_file_range", file) ? -1 : NEXT(sync_file_range)(file, from, size, flags);
}

int msync(void *address, size_t size, int flags)
{
    return map_fails("msync", address) ? -1 : NEXT(msync)(address, size, flags);
}
