/* SPDX-License-Identifier: Apache-2.0 */
/* net_rule: what stands behind --allow-net and --allow-bind, as text. Pure. */
#ifndef POLICY_NET_RULE_H
#define POLICY_NET_RULE_H

#include "policy/net.h"

/* "HOST|CIDR[:PORT[-PORT]][/udp|/tcp]"; an IPv6 address with a port stands in brackets. `name` is the
 * caller's to free; origin and level stay as they are. */
int net_rule_parse(const char *text, struct net_rule *rule, struct err *err);
/* A number from 1 to 65535, or a well-known service. */
int net_port_parse(const char *text, size_t len, uint16_t *port);

#endif
