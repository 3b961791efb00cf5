/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCENARIOS_H
#define SCENARIOS_H

/* Those for two links of Sirocco. */
#define EACH_SCENARIO(use) \
	use(eight_steps__example_ulp) \
	use(sg_gaps__4096_odd_entries) \
	use(reg_indir__256_entries_at_any_iova) \
	use(access__beyond_the_length) \
	use(access__child_invalidated) \
	use(post_send__each_error) \
	use(reg_indir__while_registered) \
	use(register_indir_mr__no_queue_pair) \
	use(register_indir_mr__queue_pair_in_error)

/* Returns 0, or an errno and has said in the kernel log what is wrong. */
#define DECLARE_SCENARIO(function) int function(void);
EACH_SCENARIO(DECLARE_SCENARIO)

/* For a link rdma_b of rdma_rxe. */
int all__device_of_another_driver(void);

#endif /* SCENARIOS_H */
