/* SPDX-License-Identifier: Apache-2.0 */
/* json: what the JSON forms of this layer share. */
#ifndef RUN_JSON_H
#define RUN_JSON_H

#include <jansson.h>

/* Any bytes as a JSON string; what is not UTF-8 becomes U+FFFD. New reference, NULL when out of memory. */
json_t *json_view(const char *bytes, size_t len);

#endif
