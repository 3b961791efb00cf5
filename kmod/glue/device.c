// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The ib_device of a link: life, attributes and port. */
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/sizes.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>

#include "siro.h"
#include "verbs.h"

#define SIRO_FW_VERSION ((0ULL << 32) | (1 << 16) | 0)
#define SIRO_MAX_OBJECTS SZ_1M
#define SIRO_MAX_PAGE_LIST 4096
#define SIRO_GID_TABLE_LENGTH 1024
/* IPv6, UDP, BTH and the longest extension headers, ICRC */
#define SIRO_OVERHEAD 80
#define SIRO_MIN_NETDEV_MTU (256u + SIRO_OVERHEAD)

DEFINE_MUTEX(siro_dev_mutex);
static LIST_HEAD(siro_devs);
static DECLARE_WAIT_QUEUE_HEAD(siro_dev_gone);

static int siro_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	if (udata->inlen || udata->outlen)
		return -EINVAL;

	attr->fw_ver = SIRO_FW_VERSION;
	attr->sys_image_guid = ibdev->node_guid;
	attr->vendor_id = 0xffffff;
	attr->max_mr_size = ~0ULL;
	attr->page_size_cap = 0xfffff000;
	attr->max_qp = SIRO_MAX_OBJECTS;
	attr->max_qp_wr = SZ_1M;
	attr->device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR |
				 IB_DEVICE_CHANGE_PHY_PORT | IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_PORT_ACTIVE_EVENT | IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_SRQ_RESIZE |
				 IB_DEVICE_MEM_MGT_EXTENSIONS;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG | IBK_SG_GAPS_REG | IBK_INTEGRITY_HANDOVER;
	attr->max_send_sge = SIRO_MAX_SGE;
	attr->max_recv_sge = SIRO_MAX_SGE;
	attr->max_sge_rd = SIRO_MAX_SGE;
	attr->max_cq = SIRO_MAX_OBJECTS;
	attr->max_cqe = SZ_1M - 1;
	attr->max_mr = SIRO_MAX_OBJECTS;
	attr->max_pd = SIRO_MAX_OBJECTS;
	attr->max_qp_rd_atom = SIRO_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = SIRO_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = SIRO_MAX_OBJECTS * SIRO_MAX_RD_ATOMIC;
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->max_ah = SIRO_MAX_OBJECTS;
	attr->max_srq = SIRO_MAX_OBJECTS;
	attr->max_srq_wr = SZ_1M;
	attr->max_srq_sge = SIRO_MAX_SGE;
	attr->max_fast_reg_page_list_len = SIRO_MAX_PAGE_LIST;
	attr->max_pi_fast_reg_page_list_len = SIRO_MAX_PI_LIST;
	attr->sig_prot_cap = IB_PROT_T10DIF_TYPE_1 | IB_PROT_T10DIF_TYPE_2 | IB_PROT_T10DIF_TYPE_3;
	attr->sig_guard_cap = IB_GUARD_T10DIF_CRC | IB_GUARD_T10DIF_CSUM;
	attr->max_pkeys = 1;
	attr->local_ca_ack_delay = 15;
	return 0;
}

static int siro_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;

	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, attr->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static void siro_get_fw_string(struct ib_device *ibdev, char *str)
{
	strscpy(str, SIRO_VERSION, IB_FW_VERSION_NAME_MAX);
}

static enum ib_mtu siro_path_mtu(unsigned int netdev_mtu)
{
	return ib_mtu_int_to_enum(max(netdev_mtu, SIRO_MIN_NETDEV_MTU) - SIRO_OVERHEAD);
}

struct siro_rate {
	u32 mbps; /* up to */
	u16 speed;
	u8 width;
};

