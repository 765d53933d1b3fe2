"""What may happen to the bytes of a file."""

from collections.abc import Callable

from hypothesis import strategies as st

Change = Callable[[bytes], bytes]
WHOLE = (b"", b"\0", b"null", b"[]", b"{}", b"7", b"NaN", b"\xff\xfe", b"x" * 100_000, b"\n" * 10_000)
# the content, a place in it, some bytes
KINDS: tuple[Callable[[bytes, int, bytes], bytes], ...] = (
    lambda content, n, some: content[:n],
    lambda content, n, some: content[n + 1 :],
    lambda content, n, some: content[:n] + some + content[n:],
    lambda content, n, some: content[:n] + some + content[n + len(some) :],
    lambda content, n, some: content[:n] + bytes(len(content) - n),
    lambda content, n, some: content[:n] + bytes([content[n] ^ 1 << some[0] % 8]) + content[n + 1 :],
    lambda content, n, some: WHOLE[some[0] % len(WHOLE)],
    lambda content, n, some: content * 2,
    lambda content, n, some: b"\xef\xbb\xbf" + content,
)


@st.composite
def changes(draw: st.DrawFn) -> Change:
    """Cut, overwritten, inserted into, zeroed, a bit flipped, doubled, or something else altogether."""
    kind = draw(st.sampled_from(KINDS))
    share = draw(st.floats(0, 1, exclude_max=True))
    some = draw(st.binary(min_size=1, max_size=20))
    return lambda content: kind(content, int(share * len(content)), some)
