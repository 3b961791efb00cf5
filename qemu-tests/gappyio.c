// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Writes and reads a disk or a file past the page cache, from and to buffers
 * that are in many pieces with gaps between them: no piece starts or ends where
 * a page does. Every write is read back twice, in other pieces and in one, and
 * compared; the bytes between the pieces must stay as they were.
 *
 * usage: gappyio [-r ROUNDS] [-b BYTES] [-p PIECES] [-u UNIT] [-a ALIGN] vector|sg PATH
 *
 * A piece is a multiple of UNIT bytes long and starts at an odd multiple of
 * ALIGN. "vector" uses preadv() and pwritev() with O_DIRECT, "sg" sends SCSI
 * commands with SG_IO, to a disk of 512-byte blocks.
 * Prints "us N", the time of the fastest write and of the fastest read in pieces.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <scsi/sg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define BLOCK 512
#define GUARD 0xa5
#define OFFSETS 64 /* places of the file that are written, in units */
#define SG_TIMEOUT_MS 60000
#define WRITE_10 0x2a
#define READ_10 0x28

/* A buffer in pieces, in an area of its own. */
struct pieces {
	unsigned char *area;
	size_t size;
	struct iovec iov[IOV_MAX];
	int count;
};

struct job {
	int fd;
	bool sg;
	int rounds;
	size_t bytes;
	int pieces;
	size_t unit;
	size_t align;
};

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

