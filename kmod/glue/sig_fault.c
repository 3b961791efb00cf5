// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Faults for tests of consumers: bits of blocks that pass a signature region are
 * turned over, see docs/signature.md. /sys/kernel/debug/sirocco/DEVICE/sig_inject
 */
#include <linux/debugfs.h>
#include <linux/jump_label.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "siro.h"

struct siro_sig_fault {
	struct siro_sig_injection engine;
	struct rcu_head rcu;
	u32 qpn; /* 0: any */
};

static DEFINE_STATIC_KEY_FALSE(siro_sig_faults);
static DEFINE_MUTEX(siro_sig_fault_lock);
static struct dentry *siro_debugfs;

struct siro_sig_injection *siro_port_signature_injection(void *port)
{
	struct siro_qp *qp = port;
	struct siro_sig_fault *fault;

	if (!static_branch_unlikely(&siro_sig_faults))
		return NULL;
	fault = rcu_dereference_bh(qp->dev->sig_fault);
	return fault && (!fault->qpn || fault->qpn == qp->qpn) ? &fault->engine : NULL;
}

/* @fault: NULL: none from now on */
static void siro_sig_fault_set(struct siro_dev *dev, struct siro_sig_fault *fault)
{
	mutex_lock(&siro_sig_fault_lock);
	if (fault)
		static_branch_inc(&siro_sig_faults);
	fault = rcu_replace_pointer(dev->sig_fault, fault, lockdep_is_held(&siro_sig_fault_lock));
	if (fault)
		static_branch_dec(&siro_sig_faults);
	mutex_unlock(&siro_sig_fault_lock);
	kfree_rcu(fault, rcu);
}

static const char *const siro_fault_sides[] = {
	[SIRO_SIG_SENT] = "tx",
	[SIRO_SIG_RECEIVED] = "rx",
};

static const char *const siro_fault_fields[] = {
	[SIRO_SIG_GUARD] = "guard",
	[SIRO_SIG_APP] = "app",
	[SIRO_SIG_REF] = "ref",
	[SIRO_SIG_DATA] = "data",
};

static int siro_fault_match(const char *const *names, size_t count, const char *name, u32 *value)
{
	int index = match_string(names, count, name);

	if (index < 0)
		return index;
	*value = index;
	return 0;
}

/* One "name=value". */
static int siro_fault_set(struct siro_sig_fault *fault, char *word)
{
	struct siro_sig_injection *to = &fault->engine;
	char *name = strsep(&word, "=");

	if (!word)
		return -EINVAL;
	if (!strcmp(name, "side"))
		return siro_fault_match(siro_fault_sides, ARRAY_SIZE(siro_fault_sides), word,
					&to->side);
	if (!strcmp(name, "field"))
		return siro_fault_match(siro_fault_fields, ARRAY_SIZE(siro_fault_fields), word,
					&to->target);
	if (!strcmp(name, "xor"))
		return kstrtou64(word, 0, &to->mask);
	if (!strcmp(name, "block"))
		return kstrtou64(word, 0, &to->block);
	if (!strcmp(name, "count"))
		return kstrtou32(word, 0, &to->count);
	if (!strcmp(name, "qpn"))
		return kstrtou32(word, 0, &fault->qpn);
	return -EINVAL;
}

static struct siro_sig_fault *siro_fault_parse(char *text)
{
	struct siro_sig_fault *fault = kzalloc(sizeof(*fault), GFP_KERNEL);
	char *word;
	int err;

	if (!fault)
		return ERR_PTR(-ENOMEM);

	fault->engine.mask = 1;
	fault->engine.count = 1;
	text = strim(text);
	while ((word = strsep(&text, " "))) {
		if (!*word)
			continue;
		err = siro_fault_set(fault, word);
		if (err) {
			kfree(fault);
			return ERR_PTR(err);
		}
	}
	return fault;
}

static ssize_t siro_fault_write(struct file *file, const char __user *from, size_t count,
				loff_t *offset)
{
	struct siro_dev *dev = ((struct seq_file *)file->private_data)->private;
	struct siro_sig_fault *fault = NULL;
	char *text = memdup_user_nul(from, min_t(size_t, count, PAGE_SIZE));

	if (IS_ERR(text))
		return PTR_ERR(text);
	if (!sysfs_streq(text, "off"))
		fault = siro_fault_parse(text);
	kfree(text);
	if (IS_ERR(fault))
		return PTR_ERR(fault);

	siro_sig_fault_set(dev, fault);
	return count;
}

static int siro_fault_show(struct seq_file *file, void *unused)
{
	struct siro_dev *dev = file->private;
	const struct siro_sig_injection *to;
	struct siro_sig_fault *fault;

	mutex_lock(&siro_sig_fault_lock);
	fault = rcu_dereference_protected(dev->sig_fault,
					  lockdep_is_held(&siro_sig_fault_lock));
	if (fault) {
		to = &fault->engine;
		seq_printf(file, "qpn=%u side=%s field=%s xor=%#llx block=%llu count=%u\n",
			   fault->qpn, siro_fault_sides[to->side], siro_fault_fields[to->target],
			   to->mask, to->block, READ_ONCE(to->count));
	} else {
		seq_puts(file, "off\n");
	}
	mutex_unlock(&siro_sig_fault_lock);
	return 0;
}

static int siro_fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, siro_fault_show, inode->i_private);
}

static const struct file_operations siro_fault_fops = {
	.owner = THIS_MODULE,
	.open = siro_fault_open,
	.read = seq_read,
	.write = siro_fault_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int siro_stats_show(struct seq_file *file, void *unused)
{
	struct siro_dev *dev = file->private;
	unsigned int i;

	for (i = SIRO_CNT_SIG_REGISTRATIONS; i <= SIRO_CNT_SIG_DROPPED; i++)
		seq_printf(file, "%s %llu\n", siro_counter_name(i), siro_counter(dev, i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(siro_stats);

/* By the first name of the device. */
void siro_debugfs_add(struct siro_dev *dev)
{
	dev->debugfs = debugfs_create_dir(dev_name(&dev->ibdev.dev), siro_debugfs);
	debugfs_create_file("sig_inject", 0600, dev->debugfs, dev, &siro_fault_fops);
	debugfs_create_file("sig_stats", 0400, dev->debugfs, dev, &siro_stats_fops);
}

/* Queue pairs are gone. */
void siro_debugfs_remove(struct siro_dev *dev)
{
	debugfs_remove_recursive(dev->debugfs);
	siro_sig_fault_set(dev, NULL);
}

void siro_debugfs_init(void)
{
	siro_debugfs = debugfs_create_dir("sirocco", NULL);
}

void siro_debugfs_exit(void)
{
	debugfs_remove_recursive(siro_debugfs);
}
