// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The unity file of the engine: two objects with inline functions in common
 * can't be linked into a module, see docs/hacking.md.
 */
#include "burst.cc"
#include "extents.cc"
#include "icrc.cc"
#include "mkey.cc"
#include "packet.cc"
#include "regions.cc"
#include "requester.cc"
#include "requester_receive.cc"
#include "requester_send.cc"
#include "respond.cc"
#include "responder.cc"
#include "responder_execute.cc"
#include "ring.cc"
#include "send_queue.cc"
#include "wire.cc"
