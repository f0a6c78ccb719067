/* SPDX-License-Identifier: Apache-2.0 */
/* profile_learn: `sbxctl profile learn`: runs a command unconfined, watched, and writes the profile it can do with. */
#ifndef SBXCTL_PROFILE_LEARN_H
#define SBXCTL_PROFILE_LEARN_H

int profile_learn(int argc, char **argv);

#endif