static const struct siro_rate siro_rates[] = {
	{ SPEED_2500, IB_SPEED_SDR, IB_WIDTH_1X },
	{ SPEED_5000, IB_SPEED_DDR, IB_WIDTH_1X },
	{ SPEED_10000, IB_SPEED_FDR10, IB_WIDTH_1X },
	{ SPEED_20000, IB_SPEED_DDR, IB_WIDTH_4X },
	{ SPEED_25000, IB_SPEED_EDR, IB_WIDTH_1X },
	{ SPEED_40000, IB_SPEED_FDR10, IB_WIDTH_4X },
	{ SPEED_50000, IB_SPEED_EDR, IB_WIDTH_2X },
	{ SPEED_100000, IB_SPEED_EDR, IB_WIDTH_4X },
	{ SPEED_200000, IB_SPEED_HDR, IB_WIDTH_4X },
	{ SPEED_400000, IB_SPEED_NDR, IB_WIDTH_4X },
	{ U32_MAX, IB_SPEED_NDR, IB_WIDTH_8X },
};

/* ib_get_eth_speed() logs each time that a netdev knows no speed, as lo does. */
static const struct siro_rate *siro_rate(struct net_device *ndev)
{
	const struct siro_rate *rate = siro_rates;
	struct ethtool_link_ksettings settings;
	int err;

	rtnl_lock();
	err = ndev->reg_state == NETREG_REGISTERED ?
	      __ethtool_get_link_ksettings(ndev, &settings) : -ENODEV;
	rtnl_unlock();
	if (err || settings.base.speed == (u32)SPEED_UNKNOWN)
		return rate;

	while (rate->mbps < settings.base.speed)
		rate++;
	return rate;
}

static bool siro_port_active(struct siro_dev *dev)
{
	return netif_running(dev->ndev) && netif_carrier_ok(dev->ndev) &&
	       READ_ONCE(dev->ndev->mtu) >= SIRO_MIN_NETDEV_MTU;
}

static int siro_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct siro_dev *dev = to_siro_dev(ibdev);
	const struct siro_rate *rate = siro_rate(dev->ndev);

	if (siro_port_active(dev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else {
		attr->state = IB_PORT_DOWN;
		attr->phys_state = netif_running(dev->ndev) ? IB_PORT_PHYS_STATE_POLLING :
							      IB_PORT_PHYS_STATE_DISABLED;
	}
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = siro_path_mtu(READ_ONCE(dev->ndev->mtu));
	attr->phys_mtu = READ_ONCE(dev->ndev->mtu);
	attr->gid_tbl_len = SIRO_GID_TABLE_LENGTH;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = SIRO_MAX_MESSAGE;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	attr->active_speed = rate->speed;
	attr->active_width = rate->width;
	return 0;
}

static int siro_get_port_immutable(struct ib_device *ibdev, u32 port,
				   struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = SIRO_GID_TABLE_LENGTH;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer siro_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int siro_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;

	*pkey = SIRO_DEFAULT_PKEY;
	return 0;
}

u16 siro_dev_vlan(struct siro_dev *dev)
{
	return is_vlan_dev(dev->ndev) ? vlan_dev_vlan_id(dev->ndev) : 0xffff;
}

void siro_dev_update_port(struct siro_dev *dev)
{
	bool active = siro_port_active(dev);
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	ASSERT_RTNL();
	if (dev->active == active)
		return;

	dev->active = active;
	if (!active)
		siro_count(dev, SIRO_CNT_LINK_DOWNED, 1);
	ib_dispatch_event(&event);
}

/* Last call of ib_core into a device, registered or not. */
static void siro_dealloc_driver(struct ib_device *ibdev)
{
	struct siro_dev *dev = to_siro_dev(ibdev);

	siro_debugfs_remove(dev);
	mutex_lock(&siro_dev_mutex);
	list_del(&dev->list);
	siro_tx_close(dev);
	siro_net_put(dev->net);
	mutex_unlock(&siro_dev_mutex);
	wake_up_all(&siro_dev_gone);

	/* Receivers count on devices that they found by address. */
	synchronize_net();
	free_percpu(dev->counters);
	xa_destroy(&dev->mrs);
	xa_destroy(&dev->ahs);
	dev_put(dev->ndev);
}

/*
 * Having this lets a device go while processes have it open. Their rings stay
 * mapped: the pages are plain memory, and each mapping holds its own.
 */
static void siro_disassociate(struct ib_ucontext *context)
{
}

/*
 * ib_core takes the addresses of this netdev and of the VLANs above it for GIDs,
 * so for a link on a VLAN it has to be the device below.
 */
static struct net_device *siro_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *ndev = to_siro_dev(ibdev)->ndev;

	if (is_vlan_dev(ndev))
		ndev = vlan_dev_real_dev(ndev);
	dev_hold(ndev);
	return ndev;
}

