/*
 * loop.hpp - loop.h for C++: a dispatch, and a wait inside of one, end with their block, by exceptions too.
 *
 *     isoscope::loop loop("render");
 *
 *     while (auto job = queue.next()) {
 *         isoscope::dispatch dispatch(loop);
 *         job();
 *     }
 *
 * Include isoscope/optional.h before it where the library is not linked. C++11. What is said in
 * loop.h of threads and signals holds here.
 */
#ifndef ISOSCOPE_LOOP_HPP
#define ISOSCOPE_LOOP_HPP

#include "isoscope.h"

namespace isoscope {

/* A loop of the thread that makes it, until its end. */
class loop {
public:
    explicit loop(const char *name = nullptr, const isoscope_loop_options *options = nullptr)
        : loop_(isoscope_loop_register(name, options))
    {
    }
    ~loop()
    {
        isoscope_loop_unregister(loop_);
    }
    loop(const loop &) = delete;
    loop &operator=(const loop &) = delete;

    void progress() const
    {
        isoscope_loop_progress(loop_);
    }
    /* For the calls of loop.h; null: no sampler runs. */
    isoscope_loop *get() const
    {
        return loop_;
    }

private:
    isoscope_loop *loop_;
};

class dispatch {
public:
    explicit dispatch(const loop &of) : loop_(of.get())
    {
        isoscope_loop_begin(loop_);
    }
    ~dispatch()
    {
        isoscope_loop_end(loop_);
    }
    dispatch(const dispatch &) = delete;
    dispatch &operator=(const dispatch &) = delete;

private:
    isoscope_loop *loop_;
};

/* Inside of a dispatch: it waits for what comes next. */
class idle {
public:
    explicit idle(const loop &of) : loop_(of.get())
    {
        isoscope_loop_idle_enter(loop_);
    }
    ~idle()
    {
        isoscope_loop_idle_leave(loop_);
    }
    idle(const idle &) = delete;
    idle &operator=(const idle &) = delete;

private:
    isoscope_loop *loop_;
};

} // namespace isoscope

#endif
