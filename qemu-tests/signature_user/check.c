// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A check without an error makes no system call, and its memory is read-only. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"
#include "signer.h"

/* Every system call but exit() kills this process. */
static void forbid_system_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]),
					    filter };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* How a process ends that checks and may not do anything else. */
static int check_without_system_calls(const struct signer *s)
{
	struct siroccodv_mkey_err err;
	int status, i, bad = 0;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		forbid_system_calls();
		for (i = 0; i < 1000; i++)
			bad |= siroccodv_mkey_check(s->mkey, &err) ||
			       err.err_type != SIROCCODV_MKEY_NO_ERR;
		syscall(SYS_exit, bad);
	}
	CHECK(waitpid(child, &status, 0) == child);
	return status;
}

static void check__makes_no_system_call(void)
{
	struct signer s;
	int status;

	set_up();
	s = new_signer(&a, side_of(T10_CRC, 512), no_fields, 4, 3, BY_REQUEST);
	CHECK_IS(check_without_system_calls(&s), 0);
	fill_memory(&s);
	expect_on_wire(&s);
	CHECK_IS(send_out(&s, IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS);
	CHECK_IS(check_without_system_calls(&s), 0);

	/* With an error there is one. */
	spoil_memory(&s, 512, 1);
	CHECK_IS(send_out(&s, IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS);
	status = check_without_system_calls(&s);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void check__no_signature(void)
{
	struct siroccodv_mkey_err err;

	set_up();
	CHECK_IS(siroccodv_mkey_check(make_mkey(&a, 1, 0), &err), EINVAL);
	CHECK_IS(siroccodv_mkey_check(
			 make_mkey(&a, 1, SIROCCODV_MKEY_BLOCK_SIGNATURE), &err),
		 0);
	CHECK_IS(err.err_type, SIROCCODV_MKEY_NO_ERR);
}

/* The only mappings of the device that are read-only. */
static int find_status(void **address, unsigned long *size, unsigned long *offset)
{
	unsigned long start, end;
	char line[512], rights[8];
	FILE *maps = fopen("/proc/self/maps", "r");
	int found = 0;

	CHECK(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/uverbs") ||
		    sscanf(line, "%lx-%lx %7s %lx", &start, &end, rights,
			   offset) != 4 ||
		    strcmp(rights, "r--s"))
			continue;
		*address = (void *)start;
		*size = end - start;
		found++;
		break;
	}
	fclose(maps);
	return found;
}

static void status__is_read_only(void)
{
	unsigned long size, offset;
	void *address;
	int fd;

	set_up();
	make_mkey(&a, 1, SIROCCODV_MKEY_BLOCK_SIGNATURE);
	fd = a.context->cmd_fd;
	CHECK_IS(find_status(&address, &size, &offset), 1);
	CHECK(mprotect(address, size, PROT_READ | PROT_WRITE));
	CHECK_IS(errno, EACCES);
	CHECK(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset) ==
	      MAP_FAILED);
	CHECK_IS(errno, EPERM);
	CHECK(mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, offset) ==
	      MAP_FAILED);
	CHECK(mmap(NULL, 2 * size, PROT_READ, MAP_SHARED, fd, offset) ==
	      MAP_FAILED);
}

static void query_device__signature(void)
{
	struct siroccodv_device_attr attr = {
		.comp_mask = SIROCCODV_DEVICE_ATTR_SIGNATURE,
	};

	set_up();
	CHECK_IS(siroccodv_query_device(a.context, &attr), 0);
	CHECK_IS(attr.comp_mask, SIROCCODV_DEVICE_ATTR_SIGNATURE);
	CHECK_IS(attr.sig_flags, SIROCCODV_SIG_CAP_PIPELINING);
	CHECK_IS(attr.sig_block_prot, SIROCCODV_SIG_PROT_CAP_T10DIF |
					      SIROCCODV_SIG_PROT_CAP_CRC);
	CHECK_IS(attr.sig_t10dif_bg, SIROCCODV_SIG_T10DIF_BG_CAP_CRC |
					     SIROCCODV_SIG_T10DIF_BG_CAP_CSUM);
	CHECK_IS(attr.sig_crc_types, SIROCCODV_SIG_CRC_CAP_CRC32 |
					     SIROCCODV_SIG_CRC_CAP_CRC32C |
					     SIROCCODV_SIG_CRC_CAP_CRC64_XP10);
	CHECK_IS(attr.sig_block_size_step, 8);
	CHECK_IS(attr.sig_max_block_size, 65528);
	CHECK_IS(attr.max_mkey_entries, 0); /* not asked for */
}

const struct scenario check_scenarios[] = {
	SCENARIO(check__makes_no_system_call),
	SCENARIO(check__no_signature),
	SCENARIO(status__is_read_only),
	SCENARIO(query_device__signature),
	{},
};
