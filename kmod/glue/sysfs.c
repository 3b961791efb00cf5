// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Settings of a device: /sys/class/infiniband/NAME/sirocco/ */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/sysfs.h>

#include "siro.h"

static DEFINE_MUTEX(siro_caps_lock);

static ssize_t siro_cap_show(struct device *device, char *buf, u64 cap)
{
	const struct siro_dev *dev = rdma_device_to_drv_device(device, struct siro_dev, ibdev);

	return sysfs_emit(buf, "%d\n", !!(dev->ibdev.attrs.kernel_cap_flags & cap));
}

/* Consumers look at the flag when they connect. */
static ssize_t siro_cap_store(struct device *device, const char *buf, size_t count, u64 cap)
{
	struct siro_dev *dev = rdma_device_to_drv_device(device, struct siro_dev, ibdev);
	u64 flags;
	bool on;
	int err;

	err = kstrtobool(buf, &on);
	if (err)
		return err;

	mutex_lock(&siro_caps_lock);
	flags = dev->ibdev.attrs.kernel_cap_flags;
	flags = on ? flags | cap : flags & ~cap;
	WRITE_ONCE(dev->ibdev.attrs.kernel_cap_flags, flags);
	mutex_unlock(&siro_caps_lock);
	return count;
}

static ssize_t sg_gaps_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return siro_cap_show(device, buf, IBK_SG_GAPS_REG);
}

static ssize_t sg_gaps_store(struct device *device, struct device_attribute *attr,
			     const char *buf, size_t count)
{
	return siro_cap_store(device, buf, count, IBK_SG_GAPS_REG);
}
static DEVICE_ATTR_RW(sg_gaps);

static ssize_t integrity_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return siro_cap_show(device, buf, IBK_INTEGRITY_HANDOVER);
}

static ssize_t integrity_store(struct device *device, struct device_attribute *attr,
			       const char *buf, size_t count)
{
	return siro_cap_store(device, buf, count, IBK_INTEGRITY_HANDOVER);
}
static DEVICE_ATTR_RW(integrity);

static ssize_t siro_show_bool(struct device *device, char *buf, size_t offset)
{
	const struct siro_dev *dev = rdma_device_to_drv_device(device, struct siro_dev, ibdev);

	return sysfs_emit(buf, "%d\n", READ_ONCE(*(const bool *)((const char *)dev + offset)));
}

static ssize_t siro_store_bool(struct device *device, const char *buf, size_t count, size_t offset)
{
	struct siro_dev *dev = rdma_device_to_drv_device(device, struct siro_dev, ibdev);
	bool on;
	int err;

	err = kstrtobool(buf, &on);
	if (err)
		return err;

	WRITE_ONCE(*(bool *)((char *)dev + offset), on);
	return count;
}

/* A bool of struct siro_dev that queue pairs look at when they connect. */
#define SIRO_BOOL_ATTR(field)                                                                 \
	static ssize_t field##_show(struct device *device, struct device_attribute *attr,     \
				    char *buf)                                                \
	{                                                                                     \
		return siro_show_bool(device, buf, offsetof(struct siro_dev, field));         \
	}                                                                                     \
	static ssize_t field##_store(struct device *device, struct device_attribute *attr,    \
				     const char *buf, size_t count)                           \
	{                                                                                     \
		return siro_store_bool(device, buf, count, offsetof(struct siro_dev, field)); \
	}                                                                                     \
	static DEVICE_ATTR_RW(field)

SIRO_BOOL_ATTR(ooo_kernel);
SIRO_BOOL_ATTR(ooo_mark);

static ssize_t ooo_paths_show(struct device *device, struct device_attribute *attr, char *buf)
{
	const struct siro_dev *dev = rdma_device_to_drv_device(device, struct siro_dev, ibdev);

	return sysfs_emit(buf, "%u\n", READ_ONCE(dev->ooo_paths));
}

static ssize_t ooo_paths_store(struct device *device, struct device_attribute *attr,
			       const char *buf, size_t count)
{
	struct siro_dev *dev = rdma_device_to_drv_device(device, struct siro_dev, ibdev);
	u8 paths;
	int err;

	err = kstrtou8(buf, 0, &paths);
	if (err)
		return err;
	if (!paths || paths > SIRO_MAX_PATHS)
		return -EINVAL;

	WRITE_ONCE(dev->ooo_paths, paths);
	return count;
}
static DEVICE_ATTR_RW(ooo_paths);

static struct attribute *siro_attributes[] = {
	&dev_attr_ooo_paths.attr,
	&dev_attr_ooo_kernel.attr,
	&dev_attr_ooo_mark.attr,
	&dev_attr_sg_gaps.attr,
	&dev_attr_integrity.attr,
	NULL,
};

const struct attribute_group siro_device_group = {
	.name = "sirocco",
	.attrs = siro_attributes,
};
