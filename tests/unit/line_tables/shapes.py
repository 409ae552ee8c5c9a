"""Code whose line tables have every kind of entry. It is compiled, and never run."""


def calls_over_lines(a, b):
    return max(
        a,
        min(
            b,
            a + b,
        ),
    )


def ends_without_lines(path):
    with open(path) as file:
        try:
            for line in file:
                if line:
                    yield line
        except (ValueError, OSError) as error:
            raise RuntimeError from error
        finally:
            file.close()


async def awaits(source):
    async with source as items:
        async for item in items:
            await item
    return [x async for x in items if x]


def closes_over(a):
    def inner(b, *, c=lambda d: d + a):
        return [a + b + c(d) for d in range(b) if d % 2]
    return inner


class Shape:
    """Has a decorated method, and a match."""

    @property
    def area(self):
        while True:
            if (self.width
                    and self.height):
                return self.width * \
                    self.height
            self.width = {
                'a': 1,
                'b': [2,
                      3]}['a']
