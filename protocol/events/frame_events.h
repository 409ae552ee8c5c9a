/*
 * frame_events.h - Flutter.Frame: each frame that a program told, to who listens to Extension. One that dropped others
 * comes a second time, with how late it was: Isoscope.Frame, for the refresh rate that _getFrames has by itself.
 *
 * All listeners share one cursor, as the stream has one history. Frames come from when somebody
 * listens on. Where a listener has no room for one, it waits, and all behind it.
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_FRAME_EVENTS_H
#define ISOSCOPE_FRAME_EVENTS_H

struct service;

/* To be called often, and when somebody begins or ends to listen. */
void frame_events_poll(struct service *service);

#endif
