"""What every test may rely on, however the tests were started."""

import signal

from hypothesis import settings

# A busy machine is no fault of ours: no example has a deadline.
settings.register_profile("ldp3", deadline=None)
settings.load_profile("ldp3")

# A shell's background jobs ignore Ctrl-C, and so would we and every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
