/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: moves the command's output from our pipes (or pty) to its sink and its store.
 *
 * One buffer a stream: while the sink takes no more, the pipe is not read and the command blocks in
 * write(2). The sink is written without ever blocking this process, so a dead reader delays nothing.
 */
#ifndef RUN_CAPTURE_H
#define RUN_CAPTURE_H

#include "base/loop.h"
#include "run/store.h"

struct capture;

struct stream {
	struct capture *capture;
	int number; /* 1 stdout, 2 stderr */
	struct loop_source in, out;
	bool own_sink, socket;
	bool pty; /* says EIO when its last slave is closed */
	char *buf;
	size_t len, at; /* waiting for the sink */
	bool open;
	struct store store;
};

struct capture_hooks {
	void *arg;
	void (*output)(void *arg, int number, const char *bytes, size_t len);
	void (*over)(void *arg); /* the combined cap was crossed */
	void (*sink_gone)(void *arg,
			  int error); /* its stream is closed: the command meets SIGPIPE */
	void (*read_failed)(void *arg, int error); /* its stream is closed; what was read is kept */
	void (*spill_failed)(void *arg, int error);
	void (*drained)(void *arg); /* every stream is closed and flushed */
};

struct capture {
	struct loop *loop;
	struct capture_hooks hooks;
	struct stream streams[2];
	uint64_t limit; /* stdout + stderr, RESULT_NONE: none */
	uint64_t seen;
	uint64_t last_output_ns;
	bool over;
};

void capture_init(struct capture *c, struct loop *loop, const struct capture_hooks *hooks,
		  uint64_t limit);
/* Takes `fd` (read end); `sink` is borrowed, -1: keep only. */
int capture_add(struct capture *c, int number, int fd, int sink, struct err *err);
/* Closes the read ends: the command's next write meets SIGPIPE. */
void capture_close(struct capture *c);
/* Gives up on the sinks; what the pipes still hold goes to the stores alone. */
void capture_drop_sinks(struct capture *c);
bool capture_drained(const struct capture *c);
/* Reads what is there without waiting, for pipes that somebody outside still holds. */
void capture_sweep(struct capture *c);
void capture_done(struct capture *c);

#endif
