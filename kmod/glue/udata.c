// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Driver data of the uverbs calls. */
#include "verbs.h"

int siro_copy_request(struct ib_udata *udata, void *req, size_t size)
{
	if (udata->inlen < size)
		return -EINVAL;
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EOPNOTSUPP;
	return ib_copy_from_udata(req, udata, size);
}

int siro_check_no_request(struct ib_udata *udata)
{
	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;
	return 0;
}

int siro_copy_response(struct ib_udata *udata, const void *resp, size_t size)
{
	return ib_copy_to_udata(udata, (void *)resp, min(size, udata->outlen));
}
