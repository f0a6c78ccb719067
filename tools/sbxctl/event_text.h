/* SPDX-License-Identifier: Apache-2.0 */
/* event_text: an event as people read it, one line without its newline; bytes that a sandbox chose are not escaped yet. */
#ifndef SBXCTL_EVENT_TEXT_H
#define SBXCTL_EVENT_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* "12:11:16.069 ID process_exited 4711 sh, exit_code 0" */
void event_text(const json_t *event, char *buf, size_t size);

#endif
