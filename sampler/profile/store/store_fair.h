/*
 * store_fair.h - who gives samples away when a store is full: the processes that have the most.
 *
 *   store.c (is over its bound) -> store_fair -> chunks made anew, of what stays
 *
 * A process that has fewer samples than its share of the store keeps them all, however much the others
 * do. A store of one process just lets its oldest chunk go.
 *
 * Threads    With the store's lock.
 */
#ifndef ISOSCOPE_STORE_FAIR_H
#define ISOSCOPE_STORE_FAIR_H

#include "store_state.h"

/* Lets samples of one chunk go. False: there is no chunk of which enough would go; the oldest is to go as
 * a whole. */
bool store_evict_fairly(struct store *store);

#endif
