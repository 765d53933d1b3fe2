"""What may happen to the bytes of a file."""

from collections.abc import Callable

from hypothesis import strategies as st

Change = Callable[[bytes], bytes]
WHOLE = (b"", b"\0", b"null", b"[]", b"{}", b"7", b"NaN", b"\xff\xfe", b"x" * 100_000, b"\n" * 10_000)


def changes() -> st.SearchStrategy[Change]:
    """Cut, overwritten, inserted into, zeroed, a bit flipped, doubled, or something else altogether."""
    place = st.floats(0, 1, exclude_max=True)
    some = st.binary(min_size=1, max_size=20)

    def at(share: float, change: Callable[[bytes, int], bytes]) -> Change:
        return lambda content: change(content, int(share * len(content)))

    return st.one_of(
        st.sampled_from(WHOLE).map(lambda whole: lambda content: whole),
        place.map(lambda share: at(share, lambda content, n: content[:n])),
        place.map(lambda share: at(share, lambda content, n: content[n + 1 :])),
        st.tuples(place, some).map(lambda p: at(p[0], lambda content, n: content[:n] + p[1] + content[n:])),
        st.tuples(place, some).map(
            lambda p: at(p[0], lambda content, n: content[:n] + p[1] + content[n + len(p[1]) :])
        ),
        place.map(lambda share: at(share, lambda content, n: content[:n] + bytes(len(content) - n))),
        st.tuples(place, st.integers(0, 7)).map(
            lambda p: at(p[0], lambda content, n: content[:n] + bytes([content[n] ^ 1 << p[1]]) + content[n + 1 :])
        ),
        st.just(lambda content: content * 2),
        st.just(lambda content: b"\xef\xbb\xbf" + content),
    )
