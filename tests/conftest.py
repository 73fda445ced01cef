"""What every test may rely on, however the tests were started."""

import os
import signal

from hypothesis import settings

# A busy machine is no fault of ours: no example has a deadline.
settings.register_profile("ldp3", deadline=None)
settings.load_profile("ldp3")

# Tests run side by side, one for each core: threads of BLAS would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell's background jobs ignore Ctrl-C, and so would we and every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
