// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory that still holds the pattern of fresh memory, and shall keep it: the rest
 * of a region's pages, and of the region itself what nobody may write.
 */
#pragma once

#include "endpoint.h"

class fence {
public:
	/* @writable: bytes from the start of @r that may change. @r is valid. */
	fence(const host::region &r, uint64_t writable) : key_(r.key())
	{
		const siro_mr &mr = r.mr;

		if (mr.layout == SIRO_MR_DMA) {
			constexpr uint64_t unit = 64; /* of the host's DMA regions */
			uint64_t size = (mr.length + unit - 1) / unit * unit;

			keep(mr.iova, size, writable, UINT64_MAX);
			return;
		}

		uint64_t page = uint64_t{1} << mr.page_shift;

		for (uint64_t i = 0; i < mr.page_count; i++) {
			uint64_t at = i * page;
			uint64_t begin = mr.first_offset, end = mr.first_offset + writable;

			keep(mr.pages[i], page, 0, begin > at ? begin - at : 0);
			keep(mr.pages[i], page, end > at ? end - at : 0, UINT64_MAX);
		}
	}

	explicit fence(uint32_t key) : key_(key) {}

	/* All @size bytes at @address. */
	void keep(uint64_t address, uint64_t size)
	{
		keep(address, size, 0, size);
	}

	void check() const
	{
		for (auto &[p, n] : spans_)
			if (*p != fresh || memcmp(p, p + 1, n - 1))
				host::fail("memory at key %#x changed that nobody may write", key_);
	}

private:
	static constexpr uint8_t fresh = 0xa5;

	/* Bytes [@begin, @end) of the @size at @address, as far as there are such. */
	void keep(uint64_t address, uint64_t size, uint64_t begin, uint64_t end)
	{
		end = end < size ? end : size;
		if (begin < end)
			spans_.emplace_back(reinterpret_cast<const uint8_t *>(address) + begin,
					    end - begin);
	}

	uint32_t key_;
	std::vector<std::pair<const uint8_t *, size_t>> spans_;
};
