/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/dbus.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/own.h"

#define PRIVATE_SOCKET "/run/systemd/private"
#define SYSTEM_SOCKET "/run/dbus/system_bus_socket"
#define HEADER_FIXED 16
#define MS 1000000ULL

static int wait_for(int fd, short events, uint64_t until_ns)
{
	uint64_t now = clock_boot_ns();
	struct pollfd p = { .fd = fd, .events = events };
	int r = now < until_ns ? poll(&p, 1, (int)((until_ns - now) / MS) + 1) : 0;

	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	return r ? 0 : -ETIMEDOUT;
}

static int send_all(int fd, const char *bytes, size_t len, uint64_t until_ns)
{
	int r = 0;

	while (!r && len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			r = wait_for(fd, POLLOUT, until_ns);
		else if (n < 0 && errno != EINTR)
			r = -errno;
		else if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return r;
}

static int receive_all(int fd, char *bytes, size_t len, uint64_t until_ns)
{
	int r = 0;

	while (!r && len) {
		ssize_t n = recv(fd, bytes, len, MSG_DONTWAIT);

		if (n == 0)
			r = -ECONNRESET;
		else if (n < 0 && errno == EAGAIN)
			r = wait_for(fd, POLLIN, until_ns);
		else if (n < 0 && errno != EINTR)
			r = -errno;
		else if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return r;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	own_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

/*
 * Who we are is in the socket's credentials; EXTERNAL says to look there. The uid is its decimal
 * text, in hexadecimal. BEGIN goes with it: systemd that reads BEGIN and a call in one piece keeps the
 * call in its buffer until something else arrives, and we would wait for ever.
 */
static int authenticate(int fd, uint64_t until_ns)
{
	char uid[16], line[96], c = 0;
	size_t n = 0;
	int len, r;

	snprintf(uid, sizeof(uid), "%u", (unsigned int)geteuid());
	len = snprintf(line, sizeof(line), "%cAUTH EXTERNAL ", 0);
	for (const char *p = uid; *p; p++)
		len += snprintf(line + len, sizeof(line) - (size_t)len, "%02x", (unsigned int)*p);
	len += snprintf(line + len, sizeof(line) - (size_t)len, "\r\nBEGIN\r\n");
	r = send_all(fd, line, (size_t)len, until_ns);

	while (!r && c != '\n' && n < sizeof(line) - 1) {
		r = receive_all(fd, &c, 1, until_ns);
		line[n++] = c;
	}
	line[n] = '\0';
	return !r && strncmp(line, "OK ", 3) != 0 ? -EACCES : r;
}

/* One message into *bytes, which the caller frees. */
static int receive(int fd, char **bytes, size_t *len, uint64_t until_ns)
{
	char head[HEADER_FIXED];
	uint32_t body, fields;
	int r = receive_all(fd, head, sizeof(head), until_ns);

	if (r < 0)
		return r;
	memcpy(&body, head + 4, sizeof(body));
	memcpy(&fields, head + 12, sizeof(fields));
	if (body > DBUS_REPLY_MAX || fields > DBUS_REPLY_MAX)
		return -EMSGSIZE;

	*len = HEADER_FIXED + (fields + 7) / 8 * 8 + body;
	*bytes = malloc(*len);
	if (!*bytes)
		return -ENOMEM;
	memcpy(*bytes, head, HEADER_FIXED);
	return receive_all(fd, *bytes + HEADER_FIXED, *len - HEADER_FIXED, until_ns);
}

static int await_reply(struct dbus *bus, struct dbus_reply *reply, uint64_t until_ns)
{
	int r;

	do {
		own_str bytes = NULL;
		size_t len = 0;

		r = receive(bus->fd, &bytes, &len, until_ns);
		if (!r)
			r = dbus_parse(bytes, len, reply);
	} while (!r && ((reply->kind != DBUS_RETURN && reply->kind != DBUS_ERROR) ||
			reply->reply_serial != bus->serial));
	return r;
}

int dbus_call(struct dbus *bus, const struct dbus_method *m, const struct dbus_body *body,
	      char name[128], struct err *err)
{
	struct dbus_method method = *m;
	struct dbus_body header = { .len = 0 };
	struct dbus_reply reply;
	uint64_t until_ns = clock_boot_ns() + DBUS_TIMEOUT_MS * MS;
	int r;

	if (!bus->broker)
		method.destination = NULL;
	dbus_header(&header, &method, ++bus->serial, body ? body->len : 0);
	if (header.full || (body && body->full))
		return err_set(err, -EMSGSIZE, "D-Bus call %s", m->member);

	r = send_all(bus->fd, header.bytes, header.len, until_ns);
	if (!r && body)
		r = send_all(bus->fd, body->bytes, body->len, until_ns);
	if (!r)
		r = await_reply(bus, &reply, until_ns);
	if (r < 0)
		return err_set(err, r, "D-Bus call %s", m->member);
	if (reply.kind == DBUS_RETURN)
		return 0;
	if (name)
		snprintf(name, 128, "%s", reply.error_name);
	return err_say(err, ERR_INTERNAL, -EREMOTEIO, "systemd refused %s: %s (%s)", m->member,
		       reply.text, reply.error_name);
}

/* On a bus the first call must be Hello; systemd's own socket has no such thing. */
static int hello(struct dbus *bus, struct err *err)
{
	static const struct dbus_method method = {
		.destination = "org.freedesktop.DBus",
		.path = "/org/freedesktop/DBus",
		.interface = "org.freedesktop.DBus",
		.member = "Hello",
	};

	return bus->broker ? dbus_call(bus, &method, NULL, NULL, err) : 0;
}

int dbus_open(struct dbus *bus, struct err *err)
{
	own_fd fd = connect_to(PRIVATE_SOCKET);
	int r;

	*bus = (struct dbus){ .fd = -1, .broker = fd < 0 };
	if (fd < 0)
		fd = connect_to(SYSTEM_SOCKET);
	if (fd < 0)
		return err_set(err, fd,
			       "connect to systemd at " PRIVATE_SOCKET " or " SYSTEM_SOCKET);
	r = authenticate(fd, clock_boot_ns() + DBUS_TIMEOUT_MS * MS);
	if (r < 0)
		return err_set(err, r, "authenticate to systemd");

	bus->fd = take_fd(&fd);
	r = hello(bus, err);
	if (r < 0)
		dbus_close(bus);
	return r;
}

void dbus_close(struct dbus *bus)
{
	close_fd(&bus->fd);
}
