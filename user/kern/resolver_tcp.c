/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/resolver_tcp.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

static uint64_t now_ms(void)
{
	return clock_boot_ns() / 1000000;
}

void resolver_tcp_init(struct resolver_tcp *t, int listener, resolver_tcp_question *question,
		       void *arg)
{
	t->listener = listener;
	t->question = question;
	t->arg = arg;
	t->next = 1;
	for (size_t i = 0; i < RESOLVER_CLIENTS_MAX; i++)
		t->clients[i].fd = -1;
}

static struct resolver_client *client_of(struct resolver_tcp *t, int fd)
{
	for (size_t i = 0; i < RESOLVER_CLIENTS_MAX; i++)
		if (t->clients[i].fd == fd)
			return &t->clients[i];
	return NULL;
}

/* A free place, or that of whoever said nothing for longest. */
static struct resolver_client *place(struct resolver_tcp *t)
{
	struct resolver_client *oldest = &t->clients[0];

	for (size_t i = 0; i < RESOLVER_CLIENTS_MAX; i++) {
		if (t->clients[i].fd < 0)
			return &t->clients[i];
		if (t->clients[i].since_ms < oldest->since_ms)
			oldest = &t->clients[i];
	}
	close_fd(&oldest->fd);
	return oldest;
}

static void accept_one(struct resolver_tcp *t)
{
	int fd = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct resolver_client *c;

	if (fd < 0)
		return;
	c = place(t);
	c->fd = fd;
	c->number = t->next++;
	c->since_ms = now_ms();
	c->in = c->out = 0;
}

static void flush(struct resolver_client *c)
{
	ssize_t n = c->out ? send(c->fd, c->written, c->out, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		close_fd(&c->fd);
	if (n <= 0)
		return;
	c->out -= (size_t)n;
	memmove(c->written, c->written + n, c->out);
	c->since_ms = now_ms();
}

void resolver_tcp_send(struct resolver_tcp *t, uint64_t client, const uint8_t *bytes, size_t len)
{
	struct resolver_client *c = NULL;

	for (size_t i = 0; i < RESOLVER_CLIENTS_MAX; i++)
		if (t->clients[i].fd >= 0 && t->clients[i].number == client)
			c = &t->clients[i];
	if (!c)
		return;
	if (sizeof(c->written) - c->out < len + 2) {
		close_fd(&c->fd); /* it asks and does not read */
		return;
	}
	c->written[c->out++] = (uint8_t)(len >> 8);
	c->written[c->out++] = (uint8_t)len;
	memcpy(c->written + c->out, bytes, len);
	c->out += len;
	flush(c);
}

/* Every question that is whole. An answer may end the connection. */
static void take_questions(struct resolver_tcp *t, struct resolver_client *c)
{
	size_t at = 0;

	while (c->fd >= 0 && c->in - at >= 2) {
		size_t len = (size_t)c->read[at] << 8 | c->read[at + 1];

		if (len > RESOLVER_TCP_BYTES) {
			close_fd(&c->fd);
			return;
		}
		if (c->in - at - 2 < len)
			break;
		t->question(t->arg, c->number, c->read + at + 2, len);
		at += 2 + len;
	}
	c->in -= at;
	memmove(c->read, c->read + at, c->in);
}

static void serve_client(struct resolver_tcp *t, struct resolver_client *c, short events)
{
	ssize_t n;

	if (events & POLLOUT)
		flush(c);
	if (c->fd < 0 || !(events & (POLLIN | POLLHUP | POLLERR)))
		return;
	n = recv(c->fd, c->read + c->in, sizeof(c->read) - c->in, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_fd(&c->fd);
		return;
	}
	c->in += (size_t)n;
	c->since_ms = now_ms();
	take_questions(t, c);
}

size_t resolver_tcp_polls(const struct resolver_tcp *t, struct pollfd *p)
{
	size_t n = 0;

	p[n++] = (struct pollfd){ .fd = t->listener, .events = POLLIN };
	for (size_t i = 0; i < RESOLVER_CLIENTS_MAX; i++) {
		const struct resolver_client *c = &t->clients[i];

		if (c->fd >= 0)
			p[n++] = (struct pollfd){
				.fd = c->fd, .events = (short)(POLLIN | (c->out ? POLLOUT : 0))
			};
	}
	return n;
}

static void end_idle(struct resolver_tcp *t)
{
	uint64_t now = now_ms();

	for (size_t i = 0; i < RESOLVER_CLIENTS_MAX; i++)
		if (t->clients[i].fd >= 0 && now - t->clients[i].since_ms >= RESOLVER_IDLE_MS)
			close_fd(&t->clients[i].fd);
}

void resolver_tcp_serve(struct resolver_tcp *t, const struct pollfd *p, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct resolver_client *c = p[i].revents ? client_of(t, p[i].fd) : NULL;

		if (c)
			serve_client(t, c, p[i].revents);
	}
	end_idle(t);
	if (p[0].revents)
		accept_one(t);
}

int resolver_tcp_timeout_ms(const struct resolver_tcp *t)
{
	for (size_t i = 0; i < RESOLVER_CLIENTS_MAX; i++)
		if (t->clients[i].fd >= 0)
			return RESOLVER_IDLE_MS;
	return RESOLVER_IDLE_MS * 360;
}
