/*
 * event.hpp - event.h for C++: slices that end with their block, arguments of any type.
 *
 *     ISOSCOPE_SLICE("Embedder", "layout");
 *     ISOSCOPE_SLICE_WITH("GC", "mark", isoscope::arg("bytes", heap.size()), isoscope::arg("why", why));
 *
 * Include isoscope/optional.h before it where the library is not linked. C++11. What is said in
 * event.h of names, streams and signals holds here.
 */
#ifndef ISOSCOPE_EVENT_HPP
#define ISOSCOPE_EVENT_HPP

#include "isoscope.h"

#include <string>
#include <type_traits>

namespace isoscope {

/* Of any integer, enumeration, floating-point number, string. name: a literal. A string's text is
 * looked at when the event is told. */
template <typename T>
typename std::enable_if<std::is_floating_point<T>::value, isoscope_argument>::type
arg(const char *name, T value)
{
    return ISOSCOPE_DOUBLE(name, value);
}

template <typename T>
typename std::enable_if<std::is_integral<T>::value && std::is_signed<T>::value,
                        isoscope_argument>::type
arg(const char *name, T value)
{
    return ISOSCOPE_INT(name, value);
}

template <typename T>
typename std::enable_if<(std::is_integral<T>::value && !std::is_signed<T>::value) ||
                            std::is_enum<T>::value,
                        isoscope_argument>::type
arg(const char *name, T value)
{
    return ISOSCOPE_UINT(name, value);
}

inline isoscope_argument arg(const char *name, const char *value)
{
    return ISOSCOPE_TEXT(name, value);
}

inline isoscope_argument arg(const char *name, const std::string &value)
{
    return ISOSCOPE_TEXT(name, value.c_str());
}

/* A slice of the thread that makes it, until its end or until end(). It ends in that thread. */
class slice {
public:
    explicit slice(isoscope_site &site) : site_(ISOSCOPE_IS_ON(&site) ? &site : nullptr)
    {
        if (site_)
            isoscope_event_begin(site_, nullptr, 0);
    }

    /* begin: called with the site if its stream is on; it begins the slice, with arguments. */
    template <typename Begin>
    slice(isoscope_site &site, Begin begin) : site_(ISOSCOPE_IS_ON(&site) ? &site : nullptr)
    {
        if (site_)
            begin(site_);
    }

    ~slice()
    {
        end();
    }

    void end()
    {
        if (site_)
            isoscope_event_end(site_);
        site_ = nullptr;
    }

    slice(const slice &) = delete;
    slice &operator=(const slice &) = delete;

private:
    isoscope_site *site_;
};

template <typename... Arguments> void begin_with(isoscope_site *site, Arguments... given)
{
    static_assert(sizeof...(given) <= 4, "an event has four arguments at most");
    const isoscope_argument arguments[sizeof...(given) + 1] = { given... };

    isoscope_event_begin(site, arguments, sizeof...(given));
}

} // namespace isoscope

/* A slice until the end of the block, by any way, exceptions too. stream and name: literals. What
 * stands in the arguments is evaluated only if the stream is on. */
#define ISOSCOPE_SLICE(stream, name) ISOSCOPE_SLICE_(__COUNTER__, stream, name)
#define ISOSCOPE_SLICE_WITH(stream, name, ...)                                                     \
    ISOSCOPE_SLICE_WITH_(__COUNTER__, stream, name, __VA_ARGS__)

#define ISOSCOPE_SLICE_(number, stream, name)                                                      \
    static isoscope_site ISOSCOPE_JOIN_(isoscope_site_, number) = ISOSCOPE_SITE(stream, name);     \
    isoscope::slice ISOSCOPE_JOIN_(isoscope_slice_,                                                \
                                   number)(ISOSCOPE_JOIN_(isoscope_site_, number))
#define ISOSCOPE_SLICE_WITH_(number, stream, name, ...)                                            \
    static isoscope_site ISOSCOPE_JOIN_(isoscope_site_, number) = ISOSCOPE_SITE(stream, name);     \
    isoscope::slice ISOSCOPE_JOIN_(isoscope_slice_, number)(                                       \
        ISOSCOPE_JOIN_(isoscope_site_, number),                                                    \
        [&](isoscope_site *isoscope_site_) { isoscope::begin_with(isoscope_site_, __VA_ARGS__); })

#endif
