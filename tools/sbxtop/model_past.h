/* SPDX-License-Identifier: Apache-2.0 */
/* model_past: the figures of the look before, from which rates are made. A part of model. */
#ifndef SBXTOP_MODEL_PAST_H
#define SBXTOP_MODEL_PAST_H

#include "model.h"

struct model_past *model_past_new(void);
void model_past_free(struct model_past *p);
/* Fills the rates of m's rows and processes, and takes their figures for the next time. */
void model_past_rates(struct model_past *p, struct model *m);

/* model.c, for model_order.c: */
void model_choose(struct model *m);
void model_find_selected(struct model *m);

#endif