static const struct ib_device_ops siro_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)SIROCCO_DRIVER_ID,
	.uverbs_abi_ver = SIROCCO_ABI_VERSION,

	.add_gid = siro_add_gid,
	.alloc_hw_port_stats = siro_alloc_stats,
	.device_group = &siro_device_group,
	.dealloc_driver = siro_dealloc_driver,
	.del_gid = siro_del_gid,
	.disassociate_ucontext = siro_disassociate,
	.get_dev_fw_str = siro_get_fw_string,
	.get_hw_stats = siro_get_stats,
	.get_link_layer = siro_get_link_layer,
	.get_port_immutable = siro_get_port_immutable,
	.modify_device = siro_modify_device,
	.query_device = siro_query_device,
	.query_pkey = siro_query_pkey,
	.get_netdev = siro_get_netdev,
	.query_port = siro_query_port,
};

/* lo has no MAC address: take one from the name, locally administered. */
static void siro_set_node_guid(struct siro_dev *dev, const char *name)
{
	u32 hash = jhash(name, strlen(name), dev->net->net->ns.inum);
	u8 mac[ETH_ALEN] = { 0x02 };

	if (dev->ndev->addr_len == ETH_ALEN && is_valid_ether_addr(dev->ndev->dev_addr))
		memcpy(mac, dev->ndev->dev_addr, ETH_ALEN);
	else
		memcpy(mac + 2, &hash, sizeof(hash));
	addrconf_addr_eui48((u8 *)&dev->ibdev.node_guid, (const char *)mac);
}

static struct siro_dev *siro_dev_on(struct net_device *ndev)
{
	struct siro_dev *dev;

	list_for_each_entry(dev, &siro_devs, list) {
		if (dev->ndev == ndev)
			return dev;
	}
	return NULL;
}

/* rdma_link_ops has no extended acknowledgement: the log tells what an errno cannot. */
static int siro_dev_check(struct net_device *ndev)
{
	unsigned int mtu = READ_ONCE(ndev->mtu);

	if (ndev->type != ARPHRD_ETHER && ndev->type != ARPHRD_LOOPBACK) {
		pr_err_ratelimited("sirocco: %s is neither Ethernet nor loopback\n", ndev->name);
		return -EOPNOTSUPP;
	}
	if (mtu < SIRO_MIN_NETDEV_MTU) {
		pr_err_ratelimited("sirocco: %s has an MTU of %u, a link needs %u\n", ndev->name,
				   mtu, SIRO_MIN_NETDEV_MTU);
		return -ERANGE;
	}
	if (siro_dev_on(ndev)) {
		pr_err_ratelimited("sirocco: %s has a link\n", ndev->name);
		return -EEXIST;
	}
	return 0;
}

static const struct uapi_definition siro_uapi_defs[] = {
	UAPI_DEF_CHAIN(siro_mkey_uapi),
	UAPI_DEF_CHAIN(siro_qp_uapi),
	{},
};

static struct siro_dev *siro_dev_alloc(const char *name, struct net_device *ndev, struct net *net)
{
	struct siro_dev *dev;
	int err = -ENOMEM;

	dev = ib_alloc_device(siro_dev, ibdev);
	if (!dev)
		return ERR_PTR(-ENOMEM);

	dev->counters = alloc_percpu(struct siro_counters);
	if (!dev->counters)
		goto dealloc;

	dev->net = siro_net_get(net);
	if (IS_ERR(dev->net)) {
		err = PTR_ERR(dev->net);
		goto free_counters;
	}

	err = siro_tx_open(dev);
	if (err)
		goto put_net;

