// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Settings of a device: /sys/class/infiniband/NAME/sirocco/ */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "siro.h"

static ssize_t sg_gaps_show(struct device *device, struct device_attribute *attr, char *buf)
{
	const struct siro_dev *dev = rdma_device_to_drv_device(device, struct siro_dev, ibdev);

	return sysfs_emit(buf, "%d\n", !!(dev->ibdev.attrs.kernel_cap_flags & IBK_SG_GAPS_REG));
}

/* Consumers look at the flag when they connect. */
static ssize_t sg_gaps_store(struct device *device, struct device_attribute *attr,
			     const char *buf, size_t count)
{
	struct siro_dev *dev = rdma_device_to_drv_device(device, struct siro_dev, ibdev);
	u64 flags = READ_ONCE(dev->ibdev.attrs.kernel_cap_flags);
	bool on;
	int err;

	err = kstrtobool(buf, &on);
	if (err)
		return err;

	flags = on ? flags | IBK_SG_GAPS_REG : flags & ~(u64)IBK_SG_GAPS_REG;
	WRITE_ONCE(dev->ibdev.attrs.kernel_cap_flags, flags);
	return count;
}
static DEVICE_ATTR_RW(sg_gaps);

static struct attribute *siro_attributes[] = {
	&dev_attr_sg_gaps.attr,
	NULL,
};

const struct attribute_group siro_device_group = {
	.name = "sirocco",
	.attrs = siro_attributes,
};
