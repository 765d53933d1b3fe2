"""How long a training runs: to its end, until somebody stops it, or until the process that started it is gone.

A killed DVC does not end its stage, and a training that went on alone would use the machine unseen and refuse the next
`dvc repro`. DVC runs a command through a shell; `exec` in dvc.yaml makes the training DVC's own child.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import stages

AGAIN = "the same command goes on from there"


class Stop:
    """Why a training ends early, if it does."""

    def __init__(self) -> None:
        self.signals: list[int] = []  # those that came of Ctrl-C, SIGTERM and SIGHUP

    def requested(self) -> bool:
        """Return whether to stop after the current step."""
        return bool(self.signals) or parent_is_gone()

    @property
    def reason(self) -> str:
        """The end of a message that says why it stopped; empty if somebody asked for it."""
        return "" if self.signals else ", because the process that started it is gone"


@contextmanager
def stop_requests() -> Iterator[Stop]:
    """Note Ctrl-C, SIGTERM and a lost terminal while the block runs, so that no step is left half done."""
    stop = Stop()
    signals = [signal.SIGINT, signal.SIGTERM, *([] if hangup_is_ignored() else [signal.SIGHUP])]
    previous = [signal.signal(number, lambda received, _: stop.signals.append(received)) for number in signals]
    try:
        yield stop
    finally:
        for number, handler in zip(signals, previous, strict=True):
            signal.signal(number, handler)


def hangup_is_ignored() -> bool:
    """Return whether the process outlives its terminal, as under nohup."""
    return signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def parent_is_gone() -> bool:
    """Return whether the process that started this one has ended: this one then has another parent.

    A process that somebody started under nohup is meant to go on alone.
    """
    under_nohup = hangup_is_ignored() and "DVC_STAGE" not in os.environ
    return not under_nohup and os.getppid() != stages.STARTED_BY
