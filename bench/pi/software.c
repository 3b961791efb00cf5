// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Protection information for the host without a device that knows it: /dev/pi_software
 * has the block layer make and check the tuples, and carries them as data, in chunks
 * (chunk.h) of the disk that it is given. It takes whole chunks only.
 */
#include <linux/module.h>

#include "chunk.h"
#include "disk.h"

#define DISK_NAME "pi_software"
#define HOLD_MODE (FMODE_READ | FMODE_WRITE | FMODE_EXCL)

static char *below_path;
module_param_named(below, below_path, charp, 0444);
MODULE_PARM_DESC(below, "path of the disk that keeps data and tuples");

static struct block_device *below;
static struct gendisk *disk;
static struct bio_set carriers;

/* Between the block layer's payload and the carrier's last page. */
static void move_tuples(struct bio *bio, struct page *carried)
{
	struct bio_integrity_payload *bip = bio_integrity(bio);
	u8 *tuples = page_address(carried);
	struct bvec_iter iter;
	struct bio_vec vec;

	bip_for_each_vec(vec, bip, iter) {
		u8 *payload = bvec_virt(&vec);

		if (op_is_write(bio_op(bio)))
			memcpy(tuples, payload, vec.bv_len);
		else
			memcpy(payload, tuples, vec.bv_len);
		tuples += vec.bv_len;
	}
}

static void carrier_done(struct bio *carrier)
{
	struct page *carried = carrier->bi_io_vec[carrier->bi_vcnt - 1].bv_page;
	struct bio *bio = carrier->bi_private;

	bio->bi_status = carrier->bi_status;
	if (!op_is_write(bio_op(bio)) && !bio->bi_status && bio_integrity(bio))
		move_tuples(bio, carried);
	__free_page(carried);
	bio_put(carrier);
	bio_endio(bio);
}

static struct bio *carrier_of(struct bio *bio, struct page *carried)
{
	struct bio *carrier = bio_alloc_bioset(below, bio_segments(bio) + 1,
					       bio->bi_opf & ~REQ_INTEGRITY, GFP_NOIO, &carriers);
	struct bvec_iter iter;
	struct bio_vec vec;

	bio_for_each_segment(vec, bio, iter)
		__bio_add_page(carrier, vec.bv_page, vec.bv_len, vec.bv_offset);
	__bio_add_page(carrier, carried, CHUNK_TUPLE_BYTES, 0);
	carrier->bi_iter.bi_sector = bio->bi_iter.bi_sector / CHUNK_SECTORS * CHUNK_WHOLE_SECTORS;
	carrier->bi_private = bio;
	carrier->bi_end_io = carrier_done;
	return carrier;
}

static void fail(struct bio *bio, blk_status_t status)
{
	bio->bi_status = status;
	bio_endio(bio);
}

static bool is_whole_chunk(struct bio *bio)
{
	return !(bio->bi_iter.bi_sector % CHUNK_SECTORS) && bio_sectors(bio) == CHUNK_SECTORS;
}

static void software_submit(struct bio *bio)
{
	struct page *carried;

	if (!is_whole_chunk(bio)) {
		fail(bio, BLK_STS_NOTSUPP);
		return;
	}
	if (!bio_integrity_prep(bio))
		return;
	carried = alloc_page(GFP_NOIO | __GFP_ZERO);
	if (!carried) {
		fail(bio, BLK_STS_RESOURCE);
		return;
	}
	if (op_is_write(bio_op(bio)) && bio_integrity(bio))
		move_tuples(bio, carried);
	submit_bio_noacct(carrier_of(bio, carried));
}

static const struct block_device_operations operations = {
	.owner = THIS_MODULE,
	.submit_bio = software_submit,
};

static int disk_up(void)
{
	disk = new_disk(DISK_NAME, &operations,
			bdev_nr_sectors(below) / CHUNK_WHOLE_SECTORS * CHUNK_SECTORS);
	if (!disk)
		return -ENOMEM;
	blk_queue_chunk_sectors(disk->queue, CHUNK_SECTORS);
	protect(disk);
	return add_disk(disk);
}

static void free_all(void)
{
	if (disk)
		put_disk(disk);
	if (!IS_ERR(below))
		blkdev_put(below, HOLD_MODE);
	bioset_exit(&carriers);
}

static int __init software_init(void)
{
	int err = bioset_init(&carriers, 64, 0, BIOSET_NEED_BVECS);

	if (err)
		return err;
	below = blkdev_get_by_path(below_path, HOLD_MODE, &carriers);
	err = IS_ERR(below) ? PTR_ERR(below) : disk_up();
	if (err)
		free_all();
	return err;
}

static void __exit software_exit(void)
{
	del_gendisk(disk);
	free_all();
}

module_init(software_init);
module_exit(software_exit);

MODULE_DESCRIPTION("Disk with protection information by software");
MODULE_LICENSE("Dual BSD/GPL");