static void die(const char *what)
{
	fprintf(stderr, "gappyio: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *map_area(size_t size)
{
	void *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		die("mmap");
	return area;
}

static size_t round_up_page(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

/* Units of a piece, so that the pieces after it get at least one each. */
static size_t piece_units(size_t units_left, int pieces_left)
{
	size_t most = units_left - (pieces_left - 1);
	size_t twice_the_average = 2 * units_left / pieces_left;
	size_t units = 1 + random_below(twice_the_average);

	return pieces_left == 1 || units > most ? most : units;
}

/* Places the pieces anew, each in pages of its own, and fills the area. */
static void scatter(struct pieces *p, const struct job *job)
{
	size_t units = job->bytes / job->unit, used = 0, n;
	int i;

	memset(p->area, GUARD, p->size);
	p->count = job->pieces;
	for (i = 0; i < p->count; i++) {
		n = piece_units(units, p->count - i);
		used = round_up_page(used) +
		       job->align * (1 + 2 * random_below(PAGE / job->align / 2));
		p->iov[i].iov_base = p->area + used;
		p->iov[i].iov_len = n * job->unit;
		used += n * job->unit;
		units -= n;
	}
}

static void copy_in(struct pieces *p, const unsigned char *data)
{
	int i;

	for (i = 0; i < p->count; i++) {
		memcpy(p->iov[i].iov_base, data, p->iov[i].iov_len);
		data += p->iov[i].iov_len;
	}
}

static bool all_guard(const unsigned char *from, const unsigned char *to)
{
	while (from < to && *from == GUARD)
		from++;
	return from == to;
}

/* The data, and nothing but the data. */
static void compare(const struct pieces *p, const unsigned char *data)
{
	const unsigned char *gap = p->area, *base;
	int i;

	for (i = 0; i < p->count; i++) {
		base = p->iov[i].iov_base;
		if (memcmp(base, data, p->iov[i].iov_len)) {
			fprintf(stderr, "gappyio: piece %d was read wrong\n", i);
			exit(1);
		}
		if (!all_guard(gap, base)) {
			fprintf(stderr, "gappyio: bytes before piece %d were changed\n", i);
			exit(1);
		}
		gap = base + p->iov[i].iov_len;
		data += p->iov[i].iov_len;
	}
	if (!all_guard(gap, p->area + p->size)) {
		fprintf(stderr, "gappyio: bytes after the last piece were changed\n");
		exit(1);
	}
}

static void transfer_vector(const struct job *job, struct pieces *p, off_t offset, bool write)
{
	ssize_t done = write ? pwritev(job->fd, p->iov, p->count, offset) :
			       preadv(job->fd, p->iov, p->count, offset);

	if (done < 0)
		die(write ? "pwritev" : "preadv");
	if ((size_t)done != job->bytes) {
		fprintf(stderr, "gappyio: %zd of %zu bytes transferred\n", done, job->bytes);
		exit(1);
	}
}

static void transfer_sg(const struct job *job, struct pieces *p, off_t offset, bool write)
{
	uint32_t block = offset / BLOCK, blocks = job->bytes / BLOCK;
	unsigned char sense[32] = { 0 };
	unsigned char command[10] = { write ? WRITE_10 : READ_10, 0, block >> 24, block >> 16,
				      block >> 8, block, 0, blocks >> 8, blocks };
	sg_io_hdr_t header = {
		.interface_id = 'S',
		.dxfer_direction = write ? SG_DXFER_TO_DEV : SG_DXFER_FROM_DEV,
		.cmdp = command,
		.cmd_len = sizeof(command),
		.sbp = sense,
		.mx_sb_len = sizeof(sense),
		.dxferp = p->iov,
		.dxfer_len = job->bytes,
		.iovec_count = p->count,
		.timeout = SG_TIMEOUT_MS,
	};

	if (ioctl(job->fd, SG_IO, &header))
		die("SG_IO");
	if ((header.info & SG_INFO_OK_MASK) != SG_INFO_OK || header.resid) {
		fprintf(stderr, "gappyio: status %#x, host %#x, driver %#x, %d bytes left\n",
			header.status, header.host_status, header.driver_status, header.resid);
		exit(1);
	}
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

/* @best: the least time that one has taken. */
static void transfer(const struct job *job, struct pieces *p, off_t offset, bool write,
		     uint64_t *best)
{
	uint64_t start = now_us(), us;

	if (job->sg)
		transfer_sg(job, p, offset, write);
	else
		transfer_vector(job, p, offset, write);
	us = now_us() - start;
	if (us < *best)
		*best = us;
}

static void check_in_one_piece(const struct job *job, unsigned char *buffer,
			       const unsigned char *data, off_t offset)
{
	if (pread(job->fd, buffer, job->bytes, offset) != (ssize_t)job->bytes)
		die("pread");
	if (memcmp(buffer, data, job->bytes)) {
		fprintf(stderr, "gappyio: the write stored something else\n");
		exit(1);
	}
}

static uint64_t run(const struct job *job)
{
	size_t size = round_up_page(job->bytes) + 3UL * PAGE * job->pieces, i;
	struct pieces *p = map_area(sizeof(*p));
	unsigned char *data = map_area(job->bytes), *one = map_area(job->bytes);
	size_t offset_unit = job->sg ? BLOCK : job->unit;
	uint64_t best_write = UINT64_MAX, best_read = UINT64_MAX;
	off_t offset;
	int round;

	p->area = map_area(size);
	p->size = size;
	for (round = 0; round < job->rounds; round++) {
		offset = random_below(OFFSETS) * offset_unit;
		for (i = 0; i < job->bytes; i++)
			data[i] = random_below(256);
		scatter(p, job);
		copy_in(p, data);
		transfer(job, p, offset, true, &best_write);
		check_in_one_piece(job, one, data, offset);
		scatter(p, job);
		transfer(job, p, offset, false, &best_read);
		compare(p, data);
	}
	return best_write + best_read;
}

static void usage(void)
{
	fprintf(stderr, "usage: [-r ROUNDS] [-b BYTES] [-p PIECES] [-u UNIT] [-a ALIGN] vector|sg PATH\n");
	exit(2);
}

static void set_option(struct job *job, int option, size_t value)
{
	switch (option) {
	case 'r':
		job->rounds = value;
		break;
	case 'b':
		job->bytes = value;
		break;
	case 'p':
		job->pieces = value;
		break;
	case 'u':
		job->unit = value;
		break;
	case 'a':
		job->align = value;
		break;
	default:
		usage();
	}
}

static bool reasonable(const struct job *job)
{
	if (job->rounds < 1 || job->pieces < 1 || job->pieces > IOV_MAX)
		return false;
	if (!job->unit || !job->align || job->align > PAGE / 2 || job->bytes % job->unit)
		return false;
	if (job->sg && (job->bytes % BLOCK || job->bytes / BLOCK > UINT16_MAX))
		return false;
	return job->bytes / job->unit >= (size_t)job->pieces;
}

int main(int argc, char **argv)
{
	struct job job = { .rounds = 20, .bytes = 65536, .pieces = 16, .unit = 512, .align = 4 };
	int option;

	while ((option = getopt(argc, argv, "r:b:p:u:a:")) != -1)
		set_option(&job, option, optarg ? strtoul(optarg, NULL, 0) : 0);
	if (argc - optind != 2)
		usage();
	job.sg = !strcmp(argv[optind], "sg");
	if ((!job.sg && strcmp(argv[optind], "vector")) || !reasonable(&job))
		usage();

	job.fd = open(argv[optind + 1], O_RDWR | O_DIRECT | O_CREAT, 0600);
	if (job.fd < 0)
		die(argv[optind + 1]);
	printf("us %llu\n", (unsigned long long)run(&job));
	return 0;
}
