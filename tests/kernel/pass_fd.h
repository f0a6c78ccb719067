/* SPDX-License-Identifier: Apache-2.0 */
/* pass_fd: a descriptor over a socket, as anybody would do it. */
#ifndef KERNEL_PASS_FD_H
#define KERNEL_PASS_FD_H

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* 0 or -errno. */
static inline int send_fd(int to, int fd)
{
	char byte = 'x', room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &m, 0) == 1 ? 0 : -errno;
}

/* The descriptor that arrives, -ENOENT when none does. */
static inline int receive_fd(int from)
{
	char byte, room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	int fd;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -ENOENT;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

#endif
