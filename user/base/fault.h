/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault: named points at which tests make us crash or fail; absent from a release build.
 *
 * With SBX_FAULTS, SBX_FAULT="NAME:crash" kills this process at the point, "NAME:fail" makes it
 * return -EIO, "NAME:drop" returns 1 (the step is skipped and reported as done), "NAME:sleep" waits 60 s.
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#ifdef SBX_FAULTS
int fault_point(const char *name);
#define FAULT(name) fault_point(name)
#else
#define FAULT(name) 0
#endif

#endif
