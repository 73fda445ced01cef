"""What values there are: labels, whole numbers, bins of a line, cells of a grid; or records.

A domain is made once, when data are read or a plan is written. Whoever codes a value, prints one or
asks whether values have an order asks it. It is written into every plan, so that a client in any
language codes values the same way. Nothing but NumPy is needed here.
"""

from ldp3.domain.base import Domain as Domain
from ldp3.domain.base import GoesByOrder as GoesByOrder
from ldp3.domain.base import is_text as is_text
from ldp3.domain.bins import Bins as Bins
from ldp3.domain.bins import Grid as Grid
from ldp3.domain.labels import Integers as Integers
from ldp3.domain.labels import Labels as Labels
from ldp3.domain.reading import as_domain as as_domain
from ldp3.domain.reading import read_domain as read_domain
from ldp3.domain.records import Records as Records