	dev_hold(ndev);
	dev->ndev = ndev;
	dev->active = siro_port_active(dev);
	dev->ooo_kernel = true;
	dev->ooo_mark = true;
	dev->ooo_paths = 1;
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1);
	dev->ibdev.node_type = RDMA_NODE_IB_CA;
	dev->ibdev.phys_port_cnt = 1;
	dev->ibdev.num_comp_vectors = num_online_cpus();
	dev->ibdev.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				      BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				      BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV) |
				      BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	strscpy(dev->ibdev.node_desc, "sirocco", sizeof(dev->ibdev.node_desc));
	siro_set_node_guid(dev, name);
	ib_set_device_ops(&dev->ibdev, &siro_dev_ops);
	ib_set_device_ops(&dev->ibdev, &siro_verbs_ops);
	dev->ibdev.driver_def = siro_uapi_defs;
	list_add_tail(&dev->list, &siro_devs);
	return dev;

put_net:
	siro_net_put(dev->net);
free_counters:
	free_percpu(dev->counters);
dealloc:
	ib_dealloc_device(&dev->ibdev);
	return ERR_PTR(err);
}

static struct siro_dev *siro_dev_create(const char *name, struct net_device *ndev, struct net *net)
{
	struct siro_dev *dev;
	int err;

	mutex_lock(&siro_dev_mutex);
	err = siro_dev_check(ndev);
	dev = err ? ERR_PTR(err) : siro_dev_alloc(name, ndev, net);
	mutex_unlock(&siro_dev_mutex);
	return dev;
}

static int siro_dev_register(struct siro_dev *dev, const char *name)
{
	int err;

	err = ib_device_set_netdev(&dev->ibdev, dev->ndev, 1);
	if (!err)
		err = ib_register_device(&dev->ibdev, name, NULL);
	if (err == -ENFILE) { /* ib_core's word for a name in use */
		pr_err_ratelimited("sirocco: there is an RDMA device %s\n", name);
		err = -EEXIST;
	}
	if (err)
		ib_dealloc_device(&dev->ibdev);
	return err;
}

/* The notifier knows no device that is not registered: look what it missed. */
static int siro_dev_catch_up(struct net_device *ndev, struct net *net)
{
	struct ib_device *ibdev;
	bool gone;

	ibdev = ib_device_get_by_netdev(ndev, (enum rdma_driver_id)SIROCCO_DRIVER_ID);
	if (!ibdev)
		return -ENODEV;

	rtnl_lock();
	gone = ndev->reg_state != NETREG_REGISTERED || !net_eq(dev_net(ndev), net);
	if (!gone)
		siro_dev_update_port(to_siro_dev(ibdev));
	rtnl_unlock();
	siro_debugfs_add(to_siro_dev(ibdev));

	if (gone) {
		ib_unregister_device_and_put(ibdev);
		return -ENODEV;
	}
	ib_device_put(ibdev);
	return 0;
}

static struct net *siro_live_net(struct net_device *ndev)
{
	struct net *net;

	rtnl_lock();
	net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();
	return net;
}

int siro_dev_add(const char *name, struct net_device *ndev)
{
	struct net *net = siro_live_net(ndev);
	struct siro_dev *dev;
	int err;

	if (!net)
		return -ENODEV;

	dev = siro_dev_create(name, ndev, net);
	err = PTR_ERR_OR_ZERO(dev);
	if (!err)
		err = siro_dev_register(dev, name);
	if (!err)
		err = siro_dev_catch_up(ndev, net);
	put_net(net);
	return err;
}

static struct ib_device *siro_dev_any(struct siro_net *net)
{
	struct ib_device *found = NULL;
	struct siro_dev *dev;

	mutex_lock(&siro_dev_mutex);
	list_for_each_entry(dev, &siro_devs, list) {
		if (dev->net == net && ib_device_try_get(&dev->ibdev)) {
			found = &dev->ibdev;
			break;
		}
	}
	mutex_unlock(&siro_dev_mutex);
	return found;
}

void siro_dev_remove_all(struct siro_net *net)
{
	struct ib_device *ibdev;

	while ((ibdev = siro_dev_any(net)))
		ib_unregister_device_and_put(ibdev);
	/* Others may be on their way out by themselves. */
	wait_event(siro_dev_gone, !READ_ONCE(net->users));
}
