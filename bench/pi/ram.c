// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A RAM disk for the target, /dev/pi_ram, of one of three modes:
 *	plain		without protection information
 *	protected	it keeps the tuples that come with the data, and checks nothing,
 *			as disks do that on their own
 *	software	its sectors are chunks (chunk.h), whose tuples the block layer's
 *			function checks before and after they were on the medium
 */
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "chunk.h"
#include "disk.h"

#define DISK_NAME "pi_ram"
#define DISK_SECTORS (CHUNK_WHOLE_SECTORS * 512u)

enum mode { PLAIN, PROTECTED, SOFTWARE };

static const char *const mode_names[] = { "plain", "protected", "software" };

static char *mode_name = "plain";
module_param_named(mode, mode_name, charp, 0444);
MODULE_PARM_DESC(mode, "plain, protected or software");

static struct gendisk *disk;
static enum mode mode;
static u8 *sectors;
static struct t10_pi_tuple *tuples;

static void copy(struct bio_vec *vec, void *medium, bool to_medium)
{
	void *page = bvec_kmap_local(vec);

	if (to_medium)
		memcpy(medium, page, vec->bv_len);
	else
		memcpy(page, medium, vec->bv_len);
	kunmap_local(page);
}

static void move_data(struct bio *bio)
{
	u8 *medium = sectors + (bio->bi_iter.bi_sector << SECTOR_SHIFT);
	struct bvec_iter iter;
	struct bio_vec vec;

	bio_for_each_segment(vec, bio, iter) {
		copy(&vec, medium, op_is_write(bio_op(bio)));
		medium += vec.bv_len;
	}
}

static void move_tuples(struct bio *bio)
{
	u8 *medium = (u8 *)(tuples + bio->bi_iter.bi_sector);
	struct bio_integrity_payload *bip = bio_integrity(bio);
	struct bvec_iter iter;
	struct bio_vec vec;

	bip_for_each_vec(vec, bip, iter) {
		copy(&vec, medium, op_is_write(bio_op(bio)));
		medium += vec.bv_len;
	}
}

static blk_status_t check_chunk(sector_t first)
{
	u8 *data = sectors + (first << SECTOR_SHIFT);
	struct blk_integrity_iter iter = {
		.prot_buf = data + CHUNK_DATA_BYTES,
		.data_buf = data,
		.seed = first / CHUNK_WHOLE_SECTORS * CHUNK_SECTORS,
		.data_size = CHUNK_DATA_BYTES,
		.interval = 1 << SECTOR_SHIFT,
		.tuple_size = sizeof(struct t10_pi_tuple),
		.disk_name = DISK_NAME,
	};

	return t10_pi_type1_crc.verify_fn(&iter);
}

static bool is_whole_chunk(struct bio *bio)
{
	return !(bio->bi_iter.bi_sector % CHUNK_WHOLE_SECTORS) &&
	       bio_sectors(bio) == CHUNK_WHOLE_SECTORS;
}

static void serve(struct bio *bio)
{
	if (bio_op(bio) != REQ_OP_READ && bio_op(bio) != REQ_OP_WRITE)
		return;
	move_data(bio);
	if (mode == PROTECTED && bio_integrity(bio))
		move_tuples(bio);
	if (mode == SOFTWARE && is_whole_chunk(bio))
		bio->bi_status = check_chunk(bio->bi_iter.bi_sector);
}

static void ram_submit(struct bio *bio)
{
	serve(bio);
	bio_endio(bio);
}

static const struct block_device_operations operations = {
	.owner = THIS_MODULE,
	.submit_bio = ram_submit,
};

static int disk_up(void)
{
	disk = new_disk(DISK_NAME, &operations, DISK_SECTORS);
	if (!disk)
		return -ENOMEM;
	blk_queue_max_hw_sectors(disk->queue, BLK_DEF_MAX_SECTORS);
	if (mode == PROTECTED)
		protect(disk);
	return add_disk(disk);
}

static void free_all(void)
{
	if (disk)
		put_disk(disk);
	vfree(tuples);
	vfree(sectors);
}

static int __init ram_init(void)
{
	int found = match_string(mode_names, ARRAY_SIZE(mode_names), mode_name);
	int err = -ENOMEM;

	if (found < 0)
		return found;
	mode = found;
	sectors = vzalloc((u64)DISK_SECTORS << SECTOR_SHIFT);
	tuples = vmalloc((u64)DISK_SECTORS * sizeof(*tuples));
	if (sectors && tuples) {
		/* Nothing is checked before it was written. */
		memset(tuples, 0xff, (u64)DISK_SECTORS * sizeof(*tuples));
		err = disk_up();
	}
	if (err)
		free_all();
	return err;
}

static void __exit ram_exit(void)
{
	del_gendisk(disk);
	free_all();
}

module_init(ram_init);
module_exit(ram_exit);

MODULE_DESCRIPTION("RAM disk with and without protection information");
MODULE_LICENSE("Dual BSD/GPL");
